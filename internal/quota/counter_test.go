package quota_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/fanout"
	"github.com/rollcall-dev/rollcall/internal/fanout/fanouttest"
	"github.com/rollcall-dev/rollcall/internal/notify"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/quota"
	"github.com/rollcall-dev/rollcall/internal/quota/quotatest"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/suitetest"
)

var errPort = errors.New("the port is away")

func TestCounterTakes(t *testing.T) {
	r := newRig()
	half := added("wm-1", 1)
	half.Change = quota.HalfAdded
	r.take(t, half, quota.Counted)
	r.take(t, added("wm-1", 5), quota.Merged)
	r.take(t, added("wm-1", 5), quota.Repeated)
	r.wantCounters(t, 1)
	r.wantOpen(t, 0)
	suitetest.WantSame(t, "refreshes", map[push.Ref]int{code: 1}, r.out.refreshs)

	end := quota.Event{Pair: half.Pair, Change: quota.Unfollowed, At: noon.Add(time.Minute)}
	r.take(t, end, quota.Ended)
	r.take(t, added("wm-1", 90), quota.Counted)
	r.wantCounters(t, 2)
	suitetest.WantSame(t, "judgements", map[quota.Judgement]int{
		quota.Counted: 2, quota.Merged: 1, quota.Repeated: 1, quota.Ended: 1,
	}, r.out.judged)
}

func TestTwoCustomersInOneSecondAreTwo(t *testing.T) {
	r := newRig()
	r.take(t, added("wm-1", 1), quota.Counted)
	r.take(t, added("wm-2", 1), quota.Counted)
	for range 2 {
		r.take(t, added("wm-1", 1), quota.Repeated)
		r.take(t, added("wm-2", 1), quota.Repeated)
	}
	r.wantCounters(t, 2)
}

func TestEventsThatAreNobodys(t *testing.T) {
	r := newRig()
	for _, state := range []string{"", "elsewhere", "code-s"} {
		event := added("wm-1", 1)
		event.State = state
		r.take(t, event, quota.NoCode)
	}
	r.wantCounters(t, 0)
	suitetest.WantSame(t, "contacts", map[quota.Pair]quota.Contact{}, r.store.Contacts())
	suitetest.WantSame(t, "judgements", map[quota.Judgement]int{quota.NoCode: 3}, r.out.judged)

	event := added("wm-1", 1)
	event.Tenant = "globex"
	if judgement, err := r.Take(t.Context(), event); judgement != "" || !errors.Is(err, quota.ErrUnknownTenant) {
		t.Errorf("Take of an unknown tenant's = %q, %v", judgement, err)
	}
	r.store.PutTenant(roster.Tenant{ID: "acme", TimeZone: "Mars/Olympus"})
	if judgement, err := r.Take(t.Context(), added("wm-1", 1)); judgement != "" || err == nil {
		t.Errorf("Take without a time zone = %q, %v; want an error", judgement, err)
	}
}

// The first addition reaches the day's ceiling on the code, the second the
// company's, the third the code's.
func TestWhatFollowsFromCeilings(t *testing.T) {
	r := newRig()
	notice := func(kind reason.Reason, n, limit int, in, key string) notify.Notice {
		return notify.Notice{
			Key: key, Tenant: "acme", Kind: notify.Kind(kind), Code: in, Staff: "li.na", Day: "20261130",
			Count: n, Limit: limit, At: noon.Add(time.Duration(n) * time.Second),
		}
	}
	want := map[told]notify.Notice{}
	file := func(n notify.Notice) { want[told{"acme", n.Key}] = n }

	r.take(t, added("wm-1", 1), quota.Counted)
	file(notice(reason.AtDailyLimit, 1, 1, "code-s", "at_daily_limit/code-s/li.na/20261130"))
	suitetest.WantSame(t, "notices", want, r.out.notices)
	suitetest.WantSame(t, "fan-outs", []string{}, r.out.requested())

	r.take(t, added("wm-2", 2), quota.Counted)
	file(notice(reason.AtCompanyLimit, 2, 2, "", "at_company_limit/li.na/20261130"))
	suitetest.WantSame(t, "notices", want, r.out.notices)
	winner := r.addition(t, "wm-2").ID
	requests := map[string]fanout.Request{
		"removed_today/" + winner: {
			Scope: fanout.Scope{Tenant: "acme", Staff: "li.na"}, Why: "removed_today",
			At: r.clock.Now(), Key: "removed_today/" + winner,
		},
	}
	suitetest.WantSame(t, "fan-outs", requests, r.out.requests)

	r.take(t, added("wm-3", 3), quota.Counted)
	file(notice(reason.AtAddLimit, 3, 3, "code-s", "at_add_limit/code-s/li.na/3"))
	suitetest.WantSame(t, "notices", want, r.out.notices)
	suitetest.WantSame(t, "fan-outs", requests, r.out.requests)
	if on := r.store.Facts(code).Staff["li.na"].RemovedOn; on != "20261130" {
		t.Errorf("removed on %q", on)
	}
	suitetest.WantSame(t, "additions at a ceiling", map[reason.Reason]int{
		reason.AtDailyLimit: 3, reason.AtCompanyLimit: 2, reason.AtAddLimit: 1,
	}, r.out.reached)
	suitetest.WantSame(t, "fan-outs told of", map[reason.Reason]int{reason.RemovedToday: 1}, r.out.fell)
}

