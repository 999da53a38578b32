package audit

import (
	"context"
	"fmt"
	"time"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// Confirmer tells whether codes agree with their facts.
type Confirmer struct {
	codes Codes
	sets  Sets
	slots Slots
	lanes roster.LaneRules
	now   func() time.Time
}

// NewConfirmer returns a Confirmer.
func NewConfirmer(codes Codes, sets Sets, slots Slots, lanes roster.LaneRules, now func() time.Time) *Confirmer {
	return &Confirmer{codes: codes, sets: sets, slots: slots, lanes: lanes, now: now}
}

// Confirm returns what it found of each of the codes named, in their order. That
// a code is in the dirty set does not count as somebody coming back to it.
func (c *Confirmer) Confirm(ctx context.Context, refs []push.Ref) ([]Finding, error) {
	looks, err := c.codes.Of(ctx, refs)
	if err != nil {
		return nil, fmt.Errorf("confirm %d codes: %w", len(refs), err)
	}
	if err := complement(ctx, c.sets, c.slots, looks); err != nil {
		return nil, fmt.Errorf("confirm %d codes: %w", len(refs), err)
	}
	now := c.now()
	findings := make([]Finding, len(looks))
	for i, look := range looks {
		look.Dirty = false
		findings[i] = Compare(look, c.lanes, now)
	}
	return findings, nil
}
