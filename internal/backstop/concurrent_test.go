package backstop_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rollcall-dev/rollcall/internal/backstop"
)

// Two keepers sweep at the same time, as they may after one was paused, while
// refreshers mark. In the end every code was published after its last mark.
func TestTwoKeepersLoseNoMark(t *testing.T) {
	const keepers, markers, marks, codes = 2, 4, 300, 12
	r := newRig(t)
	h := &history{marked: map[string]int64{}, published: map[string]int64{}}
	var marking, sweeping sync.WaitGroup
	for range markers {
		marking.Go(func() {
			for range marks {
				i := rand.IntN(codes)
				code := fmt.Sprintf("c%02d", i)
				h.mark(code)
				r.mark(fmt.Sprintf("t%d", i%3), code, t0)
			}
		})
	}
	ended := make(chan struct{})
	for range keepers {
		opts := fast()
		opts.Parallel, opts.Now, opts.Logger = 2, r.clock.Now, slog.New(slog.DiscardHandler)
		releaser := backstop.NewReleaser(r.set, h, opts)
		sweeping.Go(func() {
			for last := false; !last; {
				select {
				case <-ended:
					last = true // once more after the last mark
				default:
				}
				if _, err := releaser.Sweep(t.Context()); err != nil {
					t.Errorf("Sweep() = %v", err)
				}
			}
		})
	}
	marking.Wait()
	close(ended)
	sweeping.Wait()
	if n := r.left(); n != 0 {
		t.Errorf("%d codes are left", n)
	}
	for code, at := range h.marked {
		if h.published[code] < at {
			t.Errorf("%s was marked at step %d and last published at step %d", code, at, h.published[code])
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
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range entries {
		h.published[e.Code] = h.step.Add(1)
	}
	return make([]error, len(entries))
}
