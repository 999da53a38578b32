package shadowtest

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/shadow"
)

// Memory is shadow.Store and shadow.Directory in memory. It is safe for
// concurrent use.
type Memory struct {
	// Fail, when set, is asked before every call; its error is the call's.
	Fail func() error

	mu     sync.Mutex
	now    func() time.Time
	states map[push.Ref]shadow.State
	zones  map[string]*time.Location
	codes  map[push.Ref]shadow.Mode
	gone   map[push.Ref]bool // retired
}

var (
	_ shadow.Store     = (*Memory)(nil)
	_ shadow.Directory = (*Memory)(nil)
)

// NewMemory returns an empty store.
func NewMemory(now func() time.Time) *Memory {
	return &Memory{
		now: now, states: map[push.Ref]shadow.State{}, zones: map[string]*time.Location{}, codes: map[push.Ref]shadow.Mode{},
		gone: map[push.Ref]bool{},
	}
}

// PutTenant makes a tenant.
func (m *Memory) PutTenant(tenant string, zone *time.Location) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.zones[tenant] = zone
}

// PutCode makes a code, or sets its mode and term.
func (m *Memory) PutCode(ref push.Ref, mode shadow.Mode) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.codes[ref] = mode
}

// Retire retires a code.
func (m *Memory) Retire(ref push.Ref) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.gone[ref] = true
}

// begin locks, unless the call is to fail.
func (m *Memory) begin(ctx context.Context) (end func(), err error) {
	if m.Fail != nil {
		if err := m.Fail(); err != nil {
			return nil, err
		}
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	m.mu.Lock()
	return m.mu.Unlock, nil
}

// Note stores a shadow unless a later one is stored.
func (m *Memory) Note(ctx context.Context, ref push.Ref, ours push.Shadow) error {
	end, err := m.begin(ctx)
	if err != nil {
		return err
	}
	defer end()
	s := m.state(ref)
	if s.Ours.At.After(ours.At) {
		return nil
	}
	if s.Ours.At.IsZero() || !slices.Equal(s.Ours.Members, ours.Members) {
		m.changed(&s)
	}
	s.Ours = ours
	m.states[ref] = s
	return nil
}

// Reported stores a list unless a later one is stored.
func (m *Memory) Reported(ctx context.Context, ref push.Ref, theirs shadow.Reported) (shadow.Reception, error) {
	end, err := m.begin(ctx)
	if err != nil {
		return "", err
	}
	defer end()
	s := m.state(ref)
	switch {
	case s.Theirs.At.After(theirs.At):
		return shadow.Outdated, nil
	case !s.Theirs.At.IsZero() && s.Theirs.Term == theirs.Term && slices.Equal(s.Theirs.Members, theirs.Members):
		s.Theirs = theirs
		m.states[ref] = s
		return shadow.Repeated, nil
	}
	s.Theirs = theirs
	m.changed(&s)
	m.states[ref] = s
	return shadow.Recorded, nil
}

func (m *Memory) state(ref push.Ref) shadow.State {
	s, there := m.states[ref]
	if !there {
		s = shadow.State{Ref: ref, Days: map[roster.Day]shadow.Tally{}}
	}
	return s
}

func (m *Memory) changed(s *shadow.State) {
	s.Changes++
	if now := m.now(); now.After(s.Changed) {
		s.Changed = now
	}
}

// Due returns states that changed by an instant.
func (m *Memory) Due(ctx context.Context, changed time.Time, limit int) ([]shadow.State, error) {
	end, err := m.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	var due []shadow.State
	for _, s := range m.states {
		if !s.Changed.IsZero() && !s.Changed.After(changed) {
			due = append(due, copied(s))
		}
	}
	slices.SortFunc(due, func(a, b shadow.State) int { return a.Changed.Compare(b.Changed) })
	return due[:min(len(due), max(limit, 1))], nil
}

// Settle ends the look at a state.
func (m *Memory) Settle(ctx context.Context, seen shadow.State, c shadow.Comparison) (bool, error) {
	end, err := m.begin(ctx)
	if err != nil {
		return false, err
	}
	defer end()
	s, there := m.states[seen.Ref]
	if !there || s.Changes != seen.Changes || s.Changed.IsZero() {
		return false, nil
	}
	s.Changed, s.Verdict = time.Time{}, c.Verdict
	s.Days = maps.Clone(s.Days)
	for _, day := range c.Pruned {
		delete(s.Days, day)
	}
	count(s.Days, c)
	m.states[seen.Ref] = s
	return true, nil
}

func count(days map[roster.Day]shadow.Tally, c shadow.Comparison) {
	for _, day := range c.Standing {
		tally := days[day]
		tally.Standing++
		days[day] = tally
	}
	if c.Day == "" {
		return
	}
	tally := days[c.Day]
	tally.Compared++
	switch c.Outcome {
	case shadow.Match:
		tally.Matched++
	case shadow.Mismatch:
		tally.Mismatched++
		tally.Causes = maps.Clone(tally.Causes)
		if tally.Causes == nil {
			tally.Causes = map[shadow.Cause]int{}
		}
		for _, cause := range shadow.Causes(c.Differences) {
			tally.Causes[cause]++
		}
	case shadow.NoVerdict: // compared, and no more
	}
	days[c.Day] = tally
}

// States returns those that there are.
func (m *Memory) States(ctx context.Context, tenant string, codes []string) (map[string]shadow.State, error) {
	end, err := m.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	found := map[string]shadow.State{}
	for _, code := range codes {
		if s, there := m.states[push.Ref{Tenant: tenant, Code: code}]; there {
			s.Ours.Why = nil
			found[code] = copied(s)
		}
	}
	return found, nil
}

func copied(s shadow.State) shadow.State {
	s.Days = maps.Clone(s.Days)
	return s
}

// Mode returns a code's.
func (m *Memory) Mode(ctx context.Context, ref push.Ref) (shadow.Mode, error) {
	zone, err := m.Zone(ctx, ref.Tenant)
	if err != nil {
		return shadow.Mode{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	mode, there := m.codes[ref]
	if !there {
		return shadow.Mode{}, push.ErrUnknownCode
	}
	mode.Shadow, mode.Zone = mode.Shadow && !m.gone[ref], zone
	return mode, nil
}

// Zone returns a tenant's.
func (m *Memory) Zone(ctx context.Context, tenant string) (*time.Location, error) {
	end, err := m.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	zone, there := m.zones[tenant]
	if !there {
		return nil, push.ErrUnknownTenant
	}
	return zone, nil
}

// Codes returns a page.
func (m *Memory) Codes(ctx context.Context, tenant, after string, limit int) ([]shadow.Listed, error) {
	end, err := m.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	var page []shadow.Listed
	for ref, mode := range m.codes {
		if ref.Tenant == tenant && ref.Code > after && !m.gone[ref] {
			page = append(page, shadow.Listed{Code: ref.Code, Shadow: mode.Shadow, Term: mode.Term})
		}
	}
	slices.SortFunc(page, func(a, b shadow.Listed) int { return strings.Compare(a.Code, b.Code) })
	return page[:min(len(page), max(limit, 1))], nil
}
