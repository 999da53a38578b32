package service

import (
	"context"
	"fmt"
	"time"

	"github.com/rollcall-dev/rollcall/internal/fanout"
	"github.com/rollcall-dev/rollcall/internal/notify"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/quota"
	"github.com/rollcall-dev/rollcall/internal/reason"
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
