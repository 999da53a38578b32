package fanout

import (
	"context"
	"errors"
	"fmt"

	"github.com/rollcall-dev/rollcall/internal/push"
)

// errSuperseded ends a run whose claim or epoch is not the job's any more.
var errSuperseded = errors.New("superseded")

// run is one run of one job.
type run struct {
	*Runner
	job Job
}

func (r *run) end(ctx context.Context, err error) End {
	switch {
	case err == nil:
		return Finished
	case errors.Is(err, errSuperseded):
		return Superseded
	case ctx.Err() != nil:
		return Stopped
	}
	r.opts.Logger.WarnContext(ctx, "a fan-out stopped; it is continued later",
		"fan_out", r.job.ID, "epoch", r.job.Epoch, "released", r.job.Released, "error", err)
	return Failed
}

// claim takes the job. The claim before it, of whatever epoch, has ended by
// then: nothing that it has announced can still be published.
func (r *run) claim(ctx context.Context) (bool, error) {
	now := r.opts.Now()
	if r.job.State == Done || now.Before(r.job.Claim.Until) {
		return false, nil
	}
	claim := Claim{Token: r.job.Claim.Token + 1, Owner: r.opts.Owner, Until: now.Add(r.opts.Lease)}
	claimed, err := r.Store.Claim(ctx, r.job, claim, now)
	if err != nil {
		return false, fmt.Errorf("claim fan-out %s: %w", r.job.ID, err)
	}
	r.job.Claim = claim
	if r.job.Started.IsZero() {
		r.job.Started = now
	}
	return claimed, nil
}

// release lets the next one begin at once.
func (r *run) release(ctx context.Context) {
	releasing, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.opts.Margin)
	defer cancel()
	if err := r.Store.Release(releasing, r.job); err != nil {
		r.opts.Logger.WarnContext(ctx, "a fan-out's claim was not released; it runs out by itself", "fan_out", r.job.ID, "error", err)
	}
}

func (r *run) carryOut(ctx context.Context) error {
	if r.job.State == Pending {
		if err := r.list(ctx); err != nil {
			return err
		}
	}
	p := r.lend(r.job.Tenant)
	defer r.giveBack(r.job.Tenant)
	for r.job.Released < r.job.Total {
		if err := r.row(ctx, p, r.job.Released/RowSize); err != nil {
			return err
		}
	}
	r.job.State, r.job.Finished = Done, r.opts.Now()
	if err := r.save(ctx); err != nil {
		return err
	}
	return r.clear(ctx, r.job.Epoch+1) // what is left of them says nothing more
}

func (r *run) clear(ctx context.Context, before int64) error {
	if err := r.Store.Clear(ctx, r.job, before); err != nil {
		return fmt.Errorf("remove rows of fan-out %s: %w", r.job.ID, err)
	}
	return nil
}

