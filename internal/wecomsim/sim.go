package wecomsim

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rollcall-dev/rollcall/internal/wecomsim/fault"
	"github.com/rollcall-dev/rollcall/internal/wecomsim/ledger"
	"github.com/rollcall-dev/rollcall/internal/wecomsim/limits"
)

// ErrClosed is returned by what is asked of a Sim after Close.
var ErrClosed = errors.New("wecomsim: closed")

// ErrUnknownCorp is returned where a corp has to exist and does not.
var ErrUnknownCorp = errors.New("wecomsim: unknown corp")

// Call is one call in the ledger.
type Call = ledger.Entry

// Sim is one simulated vendor. All methods are safe for concurrent use.
type Sim struct {
	now       func() time.Time
	ipHeader  string
	seed      uint64
	onScan    func(Scan)
	onCall    func(Call)
	callbacks CallbackRules
	client    *http.Client
	logger    *slog.Logger

	quirks  atomic.Pointer[Quirks]
	latency atomic.Pointer[Latency]
	limits  *limits.Limiter
	calls   limits.InFlight[flight]
	writes  limits.InFlight[string]
	faults  *fault.Script
	ledger  *ledger.Log[ledger.Entry]
	scans   *ledger.Log[Scan]
	counts  counters
	dice    *dice
	tokens  *tokenBook
	secrets *badSecrets
	robots  robotBook

	mu    sync.RWMutex
	corps map[string]*corp

	life    lifetime
	streams streamBook
}

// flight is what 45033 counts: the calls in flight of a corp to one API.
type flight struct{ corp, api string }

// New returns a Sim. Options that make no sense (negative lengths, unknown
// kinds) are replaced by the defaults; use SetLimits and SetQuirks to have
// them checked. Close it to end its goroutines.
func New(o Options) *Sim {
	s := &Sim{
		now: o.Now, ipHeader: orDefault(o.IPHeader, DefaultIPHeader), seed: o.Seed,
		onScan: o.OnScan, onCall: o.OnCall,
		callbacks: o.Callbacks.withDefaults(), client: o.HTTPClient, logger: o.Logger,
		faults: fault.NewScript(o.Seed),
		ledger: ledger.NewLog[ledger.Entry](o.Keep),
		scans:  ledger.NewLog[Scan](o.Keep),
		dice:   newDice(o.Seed),
		corps:  map[string]*corp{},
	}
	if s.now == nil {
		s.now = time.Now
	}
	if s.logger == nil {
		s.logger = slog.New(slog.DiscardHandler)
	}
	if s.client == nil {
		s.client = newCallbackClient()
	}
	s.tokens, s.secrets = newTokenBook(), newBadSecrets()
	s.life.done = make(chan struct{})
	s.limits = limiterFor(o.Limits)
	if err := s.SetQuirks(o.Quirks); err != nil {
		defaults := DefaultQuirks()
		s.quirks.Store(&defaults)
	}
	s.latency.Store(&Latency{})
	_ = s.SetLatency(o.Latency) // a refused one leaves none
	return s
}

func limiterFor(config *limits.Config) *limits.Limiter {
	if config != nil {
		if l, err := limits.New(*config); err == nil {
			return l
		}
	}
	l, _ := limits.New(limits.Documented()) // valid by definition; a test says so
	return l
}

// SetLimits replaces the limits, forgets what was counted and lifts all
// blocks. It fails, and changes nothing, when they make no sense.
func (s *Sim) SetLimits(config limits.Config) error { return s.limits.Configure(config) }

// Limits returns the limits in force.
func (s *Sim) Limits() limits.Config { return s.limits.Config() }

// Unblock forgets what was counted against the limits and lifts all blocks,
// those for bad secrets included.
func (s *Sim) Unblock() {
	s.limits.Forget()
	s.secrets.forget()
}

// SetQuirks replaces the quirks; zero fields take their defaults. It fails,
// and changes nothing, when they make no sense.
func (s *Sim) SetQuirks(q Quirks) error {
	q = q.withDefaults()
	if err := q.validate(); err != nil {
		return fmt.Errorf("set quirks: %w", err)
	}
	s.quirks.Store(&q)
	return nil
}

// Quirks returns the quirks in force.
func (s *Sim) Quirks() Quirks { return *s.quirks.Load() }

// SetLatency replaces the latency of calls. It fails, and changes nothing,
// when it makes no sense.
func (s *Sim) SetLatency(l Latency) error {
	if err := l.validate(); err != nil {
		return fmt.Errorf("set latency: %w", err)
	}
	s.latency.Store(&l)
	return nil
}

// Latency returns the latency in force.
func (s *Sim) Latency() Latency { return *s.latency.Load() }

// AddFault appends a rule to the script and returns its ID.
func (s *Sim) AddFault(rule fault.Rule) (string, error) { return s.faults.Add(rule) }

// Faults returns the script's rules with their hits.
func (s *Sim) Faults() []fault.Rule { return s.faults.Rules() }

// RemoveFault takes a rule out and reports whether there was one of that ID.
func (s *Sim) RemoveFault(id string) bool { return s.faults.Remove(id) }

// ClearFaults takes all rules out.
func (s *Sim) ClearFaults() { s.faults.Clear() }

// Ledger is the log of all calls.
func (s *Sim) Ledger() *ledger.Log[ledger.Entry] { return s.ledger }

// ScanLog is the log of all scans.
func (s *Sim) ScanLog() *ledger.Log[Scan] { return s.scans }

// ClearRecords empties ledger, scan log and counters. Corps, ways, limits and
// running scans stay.
func (s *Sim) ClearRecords() {
	s.ledger.Clear()
	s.scans.Clear()
	s.counts.clear()
}

// Reset stops all scans, waits for their callbacks and forgets everything but
// quirks, latency and the limits' configuration.
func (s *Sim) Reset() {
	for _, st := range s.streams.all() {
		st.Stop()
		<-st.Done()
	}
	s.streams.clear()
	s.mu.Lock()
	s.corps = map[string]*corp{}
	s.mu.Unlock()
	s.tokens.clear()
	s.robots.clear()
	s.ClearFaults()
	s.Unblock()
	s.ClearRecords()
}

// Close stops all scans, cuts what is in flight in process and waits for
// every goroutine of the Sim. It may be called more than once.
func (s *Sim) Close() {
	s.life.close()
	s.client.CloseIdleConnections()
}

// lifetime owns the goroutines of a Sim.
type lifetime struct {
	mu     sync.Mutex
	closed bool
	done   chan struct{}
	wg     sync.WaitGroup
}

// spawn runs f in a goroutine that close waits for, unless closed already.
func (l *lifetime) spawn(f func()) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return ErrClosed
	}
	l.wg.Go(f)
	return nil
}

func (l *lifetime) close() {
	l.mu.Lock()
	if !l.closed {
		l.closed = true
		close(l.done)
	}
	l.mu.Unlock()
	l.wg.Wait()
}

// sleep waits for d and reports whether the Sim is still open.
func (l *lifetime) sleep(d time.Duration) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-l.done:
		return false
	}
}
