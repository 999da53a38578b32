package wecomsim

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"
)

// Scan is one customer at one code.
type Scan struct {
	Seq      uint64    `json:"seq"`
	At       time.Time `json:"at"` // the instant of the pick
	Corp     string    `json:"corp"`
	ConfigID string    `json:"config_id"`
	State    string    `json:"state,omitempty"`
	Member   string    `json:"member,omitempty"` // "" when nobody was met
	Customer string    `json:"customer"`         // ExternalUserID
	Drawn    bool      `json:"drawn,omitempty"`  // by the Drawer, not by WeCom
	// Version is that of the list the customer met.
	Version int64 `json:"version"`
	// Lost says why nobody was met: "gone", "empty" or the draw's error.
	Lost string `json:"lost,omitempty"`
}

// Stamped returns the scan with its number.
func (s Scan) Stamped(seq uint64) Scan { s.Seq = seq; return s }

// After says what follows a scan that met somebody. The zero value is one
// add callback, at once.
type After struct {
	Delay Latency // from scan to add callback
	// AddShare of the customers add the member; 0 is all.
	AddShare float64
	// HalfShare of the additions is announced by add_half_external_contact
	// first.
	HalfShare float64
	// LossShare of the callbacks is never sent: WeCom loses events.
	LossShare float64
	// DuplicateShare of the callbacks is sent twice.
	DuplicateShare float64
}

func (a After) validate() error {
	for _, share := range []float64{a.AddShare, a.HalfShare, a.LossShare, a.DuplicateShare} {
		if share < 0 || share > 1 {
			return fmt.Errorf("scans: share %v is not within 0 and 1", share)
		}
	}
	return a.Delay.validate()
}

// Scan plays one customer of a code: picks a member of its list as it is now,
// or asks draw when that is not nil, records the scan, tells the observer and
// sends the add callback before it returns. The error is that of the callback.
func (s *Sim) Scan(ctx context.Context, corpID, configID string, draw Drawer) (Scan, error) {
	scan := s.pick(ctx, rand.New(rand.NewPCG(s.seed, s.counts.scans.Load())), corpID, configID, draw)
	if scan.Member == "" {
		return scan, nil
	}
	return scan, s.Emit(ctx, s.addition(scan))
}

// pick plays the scan itself.
func (s *Sim) pick(ctx context.Context, rng *rand.Rand, corpID, configID string, draw Drawer) Scan {
	scan := Scan{Corp: corpID, ConfigID: configID, Customer: fmt.Sprintf("wm%016x%014x", rng.Uint64(), rng.Uint64()>>8)}
	n := rng.Uint64()
	met, members, ok := s.meet(corpID, configID)
	scan.State, scan.Version = met.state, met.version
	switch {
	case !ok:
		scan.Lost = "gone"
	case draw != nil:
		scan.Drawn = true
		member, err := draw.Draw(ctx, Target{Corp: corpID, ConfigID: configID, State: met.state})
		if err != nil {
			scan.Lost = err.Error()
		}
		scan.Member = member
	case len(members) == 0:
		scan.Lost = "empty"
	default:
		scan.Member = members[n%uint64(len(members))]
	}
	scan.At = s.now()
	s.observe(scan)
	return scan
}

// meet returns the list that a customer meets now, departments expanded.
func (s *Sim) meet(corpID, configID string) (edition, []string, bool) {
	c, ok := s.corp(corpID)
	if !ok {
		return edition{}, nil, false
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	w, ok := c.ways[configID]
	if !ok {
		return edition{}, nil, false
	}
	met := w.met(s.now())
	return met, c.expand(met.users, met.parties), true
}

func (s *Sim) observe(scan Scan) {
	if s.onScan != nil {
		s.onScan(scan)
	}
	s.scans.Append(scan)
	s.counts.scans.Add(1)
	if scan.Member == "" {
		s.counts.scansLost.Add(1)
	}
}

func (s *Sim) addition(scan Scan) Event {
	return Event{
		Corp: scan.Corp, Event: ChangeExternalContact, ChangeType: AddExternalContact,
		UserID: scan.Member, ExternalUserID: scan.Customer, State: scan.State,
		WelcomeCode: "wc" + scan.Customer[2:], CreateTime: s.now(),
	}
}
