package fault

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
)

// Script holds the rules in the order in which they were added. It is safe for
// concurrent use; an empty script costs one atomic load a call.
type Script struct {
	mu    sync.Mutex
	rng   *rand.Rand
	rules []*Rule
	added int
	live  atomic.Int64 // len(rules)
}

// NewScript returns an empty script that decides probabilities from seed.
func NewScript(seed uint64) *Script {
	return &Script{rng: rand.New(rand.NewPCG(seed, 0xfa))}
}

// Add appends the rule and returns its ID. ID and Hits of the argument are
// ignored. It fails when the rule is invalid.
func (s *Script) Add(rule Rule) (string, error) {
	if err := rule.Validate(); err != nil {
		return "", fmt.Errorf("add rule: %w", err)
	}
	if rule.Phase == "" {
		rule.Phase = Before
	}
	if rule.Hang == 0 {
		rule.Hang = DefaultHang
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.added++
	rule.ID, rule.Hits = fmt.Sprintf("fault-%d", s.added), 0
	s.rules = append(s.rules, &rule)
	s.live.Store(int64(len(s.rules)))
	return rule.ID, nil
}

// Match returns the first rule that hits the call, and counts the hit.
func (s *Script) Match(call Call) (Rule, bool) {
	if s.live.Load() == 0 {
		return Rule{}, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.rules {
		if r.spent() || !r.selects(call) {
			continue
		}
		if r.Skip > 0 {
			r.Skip--
			continue
		}
		if r.Probability > 0 && s.rng.Float64() >= r.Probability {
			continue
		}
		r.Hits++
		return *r, true
	}
	return Rule{}, false
}

// Rules returns the rules with their hits; Skip is what is left to skip.
func (s *Script) Rules() []Rule {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Rule, len(s.rules))
	for i, r := range s.rules {
		out[i] = *r
	}
	return out
}

// Remove takes a rule out and reports whether there was one of that ID.
func (s *Script) Remove(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := len(s.rules)
	s.rules = slices.DeleteFunc(s.rules, func(r *Rule) bool { return r.ID == id })
	s.live.Store(int64(len(s.rules)))
	return len(s.rules) < before
}

// Clear takes all rules out.
func (s *Script) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rules = nil
	s.live.Store(0)
}