// list writes the job's rows. A row is whole unless it is the last one, so that
// the number released says which row goes on and where.
func (r *run) list(ctx context.Context) error {
	if err := r.clear(ctx, r.job.Epoch); err != nil {
		return err
	}
	for r.job.State == Pending {
		codes, err := r.Codes.Of(ctx, r.job.Scope, r.job.Last, RowSize)
		if err != nil {
			return fmt.Errorf("list the codes of fan-out %s: %w", r.job.ID, err)
		}
		if len(codes) > 0 {
			if err := r.add(ctx, codes); err != nil {
				return err
			}
		}
		if len(codes) < RowSize {
			r.job.State = InProgress
		}
		if err := r.save(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) add(ctx context.Context, codes []string) error {
	row := Row{Seq: r.job.Rows, Codes: codes, State: Pending}
	ours, err := r.Store.AddRow(ctx, r.job, row)
	if err != nil {
		return fmt.Errorf("write row %d of fan-out %s: %w", row.Seq, r.job.ID, err)
	}
	if !ours {
		return errSuperseded
	}
	r.job.Rows++
	r.job.Total += len(codes)
	r.job.Last = codes[len(codes)-1]
	return nil
}

// row releases what is left of one row.
func (r *run) row(ctx context.Context, p *pace, seq int) error {
	row, ours, err := r.Store.TakeRow(ctx, r.job, seq)
	if err != nil {
		return fmt.Errorf("take row %d of fan-out %s: %w", seq, r.job.ID, err)
	}
	if !ours {
		if err := r.save(ctx); err != nil {
			return err // superseded
		}
		return fmt.Errorf("row %d of fan-out %s is not there", seq, r.job.ID)
	}
	for left := row.Codes[r.job.Released-seq*RowSize:]; len(left) > 0; {
		n, err := r.wait(ctx, p, len(left))
		if err != nil {
			return err
		}
		if err := r.batch(ctx, left[:n]); err != nil {
			return err
		}
		left = left[n:]
	}
	if err := r.save(ctx); err != nil { // a row that is done is counted
		return err
	}
	if err := r.Store.EndRow(ctx, r.job, seq); err != nil {
		return fmt.Errorf("end row %d of fan-out %s: %w", seq, r.job.ID, err)
	}
	return nil
}

// wait waits until some of the codes may go, and returns how many: all that the
// pace has, or those of a tenth of a second.
func (r *run) wait(ctx context.Context, p *pace, left int) (int, error) {
	most := min(left, r.opts.Batch)
	n := min(most, int(p.TokensAt(r.opts.Now())))
	if n < 1 {
		n = min(most, max(1, int(r.opts.TenantRate/10)))
	}
	if err := p.WaitN(ctx, n); err != nil {
		return 0, fmt.Errorf("wait for the pace of tenant %s: %w", r.job.Tenant, err)
	}
	return n, nil
}

// batch announces and publishes some codes. The announcement is the write that
// says so far and no longer: whoever has superseded this run makes it fail, and
// nothing is sent after the time that it names.
func (r *run) batch(ctx context.Context, codes []string) error {
	now := r.opts.Now()
	r.job.Claim.Until = now.Add(r.opts.Lease)
	if err := r.save(ctx); err != nil {
		return err
	}
	sending, cancel := context.WithTimeout(ctx, r.job.Claim.Until.Add(-r.opts.Margin).Sub(r.opts.Now()))
	defer cancel()
	if sending.Err() != nil { // the announcement took as long
		return fmt.Errorf("publish a part of fan-out %s: %w", r.job.ID, sending.Err())
	}
	refs := make([]push.Ref, len(codes))
	for i, code := range codes {
		refs[i] = push.Ref{Tenant: r.job.Tenant, Code: code}
	}
	stored, err := r.stored(ctx, refs, r.Topic.PublishAll(sending, refs, r.job.Why, now))
	r.job.Released += stored
	r.Observer.Released(ctx, r.job, stored)
	return err
}

// stored counts the codes up to the first that has to be published again. One of
// which no event can be made counts: it must not stop the others for good.
func (r *run) stored(ctx context.Context, refs []push.Ref, answers []error) (int, error) {
	for i, err := range answers {
		switch {
		case err == nil:
		case errors.Is(err, ErrUnpublishable):
			r.opts.Logger.ErrorContext(ctx, "a code is left out of a fan-out: no event can be made of it",
				"fan_out", r.job.ID, "code", refs[i].Code, "error", err)
		default:
			return i, fmt.Errorf("publish a part of fan-out %s: %w", r.job.ID, err)
		}
	}
	return len(answers), nil
}

// save writes the progress and learns whether the job is still ours.
func (r *run) save(ctx context.Context) error {
	ours, err := r.Store.Save(ctx, r.job)
	if err != nil {
		return fmt.Errorf("save the progress of fan-out %s: %w", r.job.ID, err)
	}
	if !ours {
		return errSuperseded
	}
	return nil
}
