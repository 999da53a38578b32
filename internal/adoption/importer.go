package adoption

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/rollcall-dev/rollcall/internal/registry"
)

// Errors with which an import ends early. All but ErrTenantLive leave one that
// can be gone on with.
var (
	// ErrTenantLive refuses the import into a tenant whose lists are pushed, as
	// nobody has asked for that.
	ErrTenantLive = errors.New("the tenant has codes and its lists are pushed to WeCom")
	// ErrCredentials says that WeCom refuses the tenant's credentials, or that
	// there are none.
	ErrCredentials = errors.New("the tenant's credentials are refused, or there are none")
	// ErrUnreachable says that WeCom was asked again and again in vain.
	ErrUnreachable = errors.New("WeCom does not answer")
	// ErrTakenOver says that the claim has run out and another process has it.
	ErrTakenOver = errors.New("another process has taken the import over")
)

// BusyError refuses an import that another process is at.
type BusyError struct{ Claim Claim }

// Error names the process, and when its claim ends if it has died.
func (e *BusyError) Error() string {
	if e.Claim.Owner == "" {
		return "another process has just begun the tenant's import"
	}
	return fmt.Sprintf("%s is at the tenant's import; if it has died, its claim ends at %s",
		e.Claim.Owner, e.Claim.Until.UTC().Format(time.RFC3339))
}

// Options of an Importer. Those without a default are required.
type Options struct {
	// Owner names this process in claims, for a person.
	Owner string
	// Rate is how many calls a second are made at WeCom, more than 0.
	Rate float64
	// Lease is how long a claim holds without a renewal; default 30 s. Nothing is
	// written later than Margin before its end; default 3 s.
	Lease  time.Duration
	Margin time.Duration
	// Batch is how many contact ways are gone through between two writes of the
	// progress; default 20.
	Batch int
	// Retry and RetryMost are the first wait before a call is made again that had
	// no answer, and the longest; defaults 1 s and 30 s. After Tries calls in a
	// row the import ends; default 10.
	Retry     time.Duration
	RetryMost time.Duration
	Tries     int
	// Blocked and BlockedMost are the first wait after WeCom said that there were
	// too many calls, and the longest. Each further answer doubles it; defaults
	// 1 min and 1 h, as long as WeCom blocks an API (page 90454).
	Blocked     time.Duration
	BlockedMost time.Duration
	// Now is the clock and Wait waits, or ends with ctx; default the real ones.
	Now  func() time.Time
	Wait func(ctx context.Context, d time.Duration) error
}

func (o Options) withDefaults() Options {
	for _, d := range []struct {
		field     *time.Duration
		otherwise time.Duration
	}{
		{&o.Lease, 30 * time.Second},
		{&o.Margin, 3 * time.Second},
		{&o.Retry, time.Second},
		{&o.RetryMost, 30 * time.Second},
		{&o.Blocked, time.Minute},
		{&o.BlockedMost, time.Hour},
	} {
		if *d.field == 0 {
			*d.field = d.otherwise
		}
	}
	if o.Batch == 0 {
		o.Batch = 20
	}
	if o.Tries == 0 {
		o.Tries = 10
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Wait == nil {
		o.Wait = wait
	}
	return o
}

func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Importer carries out imports.
type Importer struct {
	Ports
	opts Options
}

// New returns an Importer.
func New(ports Ports, opts Options) *Importer {
	return &Importer{Ports: ports, opts: opts.withDefaults()}
}

// Target says into what an import may be made.
type Target int

// The targets.
const (
	IntoShadow Target = iota // a tenant whose lists are not pushed, or that has no code yet
	IntoLive                 // any tenant
)

// Import makes a code of every contact way that the tenant has at WeCom and that
// no code of it has. It goes on with an import that ended early, and else begins
// one. A tenant without a code is put into shadow mode first. The job is as it
// was left, also after an error.
func (i *Importer) Import(ctx context.Context, tenant string, target Target) (Job, error) {
	if err := registry.CheckTenantID(tenant); err != nil {
		return Job{}, err
	}
	seen, _, err := i.Jobs.Job(ctx, tenant)
	if err != nil {
		return Job{}, fmt.Errorf("read the import of %s: %w", tenant, err)
	}
	if seen.Running(i.opts.Now()) {
		return seen, &BusyError{seen.Claim}
	}
	known, err := i.admit(ctx, tenant, target)
	if err != nil {
		return seen, err
	}
	r, err := i.take(ctx, tenant, seen, known)
	if err != nil {
		return seen, err
	}
	err = r.carryOut(ctx)
	r.leave(ctx, err)
	return r.job, err
}

// admit refuses what would be pushed though nobody asked for it, and sees to it
// that a tenant without a code is not pushed.
func (i *Importer) admit(ctx context.Context, tenant string, target Target) (Tenant, error) {
	known, err := i.Facts.Tenant(ctx, tenant)
	switch {
	case err != nil:
		return known, fmt.Errorf("read tenant %s: %w", tenant, err)
	case known.Codes && !known.Shadow && target != IntoLive:
		return known, ErrTenantLive
	case !known.Codes && !known.Shadow:
		err = i.Facts.Shadow(ctx, tenant)
	}
	if err != nil {
		return known, fmt.Errorf("put tenant %s into shadow mode: %w", tenant, err)
	}
	return known, nil
}

// take claims the import that was seen, or a new one if that is done.
func (i *Importer) take(ctx context.Context, tenant string, seen Job, known Tenant) (*run, error) {
	now := i.opts.Now()
	job := seen.Copy()
	if seen.Run == "" || seen.State == Done {
		end := wholeSecond(now)
		job = Job{
			Tenant: tenant, Run: rand.Text(), State: Listing, HadCodes: known.Codes,
			End: end, Window: firstWindow(end), Started: now,
		}
	}
	job.Updated = now
	job.Claim = Claim{Token: seen.Claim.Token + 1, Owner: i.opts.Owner, Until: now.Add(i.opts.Lease)}
	took, err := i.Jobs.Take(ctx, seen, job, now)
	if err != nil {
		return nil, fmt.Errorf("claim the import of %s: %w", tenant, err)
	}
	if !took {
		return nil, &BusyError{}
	}
	return &run{Importer: i, job: job}, nil
}

// LeftOf returns the contact ways of an import that did not become codes.
func LeftOf(ctx context.Context, jobs Jobs, job Job) ([]Left, error) {
	var left []Left
	for seq := range min(job.Row+1, job.Rows) {
		row, _, err := jobs.Row(ctx, job, seq)
		if err != nil {
			return nil, fmt.Errorf("read row %d of the import of %s: %w", seq, job.Tenant, err)
		}
		left = append(left, settled(row, job)...)
	}
	return left, nil
}

// settled is what a row says of the contact ways that were gone through.
func settled(row Row, job Job) []Left {
	var left []Left
	for _, one := range row.Left {
		if row.Seq < job.Row || one.At < job.At {
			left = append(left, one)
		}
	}
	return left
}
