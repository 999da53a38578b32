package decisiontest

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/rollcall-dev/rollcall/internal/decision"
	"github.com/rollcall-dev/rollcall/internal/fanout/fanouttest"
)

// Names of the operations as the hooks see them.
const (
	OpBegin = "book.begin"
	OpEnd   = "book.end"
)

// Book is a decision.Book in memory.
type Book struct {
	fanouttest.Hooks

	mu  sync.Mutex
	all map[string]decision.Decision
}

var _ decision.Book = (*Book)(nil)

// NewBook returns an empty book.
func NewBook() *Book { return &Book{all: map[string]decision.Decision{}} }

// Begin records a decision.
func (b *Book) Begin(ctx context.Context, d decision.Decision) error {
	return b.Do(ctx, OpBegin, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		d.State, d.Failure = decision.Begun, ""
		b.all[d.ID] = d
	})
}

// End records how a decision ended.
func (b *Book) End(ctx context.Context, id string, state decision.State, failure string) error {
	found := false
	err := b.Do(ctx, OpEnd, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		var d decision.Decision
		if d, found = b.all[id]; found {
			d.State, d.Failure = state, failure
			b.all[id] = d
		}
	})
	if err == nil && !found {
		err = errors.New("no such decision")
	}
	return err
}

// List returns at most limit decisions, the newest first.
func (b *Book) List(_ context.Context, limit int) ([]decision.Decision, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []decision.Decision
	for _, d := range b.all {
		all = append(all, d)
	}
	slices.SortFunc(all, func(x, y decision.Decision) int {
		return cmp.Or(y.At.Compare(x.At), cmp.Compare(y.ID, x.ID))
	})
	return all[:min(limit, len(all))], nil
}
