//go:build integration

package faults

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// stall is one row of the stall matrix.
type stall struct {
	at step
	// late: the worker goes on only when the other refresher has nothing left to
	// do for the code; else as soon as WeCom holds the newer list.
	late bool
	// brief: the row is in the short form too.
	brief bool
}

// stallRows are the steps at which a worker that stands still has something to
// do afterwards that may be out of date.
var stallRows = []stall{
	{at: afterVersion},
	{at: afterLoad, brief: true},
	{at: beforeReplace, brief: true},
	{at: afterAdmit},
	{at: beforeBegin},
	{at: afterBegin},
	{at: beforeUpdate, brief: true},
	{at: beforeCommit},
	{at: beforeReplace, late: true},
	{at: afterUpdate, late: true},
	{at: afterFacts, late: true},
	{at: beforeCommit, late: true, brief: true},
}

func (s stall) String() string {
	if s.late {
		return string(s.at) + ", late"
	}
	return string(s.at)
}

// minStall is longer than a call may be sent after its admission
// (ROLLCALL_BUDGET_DELAY, 2 s). A shorter one can let an older list through
// after a newer one: the intent says so, and the list is pushed again.
const minStall = 3 * time.Second

// TestStallMatrix lets a worker stand still at a step while its refresher loses
// the broker, so that the code goes to another refresher with newer facts. When
// it goes on it is superseded: it sends nothing, records nothing and leaves the
// rotation set alone.
func TestStallMatrix(t *testing.T) {
	t.Parallel()
	var b board
	var order []string
	t.Run("rows", func(t *testing.T) {
		for _, row := range stallRows {
			if !*full && !row.brief {
				continue
			}
			order = append(order, row.String())
			t.Run(row.String(), func(t *testing.T) {
				t.Parallel()
				b.play(row.String(), func() result { return runStall(t, row) })
			})
		}
	})
	b.print(t, "A worker stalls, loses its code to another refresher, and goes on", order)
}

func runStall(t *testing.T, row stall) result {
	h := newHouse(t, crashCodes, plain)
	dir := t.TempDir()
	p := h.proxied(pulsarPart)
	var victim, other, keeper *process
	h.startAll(
		h.starting(&victim, "refresher", "victim", p.env, envStep+"="+string(row.at), envFate+"="+string(stalls), envDir+"="+dir),
		h.starting(&other, "refresher", "other"),
		h.starting(&keeper, "keeper", "keeper"),
	)
	h.baseline()
	h.must(os.WriteFile(filepath.Join(dir, armedFile), nil, 0o600))
	h.each(h.codes, h.change)
	var stalled *code
	if !until(t.Context(), 30*time.Second, func() bool { stalled = h.buried(dir); return stalled != nil }) {
		t.Fatalf("no worker ever came to %q", row.at)
	}
	began, before := h.died(dir), h.judgeAll().Pushes
	heal := h.spoil(p, cut)
	h.each([]*code{stalled}, h.change)
	superseded := func() bool {
		return time.Since(began) > minStall && h.holdsNewest(stalled) && (!row.late || h.recordDiffers(t.Context(), stalled) == "")
	}
	if !until(t.Context(), limit, superseded) {
		h.must(os.WriteFile(filepath.Join(dir, freedFile), nil, 0o600))
		t.Fatalf("the other has not done %s: WeCom holds the newest list: %t; %s\nthe broker: %s",
			stalled.Code, h.holdsNewest(stalled), h.recordDiffers(t.Context(), stalled), h.brokerView())
	}
	h.must(os.WriteFile(filepath.Join(dir, freedFile), nil, 0o600))
	released, during := time.Now(), h.judgeAll().Pushes-before
	pause(t.Context(), time.Second) // without the broker nothing sets right what it does now
	heal()
	out := h.settle(row.String(), released)
	out.length, out.during = released.Sub(began), during
	return out
}

// buried is the code in work at the step; nil when the step was not reached.
func (h *house) buried(dir string) *code {
	grave, err := os.ReadFile(filepath.Join(dir, graveFile))
	if err != nil {
		return nil
	}
	at := slices.IndexFunc(h.codes, func(c *code) bool { return c.Code == string(grave) })
	if at < 0 {
		return nil
	}
	return h.codes[at]
}

func (h *house) holdsNewest(c *code) bool {
	way, _ := h.sim.Way("corp-"+c.Tenant, c.configID())
	return slices.Equal(slices.Sorted(slices.Values(way.Users)), c.list())
}
