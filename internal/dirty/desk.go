package dirty

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/rollcall-dev/rollcall/internal/decision"
	"github.com/rollcall-dev/rollcall/internal/ident"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

// Seen is an entry as somebody saw it. Version is another one after every
// change, and none is used twice.
type Seen struct {
	push.Ref
	Version string
	About   string // its reasons and detail, for the record of a decision
}

// Set is the dirty set, as an operator needs it.
type Set interface {
	// Get returns the entry of a code and whether it is dirty.
	Get(ctx context.Context, ref push.Ref) (Seen, bool, error)
	// OfCode returns the entries of a code, whatever the tenant.
	OfCode(ctx context.Context, code string) ([]Seen, error)
	// OfReason returns at most limit entries of a tenant that have a reason among
	// theirs.
	OfReason(ctx context.Context, tenant string, why reason.Reason, limit int) ([]Seen, error)
	// DueNow makes an entry due at now, or leaves it due earlier. False: it is not
	// as it was seen.
	DueNow(ctx context.Context, seen Seen, now time.Time) (bool, error)
	// Drop removes an entry. False: it is not as it was seen.
	Drop(ctx context.Context, seen Seen) (bool, error)
}

// What an operator is told.
var (
	ErrNotDirty = errors.New("it is not in the dirty set")
	ErrChanged  = errors.New("it was marked, postponed or finished meanwhile: look at it and try again")
	ErrNoReason = errors.New("a code that is given up needs a reason: --reason TEXT")
)

// MostAtOnce bounds what one decision makes due. The keeper releases at the
// tenants' pace; the bound is for the operator, who sees what was done.
const MostAtOnce = 1000

// Desk is where an operator decides about dirty codes.
type Desk struct {
	Set  Set
	Book decision.Book
	Now  func() time.Time
	By   string // the operator
}

// Find returns the entry that a text names: "tenant/code", or the code alone
// when only one tenant's entry has it. Its errors wrap ErrNotDirty.
func (d Desk) Find(ctx context.Context, name string) (Seen, error) {
	tenant, code, whole := strings.Cut(name, "/")
	if !whole {
		return d.ofCode(ctx, name)
	}
	if !ident.Tenant(tenant) || !ident.Code(code) {
		return Seen{}, fmt.Errorf("%q names no code: want CODE or TENANT/CODE", name)
	}
	seen, found, err := d.Set.Get(ctx, push.Ref{Tenant: tenant, Code: code})
	if err == nil && !found {
		err = fmt.Errorf("code %s: %w", name, ErrNotDirty)
	}
	return seen, err
}

func (d Desk) ofCode(ctx context.Context, code string) (Seen, error) {
	if !ident.Code(code) {
		return Seen{}, fmt.Errorf("%q names no code: want CODE or TENANT/CODE", code)
	}
	entries, err := d.Set.OfCode(ctx, code)
	switch {
	case err != nil:
		return Seen{}, err
	case len(entries) == 0:
		return Seen{}, fmt.Errorf("code %s: %w", code, ErrNotDirty)
	case len(entries) > 1:
		names := make([]string, len(entries))
		for i, entry := range entries {
			names[i] = entry.Tenant + "/" + entry.Code
		}
		return Seen{}, fmt.Errorf("events have named several tenants for code %s: say which of %s", code, strings.Join(names, ", "))
	}
	return entries[0], nil
}

// Retry makes a code due now; why may be "". The keeper publishes it with its
// next sweep.
func (d Desk) Retry(ctx context.Context, name, why string) (push.Ref, error) {
	seen, err := d.Find(ctx, name)
	if err != nil {
		return push.Ref{}, err
	}
	now := d.Now()
	return seen.Ref, d.take(ctx, decision.RetryDirty, seen, why, func(ctx context.Context) (bool, error) {
		return d.Set.DueNow(ctx, seen, now)
	})
}

// Drop takes a code out of the set. Nothing recomputes it until its next event.
func (d Desk) Drop(ctx context.Context, name, why string) (push.Ref, error) {
	if strings.TrimSpace(why) == "" {
		return push.Ref{}, ErrNoReason
	}
	seen, err := d.Find(ctx, name)
	if err != nil {
		return push.Ref{}, err
	}
	return seen.Ref, d.take(ctx, decision.DropDirty, seen, why, func(ctx context.Context) (bool, error) {
		return d.Set.Drop(ctx, seen)
	})
}

func (d Desk) take(ctx context.Context, action decision.Action, seen Seen, why string, write func(context.Context) (bool, error)) error {
	name := seen.Tenant + "/" + seen.Code
	taken := decision.New(d.By, action, "dirty "+name, d.Now())
	taken.Tenant, taken.Code, taken.Reason, taken.Detail = seen.Tenant, seen.Code, why, seen.About
	return decision.Take(ctx, d.Book, taken, func(ctx context.Context) error {
		written, err := write(ctx)
		if err == nil && !written {
			err = fmt.Errorf("code %s: %w", name, ErrChanged)
		}
		return err
	})
}

// Retried is what became of many.
type Retried struct {
	Due     int // are due now
	Changed int // had changed since they were listed, and were left alone
}

// RetryAll makes at most limit codes of a tenant due now that have a reason
// among theirs, as one decision. limit is 1 to MostAtOnce.
func (d Desk) RetryAll(ctx context.Context, tenant string, cause reason.Reason, limit int, why string) (Retried, error) {
	var done Retried
	entries, err := d.Set.OfReason(ctx, tenant, cause, min(max(limit, 1), MostAtOnce))
	if err != nil || len(entries) == 0 {
		return done, err
	}
	now := d.Now()
	taken := decision.New(d.By, decision.RetryDirty, fmt.Sprintf("%d dirty of %s with %s", len(entries), tenant, cause), now)
	taken.Tenant, taken.Reason = tenant, why
	taken.Detail = fmt.Sprintf("from %s to %s", entries[0].Code, entries[len(entries)-1].Code)
	err = decision.Take(ctx, d.Book, taken, func(ctx context.Context) error {
		for _, seen := range entries {
			written, err := d.Set.DueNow(ctx, seen, now)
			if err != nil {
				return fmt.Errorf("after %d of %d: %w", done.Due, len(entries), err)
			}
			if written {
				done.Due++
			} else {
				done.Changed++
			}
		}
		return nil
	})
	return done, err
}
