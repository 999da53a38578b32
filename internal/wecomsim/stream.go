package wecomsim

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// ScanCode is a code that customers scan.
type ScanCode struct {
	Corp     string  `json:"corp"`
	ConfigID string  `json:"config_id"`
	Weight   float64 `json:"weight,omitempty"` // 0 is 1
	Drawn    bool    `json:"drawn,omitempty"`  // ask Scans.Draw for the member
}

// Scans is a stream of customers.
type Scans struct {
	// Codes that are scanned. With Corps, all ways that these corps have at
	// the start are scanned as well.
	Codes []ScanCode
	Corps []string
	// Rate is the mean number of scans a second; arrivals are Poisson. It
	// must be positive.
	Rate float64
	// Zipf, when positive, replaces the weights: the k-th code is scanned in
	// proportion to k^-Zipf.
	Zipf float64
	// Count ends the stream after so many scans; 0 is no end.
	Count int
	// Draw is asked for the members of codes that are Drawn.
	Draw  Drawer
	After After
	// Seed makes arrivals, codes, picks and customers repeatable.
	Seed uint64
}

// Stream is a stream of customers under way.
type Stream struct {
	id     string
	sim    *Sim
	plan   Scans
	bounds []float64 // cumulative weights
	rng    *rand.Rand
	life   context.Context // ends with the Sim, or with the context of the start
	end    context.CancelFunc
	stop   chan struct{}
	once   sync.Once
	wg     sync.WaitGroup
	done   chan struct{}
	count  atomic.Uint64
}

// StartScans starts a stream. It ends at Stop, after Count scans, with ctx or
// with the Sim. It fails when the plan makes no sense.
func (s *Sim) StartScans(ctx context.Context, plan Scans) (*Stream, error) {
	plan.Codes = slices.Clone(plan.Codes)
	for _, corp := range plan.Corps {
		for w := range s.Ways(corp) {
			plan.Codes = append(plan.Codes, ScanCode{Corp: corp, ConfigID: w.ConfigID})
		}
	}
	if err := plan.validate(); err != nil {
		return nil, fmt.Errorf("start scans: %w", err)
	}
	st := &Stream{
		sim: s, plan: plan, bounds: plan.bounds(), rng: rand.New(rand.NewPCG(plan.Seed, 0x5ca7)),
		stop: make(chan struct{}), done: make(chan struct{}),
	}
	st.life, st.end = context.WithCancel(ctx)
	if err := s.life.spawn(st.own); err != nil {
		st.end()
		return nil, fmt.Errorf("start scans: %w", err)
	}
	s.streams.add(st)
	return st, nil
}

func (p Scans) validate() error {
	if len(p.Codes) == 0 {
		return errors.New("scans: no codes")
	}
	if !(p.Rate > 0) || math.IsInf(p.Rate, 0) || p.Count < 0 || p.Zipf < 0 {
		return errors.New("scans: rate must be positive, count and zipf not negative")
	}
	for _, code := range p.Codes {
		if code.Weight < 0 {
			return fmt.Errorf("scans: the weight of %s is negative", code.ConfigID)
		}
		if code.Drawn && p.Draw == nil {
			return fmt.Errorf("scans: %s is drawn and there is no draw", code.ConfigID)
		}
	}
	return p.After.validate()
}

// bounds are the cumulative weights of the codes.
func (p Scans) bounds() []float64 {
	out, sum := make([]float64, len(p.Codes)), 0.0
	for i, code := range p.Codes {
		weight := orDefault(code.Weight, 1)
		if p.Zipf > 0 {
			weight = math.Pow(float64(i+1), -p.Zipf)
		}
		sum += weight
		out[i] = sum
	}
	return out
}

// ID names the stream in the control API.
func (st *Stream) ID() string { return st.id }

// Scans returns how many customers have come.
func (st *Stream) Scans() uint64 { return st.count.Load() }

