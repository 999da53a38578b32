package service

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/rollcall-dev/rollcall/internal/fanout"
	"github.com/rollcall-dev/rollcall/internal/notify"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/quota"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// spreadingStore has what one code's refresh learns of a staff member reach all
// his codes, and his company.
type spreadingStore struct {
	push.Store
	requests fanout.Requester
	notices  quota.Filer
	now      func() time.Time
}

// Quarantine requests a fan-out once the quarantine is stored. After an error
// the refresh comes again, and may do all of it again.
func (s spreadingStore) Quarantine(ctx context.Context, tenant, staff string, until time.Time, why string) error {
	if err := s.Store.Quarantine(ctx, tenant, staff, until, why); err != nil {
		return err
	}
	key := fmt.Sprintf("%s/%s/%d", reason.Quarantined, staff, until.Unix())
	_, err := s.requests.Request(ctx, fanout.Request{
		Scope: fanout.Scope{Tenant: tenant, Staff: staff}, Why: reason.Quarantined.String(), At: s.now(), Key: key,
	})
	if err != nil {
		return err
	}
	return s.notices.File(ctx, notify.Notice{
		Key: key, Tenant: tenant, Kind: notify.MemberQuarantined, Staff: staff, At: s.now(),
	})
}

// Suspend tells the company of a suspension that is a new one.
func (s spreadingStore) Suspend(ctx context.Context, tenant string, seen time.Time, suspension roster.Suspension) (bool, error) {
	won, err := s.Store.Suspend(ctx, tenant, seen, suspension)
	if err != nil || !won || !seen.IsZero() {
		return won, err
	}
	return true, s.notices.File(ctx, notify.Notice{
		Key: fmt.Sprintf("%s/%d", reason.Suspended, suspension.Since.Unix()), Tenant: tenant, Kind: notify.TenantSuspended, At: s.now(),
	})
}

// Commit tells the company, once a day, of a code on which nobody is left. It
// does so first: after a commit nobody would come back to it.
func (s spreadingStore) Commit(ctx context.Context, ref push.Ref, committed push.Committed, settled []int64, next time.Time) (bool, error) {
	if slices.Contains(committed.Notes, reason.NobodyLeft) {
		err := s.notices.File(ctx, notify.Notice{
			Key:    fmt.Sprintf("%s/%s/%s", reason.NobodyLeft, ref.Code, s.now().UTC().Format(time.DateOnly)),
			Tenant: ref.Tenant, Kind: notify.CodeNobodyLeft, Code: ref.Code, At: s.now(),
		})
		if err != nil {
			return false, err
		}
	}
	return s.Store.Commit(ctx, ref, committed, settled, next)
}
