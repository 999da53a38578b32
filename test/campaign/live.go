package campaign

import (
	"context"
	"fmt"
	"io"
	"time"
)

// live prints a line of the table every few seconds and what happens between.
type live struct {
	w       io.Writer
	started time.Time
	run     *running
	lines   int
}

const (
	liveEvery  = 2 * time.Second
	liveHeader = "  time   events    pushes   backlog  held(throttled)  dirty   fresh p50     p95   scans  misassigned  45009"
)

func (l *live) loop(ctx context.Context) {
	tick := time.NewTicker(liveEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			l.line(ctx)
		}
	}
}

func (l *live) line(ctx context.Context) {
	if l.w == nil {
		return
	}
	if l.lines%15 == 0 {
		_, _ = fmt.Fprintln(l.w, liveHeader)
	}
	l.lines++
	f := l.run.fleet.Figures(ctx)
	stats, _ := l.run.admin.Stats(ctx, l.run.topic, l.run.subscription) // a broker too busy to tell shows 0
	p50, p95 := l.run.tally.recentFreshness()
	r := l.run.snapshot()
	_, _ = fmt.Fprintf(l.w, "%6s %8d %9d %9d %7.0f (%6.0f) %7d %11s %7s %7d %12d %6d\n",
		time.Since(l.started).Round(time.Second), stats.Published, r.Pushes, stats.Backlog,
		f.Sum("rollcall_backlog", `state="held"`), f.Sum("rollcall_backlog", `state="held"`, `"throttled"`),
		l.run.dirtyCount(ctx), p50.Round(time.Millisecond), p95.Round(time.Millisecond), r.Scans, r.Misassigned.Total, r.Answers45009)
}

// say tells what the campaign does.
func (l *live) say(format string, args ...any) {
	if l.w != nil {
		_, _ = fmt.Fprintf(l.w, "%6s %s\n", time.Since(l.started).Round(time.Second), fmt.Sprintf(format, args...))
	}
}
