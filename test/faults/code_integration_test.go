//go:build integration

package faults

import (
	"context"
	"fmt"
	"math/bits"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/pkg/refresh"
	"github.com/rollcall-dev/rollcall/test/history"
)

// staffPerCode is how many people sit on a code; each on one code only.
const staffPerCode = 6

// code is a code whose people come and go, one at a time and in the order of a
// Gray code: 63 changes bring 63 different lists, so that a list tells which
// facts it was decided from.
type code struct {
	push.Ref
	history.History

	changing sync.Mutex
	changes  uint
	online   uint // a bit for each of the staff
	last     int  // who came or went last
}

func newCode(id string) *code {
	return &code{Ref: push.Ref{Tenant: tenant, Code: id}, online: 1<<staffPerCode - 1}
}

func (c *code) configID() string   { return "cfg-" + c.Code }
func (c *code) staff(i int) string { return fmt.Sprintf("%s-s%d", c.Code, i) }

// list is what the facts ask for now.
func (c *code) list() []string {
	c.changing.Lock()
	defer c.changing.Unlock()
	return c.listLocked()
}

func (c *code) listLocked() []string {
	var out []string
	for i := range staffPerCode {
		if c.online&(1<<i) != 0 {
			out = append(out, c.staff(i))
		}
	}
	slices.Sort(out)
	return out
}

// nextLocked is who comes or goes next: never the last one who is left.
func (c *code) nextLocked() int {
	for {
		c.changes++
		i := bits.TrailingZeros(c.changes) % staffPerCode
		if c.online != 1<<i {
			return i
		}
	}
}

// announce publishes a code whose first list is not at WeCom yet.
func (h *house) announce(ctx context.Context, c *code) error {
	c.changing.Lock()
	defer c.changing.Unlock()
	c.Ask(time.Now(), c.listLocked())
	return h.publish(ctx, c.Ref)
}

// change changes a fact of a code and publishes it.
func (h *house) change(ctx context.Context, c *code) error {
	c.changing.Lock()
	defer c.changing.Unlock()
	return h.flipLocked(ctx, c, c.nextLocked())
}

// revert takes the last change back: the facts ask for the list before it,
// which may be the one that the record says WeCom holds.
func (h *house) revert(ctx context.Context, c *code) error {
	c.changing.Lock()
	defer c.changing.Unlock()
	return h.flipLocked(ctx, c, c.last)
}

// flipLocked does as a producer does: the fact first. It tries until the broker
// has the event, and gives up only with ctx; a fact without its event would be
// the producer's fault.
func (h *house) flipLocked(ctx context.Context, c *code, i int) error {
	c.online ^= 1 << i
	c.last = i
	presence := roster.OfflineNow
	if c.online&(1<<i) != 0 {
		presence = roster.Online
	}
	c.Ask(time.Now(), c.listLocked())
	if err := h.db.Facts().SetPresence(ctx, c.Tenant, c.staff(i), presence); err != nil {
		return err
	}
	return h.publish(ctx, c.Ref)
}

func (h *house) publish(ctx context.Context, ref push.Ref) error {
	for {
		err := h.producer.Publish(ctx, refresh.Event{Tenant: ref.Tenant, Code: ref.Code, Reason: "presence", OccurredAt: time.Now()})
		if err == nil || ctx.Err() != nil {
			return err
		}
		pause(ctx, 100*time.Millisecond)
	}
}

// each does the same to some codes, a few at a time.
func (h *house) each(codes []*code, do func(context.Context, *code) error) {
	h.Helper()
	ctx, cancel := context.WithTimeout(h.Context(), 2*time.Minute)
	defer cancel()
	some, ctx := errgroup.WithContext(ctx)
	some.SetLimit(8)
	for _, c := range codes {
		some.Go(func() error { return do(ctx, c) })
	}
	h.must(some.Wait())
}
