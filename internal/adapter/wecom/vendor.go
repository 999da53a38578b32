package wecom

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/sony/gobreaker/v2"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/recent"
)

// VendorOptions tunes Vendor. Zero values take the default.
type VendorOptions struct {
	// AnswerGrace is how long after a call's deadline for sending its answer
	// is waited for; default 5 s. It has to be within the margin after which
	// the push protocol settles an intent.
	AnswerGrace time.Duration
	// GoneCodes are the errcodes of get_contact_way that say "no such contact
	// way"; default 41044, and 41037, which was seen for one that is gone.
	GoneCodes []int
	// TenantFailures in a row open a tenant's breaker; default 5.
	TenantFailures int
	// VendorFailures, when they are half of the calls of the last
	// VendorWindow, open the breaker for all; default 20 within 10 s.
	VendorFailures int
	VendorWindow   time.Duration
	// Open is how long a breaker stays open before it lets probes through, one
	// for a tenant's and three for the vendor's; default 10 s.
	Open time.Duration
	// MaxTenants bounds the tenants with a breaker of their own; the one not
	// called for longest loses its state; default 65 536.
	MaxTenants int
}

func (o VendorOptions) withDefaults() VendorOptions {
	o.AnswerGrace = orDefault(o.AnswerGrace, 5*time.Second)
	o.TenantFailures = orDefault(o.TenantFailures, 5)
	o.VendorFailures = orDefault(o.VendorFailures, 20)
	o.VendorWindow = orDefault(o.VendorWindow, 10*time.Second)
	o.Open = orDefault(o.Open, 10*time.Second)
	o.MaxTenants = orDefault(o.MaxTenants, 1<<16)
	if o.GoneCodes == nil {
		o.GoneCodes = []int{codeConfigUnknown, codeTypeMissing}
	}
	return o
}

// Vendor is push.Vendor over a Client, behind a circuit breaker for each
// tenant and one for all. Only failures of WeCom's side open them: no
// connection, no answer, HTTP 5xx, errcode -1. A refusal (45009, a bad member,
// credentials) is an answer. It is safe for concurrent use.
type Vendor struct {
	client  *Client
	options VendorOptions
	all     *breaker
	tenants *recent.Map[string, *breaker]
}

var _ push.Vendor = (*Vendor)(nil)

// NewVendor returns the vendor with all breakers closed.
func NewVendor(client *Client, options VendorOptions) *Vendor {
	options = options.withDefaults()
	failures := uint32(options.VendorFailures)
	return &Vendor{
		client:  client,
		options: options,
		tenants: recent.NewMap[string, *breaker](options.MaxTenants),
		all: newBreaker(breakerConfig{
			scope: "vendor", window: options.VendorWindow, open: options.Open, probes: 3,
			trips: func(c gobreaker.Counts) bool {
				return c.TotalFailures >= failures && c.TotalFailures >= c.TotalSuccesses
			},
		}),
	}
}

// Update replaces the list of a contact way. It is not sent after the call's
// deadline, and its answer is not waited for longer than AnswerGrace after it.
// While a breaker is open the error is a *push.CallError of class
// reason.BreakerOpen that wraps a *NotBeforeError.
func (v *Vendor) Update(ctx context.Context, call push.Call) error {
	if !call.Deadline.IsZero() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, call.Deadline.Add(v.options.AnswerGrace))
		defer cancel()
	}
	return v.guard(ctx, call.Tenant, OpUpdate, func() error {
		return v.client.UpdateContactWay(ctx, call.Tenant, UpdateContactWayRequest{
			ConfigID:   call.ConfigID,
			Remark:     call.Remark,
			SkipVerify: call.SkipVerify,
			State:      call.State,
			User:       call.Members,
			SendBy:     call.Deadline,
		})
	})
}

// Exists reports whether WeCom has the contact way. Its errors are those of
// Update, never unknown.
func (v *Vendor) Exists(ctx context.Context, ref push.Ref, configID string) (bool, error) {
	err := v.guard(ctx, ref.Tenant, OpGet, func() error {
		_, err := v.client.GetContactWay(ctx, ref.Tenant, configID)
		return err
	})
	if v.gone(err, OpGet) {
		return false, nil
	}
	return err == nil, err
}

// gone reports whether WeCom answered a call of op that it has no such contact
// way.
func (v *Vendor) gone(err error, op string) bool {
	call, ok := errors.AsType[*push.CallError](err)
	return ok && call.Op == op && slices.Contains(v.options.GoneCodes, call.ErrCode)
}

// Allow reports whether a call of the tenant would get past the breakers now;
// if not, until is when to ask again. It takes no probe's place, so a call
// that follows may still be refused.
func (v *Vendor) Allow(tenant string) (ok bool, until time.Time) {
	tenantOK, tenantUntil := v.breakerOf(tenant).peek()
	allOK, allUntil := v.all.peek()
	if tenantUntil.After(allUntil) {
		return tenantOK && allOK, tenantUntil
	}
	return tenantOK && allOK, allUntil
}

// guard makes a call if both breakers let it through and tells both its end.
func (v *Vendor) guard(ctx context.Context, tenant, op string, run func() error) (err error) {
	own := v.breakerOf(tenant)
	ownDone, until := own.enter()
	if ownDone == nil {
		return openError(op, until)
	}
	allDone, until := v.all.enter()
	if allDone == nil {
		err = openError(op, until)
		ownDone(err)
		return err
	}
	err = errAbandoned
	defer func() {
		ownDone(err)
		allDone(err)
		own.announce(ctx, v.client.endpoint)
		v.all.announce(ctx, v.client.endpoint)
	}()
	err = run()
	return err
}

func openError(op string, until time.Time) error {
	return &push.CallError{
		Op: op, Class: reason.BreakerOpen,
		Err: &NotBeforeError{Until: until, Reason: reason.BreakerOpen},
	}
}

func (v *Vendor) breakerOf(tenant string) *breaker {
	return v.tenants.GetOrPut(tenant, func() *breaker {
		failures := uint32(v.options.TenantFailures)
		return newBreaker(breakerConfig{
			scope: "tenant", tenant: tenant, open: v.options.Open, probes: 1,
			trips: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= failures },
		})
	})
}
