package preflight

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Options say how checks are run.
type Options struct {
	Timeout time.Duration // of one look; a check that takes longer has failed
	// MendTimeout bounds one mending: an index on a large collection takes
	// minutes. 0 mends nothing.
	MendTimeout time.Duration
}

// Run runs all checks at the same time, each as soon as those it builds on are
// done, and returns what came of them in the order given. A check that hangs
// holds up those behind it until its time is over, and nobody else. When ctx
// ends, what is not done has failed. It panics when a check waits for one that
// is not given before it: that would never end.
func Run(ctx context.Context, checks []Check, o Options) []Result {
	results := make([]Result, len(checks))
	known := map[string]*outcome{}
	var running sync.WaitGroup
	for i, c := range checks {
		out := &outcome{done: make(chan struct{})}
		after, behind := outcomes(c, c.After, known), outcomes(c, c.Behind, known)
		known[c.Name] = out
		running.Go(func() {
			defer close(out.done)
			results[i] = runOne(ctx, c, o, after, behind)
			out.Result = results[i]
		})
	}
	running.Wait()
	return results
}

// outcome is the result of a check, to be read when done is closed.
type outcome struct {
	Result
	done chan struct{}
}

func outcomes(of Check, names []string, known map[string]*outcome) []*outcome {
	var found []*outcome
	for _, name := range names {
		out := known[name]
		if out == nil {
			panic(fmt.Sprintf("check %s waits for %s, which is not given before it", of.Name, name))
		}
		found = append(found, out)
	}
	return found
}

func runOne(ctx context.Context, c Check, o Options, after, behind []*outcome) Result {
	for _, out := range behind {
		<-out.done
	}
	for _, out := range after {
		<-out.done
		if !out.good() {
			return Result{Name: c.Name, Finding: skip("not looked at: " + out.Name + " " + pastTense(out.Verdict))}
		}
	}
	begun := time.Now()
	r := Result{Name: c.Name, Finding: look(ctx, c, o.Timeout)}
	if o.MendTimeout > 0 && c.Mend != nil && r.mendable() {
		r = mend(ctx, c, o, r)
	}
	r.Took = time.Since(begun)
	return r
}

func pastTense(v Verdict) string {
	if v == Fail {
		return "failed"
	}
	return "was skipped"
}

// grace is how long a look that has run out of time may take to say what it
// knows: a driver tells only then why it could not connect.
const grace = 250 * time.Millisecond

// look gives up on a look that does not end with its context; what it was at
// ends with the process.
func look(ctx context.Context, c Check, timeout time.Duration) Finding {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	found := make(chan Finding, 1)
	go func() { found <- c.Look(ctx) }()
	select {
	case f := <-found:
		return f
	case <-ctx.Done():
	}
	last := time.NewTimer(grace)
	defer last.Stop()
	select {
	case f := <-found:
		return f
	case <-last.C:
		return fail(fmt.Sprintf("no answer within %s", timeout), "see whether the address is right and the way to it is open")
	}
}

// mend makes what is missing and looks again.
func mend(ctx context.Context, c Check, o Options, was Result) Result {
	mending, cancel := context.WithTimeout(ctx, o.MendTimeout)
	defer cancel()
	did, err := c.Mend(mending)
	switch {
	case err != nil:
		was.Found += "; mending it failed: " + err.Error()
		return was
	case did == "":
		return was
	}
	return Result{Name: c.Name, Finding: look(ctx, c, o.Timeout), Did: did}
}