// The first of two attempts at the first addition counted it below the ceiling;
// the second one marks the member, as the second customer is counted by then,
// and dies. The first calls the addition done, so the second customer's has to
// have the fan-out requested.
func TestAMarkWhoseWinnerDied(t *testing.T) {
	r := newRig()
	within := 0
	r.out.Before = func(_ context.Context, op string) error {
		if op != opRefresh {
			return nil
		}
		switch within++; within {
		case 1:
			r.take(t, added("wm-2", 2), quota.Counted)
		case 2:
			marked := func(int) bool { return r.store.Facts(code).Staff["li.na"].RemovedOn != "" }
			process, ctx := fanouttest.NewProcess(t.Context(), marked)
			defer process.End()
			if _, err := r.Take(ctx, added("wm-1", 1)); !errors.Is(err, fanouttest.ErrCutOff) {
				t.Errorf("Take = %v", err)
			}
			if op := process.CutOff(); op != quotatest.OpMarkRemoved {
				t.Errorf("cut off in %q", op)
			}
		}
		return nil
	}
	r.take(t, added("wm-1", 1), quota.Counted)
	r.wantCounters(t, 2)
	r.wantOpen(t, 0)
	suitetest.WantSame(t, "fan-outs", []string{"removed_today/" + r.addition(t, "wm-1").ID}, r.out.requested())
	suitetest.WantSame(t, "notices", []string{"at_company_limit/li.na/20261130", "at_daily_limit/code-s/li.na/20261130"}, r.out.filed())
}

// A limit of the code that was raised and reached again is told again.
func TestARaisedLimitIsToldAgain(t *testing.T) {
	r := newRig()
	for i, customer := range []string{"a", "b", "c", "d", "e"} {
		if customer == "d" {
			raised := r.store.Facts(code).Code
			raised.Members[0].AddLimit = 5
			r.store.PutCode(raised)
		}
		r.take(t, added(customer, i), quota.Counted)
	}
	for _, key := range []string{"at_add_limit/code-s/li.na/3", "at_add_limit/code-s/li.na/5"} {
		if _, filed := r.out.notices[told{"acme", key}]; !filed {
			t.Errorf("nobody was told of %s: %v", key, r.out.filed())
		}
	}
}

// A code that was removed while its customer was on the way counts, for the
// company's ceiling too.
func TestACodeThatIsRemovedMeanwhile(t *testing.T) {
	r := newRig()
	r.take(t, added("wm-1", 1), quota.Counted)
	r.store.Before = func(_ context.Context, op string) error {
		if op == quotatest.OpCountCode {
			r.store.RemoveCode(code.Code)
		}
		return nil
	}
	r.take(t, added("wm-2", 2), quota.Counted)
	r.wantCounters(t, 2)
	suitetest.WantSame(t, "notices", []string{"at_company_limit/li.na/20261130", "at_daily_limit/code-s/li.na/20261130"}, r.out.filed())
}

// Of somebody whom no facts know only the code counts.
func TestSomebodyUnknown(t *testing.T) {
	r := newRig()
	event := added("wm-1", 1)
	event.Staff = "lina"
	r.take(t, event, quota.Counted)
	if n := r.store.Facts(code).Counters.Total["lina"]; n != 1 {
		t.Errorf("%d additions, want 1", n)
	}
	suitetest.WantSame(t, "fan-outs", []string{}, r.out.requested())
}

