package adoption

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rollcall-dev/rollcall/internal/fanout"
)

// why is the reason of the events of an import.
const why = "imported"

// run is one process's work on an import.
type run struct {
	*Importer
	job     Job
	row     *Row      // the row that is gone through; nil: none
	unsaved int       // contact ways gone through since the progress was written
	next    time.Time // when the next call may be made
	blocked int       // answers in a row that there were too many calls
}

func (r *run) carryOut(ctx context.Context) error {
	if err := r.Jobs.Clear(ctx, r.job); err != nil {
		return fmt.Errorf("remove the rows of earlier imports: %w", err)
	}
	if r.job.State == Listing {
		if err := r.list(ctx); err != nil {
			return err
		}
	}
	for r.job.Row < r.job.Rows {
		if err := r.adoptRow(ctx); err != nil {
			return err
		}
	}
	if err := r.announceStaff(ctx); err != nil {
		return err
	}
	r.job.State, r.job.Finished = Done, r.opts.Now()
	return r.save(ctx)
}

// announceStaff has the codes that the tenant had before recomputed: who became
// known as a staff member may have been missing on one of them.
func (r *run) announceStaff(ctx context.Context) error {
	if !r.job.HadCodes || r.job.Imported == 0 {
		return nil
	}
	_, err := r.FanOuts.Request(ctx, fanout.Request{
		Scope: fanout.Scope{Tenant: r.job.Tenant}, Why: why, At: r.opts.Now(), Key: r.job.Run,
	})
	if err != nil {
		return fmt.Errorf("have the tenant's other codes recomputed: %w", err)
	}
	return nil
}

// leave writes the progress, whatever has ended the run, and lets the next one
// begin at once.
func (r *run) leave(ctx context.Context, cause error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.opts.Margin)
	defer cancel()
	if errors.Is(cause, ErrTakenOver) {
		return
	}
	if cause != nil {
		_ = r.save(ctx) // lost, it costs a batch that is gone through once more
	}
	_ = r.Jobs.Release(ctx, r.job) // lost, it costs the rest of the claim
}

// save writes the progress, renews the claim, and learns whether it still holds.
func (r *run) save(ctx context.Context) error {
	if err := r.saveRow(ctx); err != nil {
		return err
	}
	now := r.opts.Now()
	r.job.Updated, r.job.Claim.Until = now, now.Add(r.opts.Lease)
	ours, err := r.Jobs.Save(ctx, r.job)
	if err != nil {
		return fmt.Errorf("write the progress of the import: %w", err)
	}
	if !ours {
		return ErrTakenOver
	}
	r.unsaved = 0
	r.Observer.Progressed(r.job.Copy())
	return nil
}

// saveRow writes what is left of the row; what it says of contact ways that the
// job does not count is of no account.
func (r *run) saveRow(ctx context.Context) error {
	if r.row == nil || r.unsaved == 0 {
		return nil
	}
	return r.putRow(ctx, *r.row)
}

func (r *run) putRow(ctx context.Context, row Row) error {
	ours, err := r.Jobs.PutRow(ctx, r.job, row)
	if err != nil {
		return fmt.Errorf("write row %d of the import: %w", row.Seq, err)
	}
	if !ours {
		return ErrTakenOver
	}
	return nil
}

// renew writes the progress when a third of the claim has passed, so that what
// follows has time.
func (r *run) renew(ctx context.Context) error {
	if r.job.Claim.Until.Sub(r.opts.Now()) > r.opts.Lease*2/3 {
		return nil
	}
	return r.save(ctx)
}

// within returns a ctx that ends a margin before the claim does.
func (r *run) within(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, r.job.Claim.Until.Add(-r.opts.Margin).Sub(r.opts.Now()))
}
