package registrytest

import (
	"context"
	"sync"
	"time"

	"github.com/rollcall-dev/rollcall/internal/registry"
)

// Answers is registry.Answers in memory. It is safe for concurrent use.
type Answers struct {
	mu   sync.Mutex
	kept map[string]keptAnswer // by scope and key
}

type keptAnswer struct {
	claim  registry.Claim
	answer registry.Answer // without a status: not answered yet
}

var _ registry.Answers = (*Answers)(nil)

// NewAnswers returns an empty store.
func NewAnswers() *Answers { return &Answers{kept: map[string]keptAnswer{}} }

func idOf(c registry.Claim) string { return c.Scope + "/" + c.Key }

// Claim takes a key.
func (a *Answers) Claim(_ context.Context, claim registry.Claim, now time.Time) (registry.ClaimState, registry.Answer, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	kept, there := a.kept[idOf(claim)]
	same := kept.claim.Fingerprint == claim.Fingerprint
	died := kept.answer.Status == 0 && !now.Before(kept.claim.Until)
	switch {
	case !there, !now.Before(kept.claim.Expires), died && same:
		a.kept[idOf(claim)] = keptAnswer{claim: claim}
		return registry.Claimed, registry.Answer{}, nil
	case !same:
		return registry.Reused, registry.Answer{}, nil
	case kept.answer.Status == 0:
		return registry.InProgress, registry.Answer{}, nil
	}
	return registry.Answered, kept.answer, nil
}

// Store keeps the answer of a claim that holds.
func (a *Answers) Store(_ context.Context, claim registry.Claim, answer registry.Answer) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.holds(claim) {
		a.kept[idOf(claim)] = keptAnswer{claim: claim, answer: answer}
	}
	return nil
}

// Drop gives a claim up.
func (a *Answers) Drop(_ context.Context, claim registry.Claim) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.holds(claim) {
		delete(a.kept, idOf(claim))
	}
	return nil
}

func (a *Answers) holds(claim registry.Claim) bool {
	kept, there := a.kept[idOf(claim)]
	return there && kept.answer.Status == 0 && kept.claim == claim
}
