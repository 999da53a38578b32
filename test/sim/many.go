package sim

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Total is what many runs were like.
type Total struct {
	Runs     int
	Steps    int
	Took     time.Duration // simulated
	Changes  int
	Events   int
	Timed    int
	Pushes   int
	Outcomes map[string]int
	Faults   []*Fault // by seed
}

// Many plays seeds in a row on so many goroutines, and stops when maxFaults of
// them went wrong.
func Many(from, seeds uint64, goroutines, maxFaults int) Total {
	total := Total{Outcomes: map[string]int{}}
	var mu sync.Mutex
	var next atomic.Uint64
	var wg sync.WaitGroup
	for range goroutines {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < seeds; i = next.Add(1) - 1 {
				r := Run(from+i, nil)
				mu.Lock()
				total.add(r)
				enough := len(total.Faults) >= maxFaults
				mu.Unlock()
				if enough {
					return
				}
			}
		})
	}
	wg.Wait()
	slices.SortFunc(total.Faults, func(a, b *Fault) int { return int(a.Seed) - int(b.Seed) })
	return total
}

func (t *Total) add(r Result) {
	t.Runs++
	t.Steps += r.Steps
	t.Took += r.Took
	t.Changes += r.Changes
	t.Events += r.Events
	t.Timed += r.Timed
	t.Pushes += r.Pushes
	for outcome, n := range r.Outcomes {
		t.Outcomes[outcome] += n
	}
	if r.Fault != nil {
		t.Faults = append(t.Faults, r.Fault)
	}
}

// String is a short report.
func (t Total) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d runs, %d steps, %v simulated, %d changes of facts, %d events (%d for time alone), %d pushes\n",
		t.Runs, t.Steps, t.Took.Round(time.Minute), t.Changes, t.Events, t.Timed, t.Pushes)
	outcomes := make([]string, 0, len(t.Outcomes))
	for outcome := range t.Outcomes {
		outcomes = append(outcomes, outcome)
	}
	slices.Sort(outcomes)
	for _, outcome := range outcomes {
		fmt.Fprintf(&b, "  %-24s %d\n", outcome, t.Outcomes[outcome])
	}
	return b.String()
}
