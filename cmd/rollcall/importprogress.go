package main

import (
	"fmt"
	"io"
	"time"

	"github.com/rollcall-dev/rollcall/internal/adoption"
)

// importProgress tells a person how far an import is: on a terminal in one line
// that changes every second, elsewhere in a line every ten seconds.
type importProgress struct {
	w       io.Writer
	inPlace bool
	every   time.Duration
	now     func() time.Time

	first adoption.Job // as the import stood when this process began
	began time.Time
	shown time.Time
	open  bool // the line in place is not ended
}

func newImportProgress(w io.Writer) *importProgress {
	p := &importProgress{w: w, every: 10 * time.Second, now: time.Now}
	if onTerminal(w) {
		p.inPlace, p.every = true, time.Second
	}
	return p
}

// Progressed shows the job, if the last line is old enough.
func (p *importProgress) Progressed(job adoption.Job) {
	now := p.now()
	if p.began.IsZero() {
		p.first, p.began = job, now
	}
	if now.Sub(p.shown) < p.every {
		return
	}
	p.shown = now
	p.print(p.line(job, now))
}

// Waits says why nothing happens, and until when.
func (p *importProgress) Waits(job adoption.Job, until time.Time, cause error) {
	p.end()
	_, _ = fmt.Fprintf(p.w, "%s: waits until %s: %v\n", job.Tenant, until.Local().Format(time.TimeOnly), cause)
}

// begun reports whether the import has got to work.
func (p *importProgress) begun() bool { return !p.began.IsZero() }

// end ends a line in place.
func (p *importProgress) end() {
	if p.open {
		_, _ = fmt.Fprintln(p.w)
		p.open = false
	}
}

func (p *importProgress) print(line string) {
	if !p.inPlace {
		_, _ = fmt.Fprintln(p.w, line)
		return
	}
	_, _ = fmt.Fprint(p.w, "\r\x1b[K"+line) // to the line's begin, and it is cleared
	p.open = true
}

func (p *importProgress) line(job adoption.Job, now time.Time) string {
	if job.State == adoption.Listing {
		return fmt.Sprintf("%s: listing what was made since %s, %d so far", job.Tenant, job.Window.From.Format(time.DateOnly), job.Listed)
	}
	rate := float64(job.Done-p.first.Done) / max(now.Sub(p.began).Seconds(), 1)
	left := "not known yet"
	if d, known := job.Left(rate); known {
		left = d.Round(time.Second).String()
	}
	return fmt.Sprintf("%s: %d of %d, %.1f/s, left %s (%d imported, %d held, %d skipped, %d failed)",
		job.Tenant, job.Done, job.Listed, rate, left, job.Imported, job.Held, sum(job.Skipped), sum(job.Failed))
}

func sum(counts map[adoption.Why]int) int {
	n := 0
	for _, count := range counts {
		n += count
	}
	return n
}