// A port that fails, ahead of its effect or behind it, makes Take fail, and the
// repeat counts exactly once.
func TestPortsThatFail(t *testing.T) {
	ops := []string{
		quotatest.OpTenant, quotatest.OpCodeWith, quotatest.OpContact, quotatest.OpPut, quotatest.OpCountCode,
		quotatest.OpCountStaff, opRefresh, quotatest.OpCode, quotatest.OpMarkRemoved, opRequest, opFile,
	}
	for _, op := range ops {
		for name, effect := range map[string]bool{"ahead of its effect": false, "behind its effect": true} {
			t.Run(op+" "+name, func(t *testing.T) {
				r := newRig()
				r.take(t, added("wm-1", 1), quota.Counted) // at the ceiling with the next
				fail := func(_ context.Context, now string) error {
					if now == op {
						return errPort
					}
					return nil
				}
				hook := &r.store.Hooks
				if strings.HasPrefix(op, "publish") || strings.HasPrefix(op, "fan_outs") || strings.HasPrefix(op, "notices") {
					hook = &r.out.Hooks
				}
				if effect {
					hook.After = fail
				} else {
					hook.Before = fail
				}
				if _, err := r.Take(t.Context(), added("wm-2", 2)); !errors.Is(err, errPort) {
					t.Fatalf("Take = %v, want %v", err, errPort)
				}
				hook.Before, hook.After = nil, nil
				if _, err := r.Take(t.Context(), added("wm-2", 2)); err != nil {
					t.Fatalf("the repeat: %v", err)
				}
				r.wantSecond(t)
			})
		}
	}
}

// wantSecond fails unless two additions are counted, the second at the
// company's ceiling, and everything that follows is there.
func (r *rig) wantSecond(t *testing.T) {
	t.Helper()
	r.wantCounters(t, 2)
	r.wantOpen(t, 0)
	suitetest.WantSame(t, "fan-outs", []string{"removed_today/" + r.addition(t, "wm-2").ID}, r.out.requested())
	suitetest.WantSame(t, "notices", []string{"at_company_limit/li.na/20261130", "at_daily_limit/code-s/li.na/20261130"}, r.out.filed())
	if r.out.saw[code] != 2 {
		t.Errorf("the last refresh saw %d additions, want 2", r.out.saw[code])
	}
	if on := r.store.Facts(code).Staff["li.na"].RemovedOn; on != "20261130" {
		t.Errorf("removed on %q", on)
	}
}

// A contact that somebody else writes at every attempt is an error, and one
// that is written now and then is none.
func TestContendedContacts(t *testing.T) {
	tests := map[string]struct {
		lost int
		want bool
	}{"now and then": {3, true}, "at every attempt": {1000, false}}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRig()
			r.Contacts = &contended{Contacts: r.store, left: test.lost}
			judgement, err := r.Take(t.Context(), added("wm-1", 1))
			if (err == nil) != test.want {
				t.Fatalf("Take = %q, %v", judgement, err)
			}
			if test.want {
				r.wantCounters(t, 1)
				r.wantOpen(t, 0)
			}
		})
	}
}

// contended loses some writes to others.
type contended struct {
	quota.Contacts
	left int
}

func (c *contended) Put(ctx context.Context, pair quota.Pair, contact quota.Contact) (bool, error) {
	if c.left > 0 {
		c.left--
		return false, nil
	}
	return c.Contacts.Put(ctx, pair, contact)
}

// addition is the one of a customer and li.na.
func (r *rig) addition(t *testing.T, customer string) quota.Addition {
	t.Helper()
	contact := r.store.Contacts()[quota.Pair{Tenant: "acme", Staff: "li.na", Customer: customer}]
	if len(contact.Additions) != 1 {
		t.Fatalf("customer %s has %d additions, want 1", customer, len(contact.Additions))
	}
	return contact.Additions[0]
}

// Whoever draws is told of what the company has counted; that he cannot be told
// does not keep an addition from being counted.
func TestTheLedgersAreTold(t *testing.T) {
	r := newRig()
	ledgers := &ledgers{}
	r.Ledgers = ledgers
	for i := range 2 {
		if got, err := r.Take(t.Context(), added(fmt.Sprint("wm", i), i)); got != quota.Counted || err != nil {
			t.Fatalf("Take = %q, %v", got, err)
		}
		ledgers.err = errPort
	}
	midnight := time.Date(2026, 12, 1, 0, 0, 0, 0, time.FixedZone("Asia/Shanghai", 8*60*60)).Unix()
	suitetest.WantSame(t, "told", []roster.Seat{
		{Staff: "li.na", Counted: 1, Company: roster.CompanyDay{Total: 2, Counted: 1, Until: midnight}},
		{Staff: "li.na", Counted: 2, Company: roster.CompanyDay{Total: 2, Counted: 2, Until: midnight}},
	}, ledgers.told)
}

type ledgers struct {
	told []roster.Seat
	err  error
}

func (l *ledgers) Tell(_ context.Context, ref push.Ref, counted roster.Seat) error {
	if ref == code {
		l.told = append(l.told, counted)
	}
	return l.err
}