// Stop ends the arrivals. Callbacks under way go on; Done tells their end.
func (st *Stream) Stop() { st.once.Do(func() { close(st.stop) }) }

// Done is closed when no customer comes any more and every callback was
// delivered or given up.
func (st *Stream) Done() <-chan struct{} { return st.done }

// own runs the stream to its end.
func (st *Stream) own() {
	defer close(st.done)
	defer st.end()
	finished := make(chan struct{})
	st.wg.Go(st.arrive)
	var watch sync.WaitGroup
	watch.Go(func() {
		select {
		case <-st.sim.life.done:
			st.end()
		case <-finished:
		}
	})
	st.wg.Wait()
	close(finished)
	watch.Wait()
}

// arrive lets customers come. A late one is made up for, so the rate holds.
func (st *Stream) arrive() {
	next := time.Now()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for st.plan.Count == 0 || st.count.Load() < uint64(st.plan.Count) {
		next = next.Add(time.Duration(st.rng.ExpFloat64() / st.plan.Rate * float64(time.Second)))
		timer.Reset(time.Until(next))
		select {
		case <-timer.C:
		case <-st.stop:
			return
		case <-st.life.Done():
			return
		}
		st.customer()
	}
}

// customer plays one scan. A draw may take its time, so it gets a goroutine;
// WeCom's own pick happens here and now.
func (st *Stream) customer() {
	at := st.rng.Float64() * st.bounds[len(st.bounds)-1]
	code := st.plan.Codes[min(sort.SearchFloat64s(st.bounds, at), len(st.plan.Codes)-1)]
	rng := rand.New(rand.NewPCG(st.rng.Uint64(), st.rng.Uint64()))
	st.count.Add(1)
	if code.Drawn {
		st.wg.Go(func() { st.follow(rng, st.sim.pick(st.life, rng, code.Corp, code.ConfigID, st.plan.Draw)) })
		return
	}
	scan := st.sim.pick(st.life, rng, code.Corp, code.ConfigID, nil)
	if scan.Member != "" {
		st.wg.Go(func() { st.follow(rng, scan) })
	}
}

// follow sends what follows a scan.
func (st *Stream) follow(rng *rand.Rand, scan Scan) {
	after := st.plan.After
	if scan.Member == "" || (after.AddShare > 0 && rng.Float64() >= after.AddShare) {
		return
	}
	if !st.sim.pause(st.life, after.Delay.draw(rng.NormFloat64())) {
		return
	}
	e := st.sim.addition(scan)
	if rng.Float64() < after.HalfShare {
		half := e
		half.ChangeType = AddHalfExternalContact
		st.emit(rng, half)
	}
	st.emit(rng, e)
}

// emit sends an event once, twice or not at all. Its error is counted and
// logged by Emit.
func (st *Stream) emit(rng *rand.Rand, e Event) {
	if rng.Float64() < st.plan.After.LossShare {
		st.sim.counts.events.Add(1)
		st.sim.counts.dropped.Add(1)
		return
	}
	_ = st.sim.Emit(st.life, e)
	if rng.Float64() < st.plan.After.DuplicateShare {
		_ = st.sim.Emit(st.life, e)
	}
}

// streamBook knows the streams that were started, for the control API.
type streamBook struct {
	mu      sync.Mutex
	started int
	streams []*Stream
}

func (b *streamBook) add(st *Stream) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.started++
	st.id = "scans-" + strconv.Itoa(b.started)
	b.streams = append(b.streams, st)
}

func (b *streamBook) all() []*Stream {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.streams)
}

func (b *streamBook) clear() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.streams = nil
}

// Streams returns the streams started since New or Reset, ended ones included.
func (s *Sim) Streams() []*Stream { return s.streams.all() }

// Stream returns the stream of that ID.
func (s *Sim) Stream(id string) (*Stream, bool) {
	for _, st := range s.streams.all() {
		if st.id == id {
			return st, true
		}
	}
	return nil, false
}
