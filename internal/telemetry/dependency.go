package telemetry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Dependency is something the process works with.
type Dependency struct {
	Name string
	// Told says that the process does some of its work without it: it is told of
	// and counted, and does not make the process unready.
	Told bool
	// Ask asks it something cheap. It must return soon after ctx ends.
	Ask func(ctx context.Context) error
	// Every is the time between two questions; 0 is 5 s.
	Every time.Duration
	// Timeout bounds one question; 0 is 2 s.
	Timeout time.Duration
}

// dependency is a Dependency with its last answer. The answer is guarded by
// the Health's mutex.
type dependency struct {
	Dependency
	limit    time.Duration // an answer older than this is none
	answered time.Time     // zero: never
	err      error
}

// Depend registers dependencies. They are asked by [Health.Run], so they have
// to be registered before; until the first answer they count as not ready.
func (h *Health) Depend(dependencies ...Dependency) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, d := range dependencies {
		d.Every = cmp.Or(d.Every, 5*time.Second)
		d.Timeout = cmp.Or(d.Timeout, 2*time.Second)
		h.dependencies = append(h.dependencies, &dependency{Dependency: d, limit: 2*d.Every + d.Timeout})
	}
}

// Run asks the dependencies, each at its own pace so that one that hangs does
// not silence the others, until ctx ends. It returns when no question is on
// its way any more.
func (h *Health) Run(ctx context.Context) {
	h.mu.Lock()
	dependencies := h.dependencies
	h.mu.Unlock()
	var asking sync.WaitGroup
	for _, d := range dependencies {
		asking.Go(func() { h.poll(ctx, d) })
	}
	asking.Wait()
}

func (h *Health) poll(ctx context.Context, d *dependency) {
	ticker := time.NewTicker(d.Every)
	defer ticker.Stop()
	for {
		err := d.ask(ctx)
		if ctx.Err() != nil {
			return // what failed because we stop says nothing
		}
		h.mu.Lock()
		d.answered, d.err = time.Now(), err
		h.mu.Unlock()
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

func (d *dependency) ask(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, d.Timeout)
	defer cancel()
	err := d.Ask(ctx)
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("no answer within %s", d.Timeout)
	}
	return err
}

func (d *dependency) report() CheckReport {
	check := CheckReport{Name: d.Name, LimitSeconds: seconds(d.limit), Told: d.Told}
	if d.answered.IsZero() {
		check.Error = "not asked yet"
		return check
	}
	age := time.Since(d.answered)
	check.AgeSeconds = seconds(age)
	switch {
	case age > d.limit:
		check.Error = "the last answer is too old"
	case d.err != nil:
		check.Error = shorten(Scrub(d.err.Error()))
	default:
		check.OK = true
	}
	return check
}

// shorten keeps a report readable: a driver's error may list a whole topology.
func shorten(text string) string {
	const most = 300
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	return string(runes[:most]) + "…"
}
