package backstop_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rollcall-dev/rollcall/internal/backstop"
)

// Three keepers sweep at the same time, as two may after one was paused, while
// refreshers mark. In the end every code was published after its last mark.
func TestKeepersAtOnceLoseNoMark(t *testing.T) {
	for range 40 {
		r := newRig(t)
		h := &history{marked: map[string]int64{}, published: map[string]int64{}}
		var marking, sweeping sync.WaitGroup
		ended := make(chan struct{})
		for range 3 {
			marking.Go(func() { r.markSome(h, 20) })
			sweeping.Go(func() { r.sweepUntil(h, ended) })
		}
		marking.Wait()
		close(ended)
		sweeping.Wait()
		if n := r.left(); n != 0 {
			t.Errorf("%d codes are left", n)
		}
		for code, at := range h.marked {
			if h.published[code] < at {
				t.Fatalf("%s was marked at step %d and last published at step %d", code, at, h.published[code])
			}
		}
	}
}

func (r *rig) markSome(h *history, n int) {
	for range n {
		i := rand.IntN(12)
		code := fmt.Sprintf("c%02d", i)
		h.mark(code)
		r.mark(fmt.Sprintf("t%d", i%3), code, t0)
		runtime.Gosched()
	}
}

// sweepUntil sweeps until ended is closed, and once more.
func (r *rig) sweepUntil(h *history, ended <-chan struct{}) {
	opts := fast()
	opts.Parallel, opts.Now, opts.Logger = 2, r.clock.Now, slog.New(slog.DiscardHandler)
	releaser := backstop.NewReleaser(r.set, h, opts)
	for last := false; !last; {
		select {
		case <-ended:
			last = true
		default:
		}
		if _, err := releaser.Sweep(r.Context()); err != nil {
			r.Errorf("Sweep() = %v", err)
		}
	}
}

// history is a topic that knows what came after what.
type history struct {
	step atomic.Int64

	mu        sync.Mutex
	marked    map[string]int64 // the step before the last mark
	published map[string]int64 // the step at the last publish
}

func (h *history) mark(code string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.marked[code] = h.step.Add(1)
}

func (h *history) Publish(_ context.Context, entries []backstop.Entry) []error {
	defer runtime.Gosched() // others go on before the removal
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range entries {
		h.published[e.Code] = h.step.Add(1)
	}
	return make([]error, len(entries))
}
