package quota

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/rollcall-dev/rollcall/internal/notify"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

// Standing is what WeCom says of a staff member's account.
type Standing string

// The standings.
const (
	// Active members may serve customers.
	Active Standing = "active"
	// Inactive members are disabled or not activated: WeCom refuses a list
	// with one.
	Inactive Standing = "inactive"
	// Gone members have left the company.
	Gone Standing = "gone"
)

// StaffChange is what WeCom told of a staff member (change_contact, WeCom's
// pages 90970 and 90971).
type StaffChange struct {
	Tenant   string
	Staff    string
	Standing Standing // "" is left as it is
	// Renamed is the member's new ID; "" when it stays.
	Renamed string
	// Departments are the IDs of those he is in; nil is left as it is.
	Departments []int64
	At          time.Time // in whole seconds
}

// Staffing says what became of a change.
type Staffing string

// What becomes of a change of a staff member.
const (
	Applied Staffing = "applied"
	// Unlisted: nobody of that name is known here, so no list changes.
	Unlisted Staffing = "unlisted"
	// Outdated: a later change was told before; all that follows, followed
	// from that.
	Outdated Staffing = "outdated"
)

// Change takes in a change of a staff member: the fact first, then a fan-out
// over all his codes, then a notice. When it returns nil all of it is durable;
// it may be repeated.
func (c *Counter) Change(ctx context.Context, change StaffChange) (Staffing, error) {
	staffing, err := c.Staff.Apply(ctx, change)
	if err != nil {
		return "", fmt.Errorf("take a change of staff of tenant %s: %w", change.Tenant, err)
	}
	if staffing != Applied {
		return staffing, nil
	}
	why := change.why()
	by := change.Staff + "/" + strconv.FormatInt(change.At.Unix(), 10)
	if err := c.fanOut(ctx, change.Tenant, change.Staff, why, by); err != nil {
		return "", fmt.Errorf("take a change of staff of tenant %s: %w", change.Tenant, err)
	}
	c.Observer.Fell(ctx, why)
	if notice, tells := change.notice(by); tells {
		if err := c.Notices.File(ctx, notice); err != nil {
			return "", fmt.Errorf("take a change of staff of tenant %s: %w", change.Tenant, err)
		}
	}
	return Applied, nil
}

func (s StaffChange) why() reason.Reason {
	switch {
	case s.Standing == Gone, s.Renamed != "":
		return reason.Resigned
	case s.Standing == Inactive:
		return reason.Quarantined
	}
	return reason.StaffChanged
}

// notice tells of what people have to do something about.
func (s StaffChange) notice(by string) (notify.Notice, bool) {
	why := s.why()
	return notify.Notice{
		Key: why.String() + "/" + by, Tenant: s.Tenant, Kind: notify.Kind(why), Staff: s.Staff, At: s.At,
	}, why != reason.StaffChanged
}
