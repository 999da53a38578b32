package contactway

import (
	"context"
	"errors"
	"sync"

	"github.com/rollcall-dev/rollcall/internal/reason"
)

// Sweep takes the next step of the rows that are due, a bounded number a
// tenant, and returns how many of them are finished. Tenants are worked on side
// by side; one that WeCom throttles, or that cannot be called, waits for the
// next sweep. The error is of the store, or of a row that could not be worked
// on; the others were.
func (m *Maker) Sweep(ctx context.Context) (int, error) {
	tenants, err := m.Rows.DueTenants(ctx, m.opts.Now())
	if err != nil {
		return 0, err
	}
	var (
		mu       sync.Mutex
		finished int
		failed   []error
		work     sync.WaitGroup
		room     = make(chan struct{}, m.opts.Parallel)
	)
	for _, tenant := range tenants {
		room <- struct{}{}
		work.Go(func() {
			defer func() { <-room }()
			n, err := m.sweepTenant(ctx, tenant)
			mu.Lock()
			defer mu.Unlock()
			finished += n
			if err != nil {
				failed = append(failed, err)
			}
		})
	}
	work.Wait()
	return finished, errors.Join(failed...)
}

// sweepTenant works on a tenant's rows one after the other.
func (m *Maker) sweepTenant(ctx context.Context, tenant string) (finished int, err error) {
	rows, err := m.Rows.Due(ctx, tenant, m.opts.Now(), m.opts.PerSweep)
	if err != nil {
		return 0, err
	}
	var failed []error
	for _, row := range rows {
		if ctx.Err() != nil {
			return finished, errors.Join(append(failed, ctx.Err())...)
		}
		done, goOn, err := m.sweepRow(ctx, row)
		if done {
			finished++
		}
		if err != nil {
			failed = append(failed, err)
		}
		if !goOn {
			break
		}
	}
	return finished, errors.Join(failed...)
}

// sweepRow takes one row as far as it goes. goOn is false when the tenant's
// other rows would meet the same.
func (m *Maker) sweepRow(ctx context.Context, row Row) (done, goOn bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, m.opts.Step)
	defer cancel()
	_, err = m.resume(ctx, row)
	if err == nil || unwanted(err) {
		return true, true, nil
	}
	if refusal, ok := errors.AsType[*RefusedError](err); ok {
		return false, refusal.Why != reason.Credentials && refusal.Why != reason.WayCap, nil
	}
	if !errors.Is(err, ErrPending) {
		return false, true, err
	}
	now, found, err := m.Rows.Get(ctx, row.Key)
	if err != nil {
		return false, true, err
	}
	stuck := found && now.Phase == Wanted && now.Why != ""
	return false, !stuck, nil
}
