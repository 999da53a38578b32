//go:build integration

package quota

import (
	"context"
	"os"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/rollcall-dev/rollcall/internal/fanout"
	"github.com/rollcall-dev/rollcall/internal/notify"
	"github.com/rollcall-dev/rollcall/internal/publish"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/quota"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/service"
)

// steps are the calls that a callback's way is made of.
var steps = []string{"tenant", "code", "contact", "put", "count", "refresh", "mark", "fan-out", "file", "change"}

// death ends the process in the nth call of one step.
type death struct {
	step  string
	after bool
	nth   int64
	calls atomic.Int64
}

func executioner() []service.Seams {
	d := &death{step: os.Getenv(envStep), after: os.Getenv(envAfter) != ""}
	if d.step == "" {
		return nil
	}
	d.nth, _ = strconv.ParseInt(os.Getenv(envNth), 10, 64)
	return []service.Seams{{Quota: d.stand}}
}

// stand puts the executioner between the counter and the world.
func (d *death) stand(p quota.Ports) quota.Ports {
	p.Facts = deadlyFacts{p.Facts, d}
	p.Contacts = deadlyContacts{p.Contacts, d}
	p.Counters = deadlyCounters{p.Counters, d}
	p.Staff = deadlyStaff{p.Staff, d}
	p.Publish = deadlyPublisher{p.Publish, d}
	p.FanOuts = deadlyFanOuts{p.FanOuts, d}
	p.Notices = deadlyFiler{p.Notices, d}
	return p
}

// at makes a call, and kills the process before it or after it if it is the one.
func at[T any](d *death, step string, call func() (T, error)) (T, error) {
	mine := step == d.step && d.calls.Add(1) == d.nth
	if mine && !d.after {
		die()
	}
	got, err := call()
	if mine {
		die()
	}
	return got, err
}

func die() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {} // it comes at once
}

type deadlyFacts struct {
	quota.Facts
	d *death
}

func (f deadlyFacts) Tenant(ctx context.Context, tenant string) (roster.Tenant, error) {
	return at(f.d, "tenant", func() (roster.Tenant, error) { return f.Facts.Tenant(ctx, tenant) })
}

func (f deadlyFacts) Code(ctx context.Context, ref push.Ref) (roster.Code, error) {
	return at(f.d, "code", func() (roster.Code, error) { return f.Facts.Code(ctx, ref) })
}

type deadlyContacts struct {
	quota.Contacts
	d *death
}

func (c deadlyContacts) Contact(ctx context.Context, pair quota.Pair) (quota.Contact, error) {
	return at(c.d, "contact", func() (quota.Contact, error) { return c.Contacts.Contact(ctx, pair) })
}

func (c deadlyContacts) Put(ctx context.Context, pair quota.Pair, contact quota.Contact) (bool, error) {
	return at(c.d, "put", func() (bool, error) { return c.Contacts.Put(ctx, pair, contact) })
}

type deadlyCounters struct {
	quota.Counters
	d *death
}

func (c deadlyCounters) Count(ctx context.Context, pair quota.Pair, a quota.Addition) (quota.Counts, error) {
	return at(c.d, "count", func() (quota.Counts, error) { return c.Counters.Count(ctx, pair, a) })
}

type deadlyStaff struct {
	quota.Staff
	d *death
}

func (s deadlyStaff) MarkRemoved(ctx context.Context, tenant, staff string, day roster.Day, by string) (string, error) {
	return at(s.d, "mark", func() (string, error) { return s.Staff.MarkRemoved(ctx, tenant, staff, day, by) })
}

func (s deadlyStaff) Apply(ctx context.Context, change quota.StaffChange) (quota.Staffing, error) {
	return at(s.d, "change", func() (quota.Staffing, error) { return s.Staff.Apply(ctx, change) })
}

type deadlyPublisher struct {
	quota.Publisher
	d *death
}

func (p deadlyPublisher) Refresh(ctx context.Context, ref push.Ref, why string) (publish.Place, error) {
	return at(p.d, "refresh", func() (publish.Place, error) { return p.Publisher.Refresh(ctx, ref, why) })
}

type deadlyFanOuts struct {
	fanout.Requester
	d *death
}

func (f deadlyFanOuts) Request(ctx context.Context, request fanout.Request) (fanout.Ticket, error) {
	return at(f.d, "fan-out", func() (fanout.Ticket, error) { return f.Requester.Request(ctx, request) })
}

type deadlyFiler struct {
	quota.Filer
	d *death
}

func (f deadlyFiler) File(ctx context.Context, notice notify.Notice) error {
	_, err := at(f.d, "file", func() (time.Time, error) { return time.Time{}, f.Filer.File(ctx, notice) })
	return err
}
