package letterstest

import (
	"context"
	"fmt"
	"sync"

	"github.com/rollcall-dev/rollcall/internal/fanout/fanouttest"
	"github.com/rollcall-dev/rollcall/internal/letters"
)

// Names of the operations as the hooks see them.
const (
	OpGet     = "box.get"
	OpSettle  = "box.settle"
	OpPublish = "topic.publish"
)

// Box is a letters.Box in memory.
type Box struct {
	fanouttest.Hooks

	mu      sync.Mutex
	letters []letters.Letter
	settled map[string]bool
}

var _ letters.Box = (*Box)(nil)

// NewBox returns an empty box.
func NewBox() *Box { return &Box{settled: map[string]bool{}} }

// Bury puts a letter into the box and returns its ID.
func (b *Box) Bury(letter letters.Letter) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	letter.ID = fmt.Sprintf("12:%d:0", len(b.letters))
	b.letters = append(b.letters, letter)
	return letter.ID
}

// Get returns a letter that nobody has dealt with.
func (b *Box) Get(ctx context.Context, id string) (letters.Letter, error) {
	var found letters.Letter
	err := b.Do(ctx, OpGet, func() { found = b.find(id) })
	switch {
	case err != nil:
		return letters.Letter{}, err
	case found.ID == "":
		return letters.Letter{}, fmt.Errorf("dead letter %s: %w", id, letters.ErrUnknown)
	case b.isSettled(id):
		return letters.Letter{}, fmt.Errorf("dead letter %s: %w", id, letters.ErrSettled)
	}
	return found, nil
}

// Settle notes that a letter was dealt with.
func (b *Box) Settle(ctx context.Context, id string) error {
	return b.Do(ctx, OpSettle, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.settled[id] = true
	})
}

// Waiting returns the IDs of the letters that nobody has dealt with.
func (b *Box) Waiting(context.Context) ([]string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var ids []string
	for _, letter := range b.letters {
		if !b.settled[letter.ID] {
			ids = append(ids, letter.ID)
		}
	}
	return ids, nil
}

func (b *Box) find(id string) letters.Letter {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, letter := range b.letters {
		if letter.ID == id {
			return letter
		}
	}
	return letters.Letter{}
}

func (b *Box) isSettled(id string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.settled[id]
}
