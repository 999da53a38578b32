package notify_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/notify"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// What a receiver says, try after try, and what becomes of the delivery within
// ten minutes.
func TestWhatBecomesOfADelivery(t *testing.T) {
	busy := notify.Again{Cause: reason.Transient, Detail: "http 503"}
	for _, tc := range []struct {
		name   string
		says   []notify.Outcome
		want   notify.State
		cause  reason.Reason
		sends  int
		counts map[string]int
	}{
		{"it is taken", []notify.Outcome{notify.Accepted{}}, notify.Success, "", 1, map[string]int{"in_progress": 1, "sending": 1, "success": 1}},
		{"it is taken at the third try", []notify.Outcome{busy, busy, notify.Accepted{}}, notify.Success, "", 3, map[string]int{"pending": 2, "in_progress": 3, "sending": 3, "success": 1}},
		{"it is not taken at all", []notify.Outcome{busy}, notify.Failed, reason.Transient, 3, map[string]int{"pending": 2, "in_progress": 3, "sending": 3, "failed": 1}},
		{"it is refused", []notify.Outcome{notify.Refused{Cause: reason.Refused, Detail: "http 410"}}, notify.Failed, reason.Refused, 1, map[string]int{"in_progress": 1, "sending": 1, "failed": 1}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				r.hook.say = says(tc.says...)
				id := r.file("acme", "a")[0]
				r.sweepFor(10 * time.Minute)
				r.wantState(id, tc.want)
				if row := r.row(id); row.Cause != tc.cause || row.Owner != "" || !row.Due.IsZero() {
					t.Errorf("at its end it is of %q, due %s because of %q; want nobody, never, %q", row.Owner, row.Due, row.Cause, tc.cause)
				}
				sent := r.hook.got()
				if len(sent) != tc.sends || sent[0].ID != id || sent[0].Notice.Key != "a" {
					t.Errorf("sent %v; want %s %d times", sent, id, tc.sends)
				}
				if all := slices.Compact(sent); len(all) != 1 {
					t.Errorf("tries differ: %v", all)
				}
				if days := r.Paid("acme", id); len(days) != 1 {
					t.Errorf("paid by %v; want one day", days)
				}
				counts := map[string]int{"at_daily_limit filed": 1, "webhook pending": 1}
				for state, n := range tc.counts {
					counts["webhook "+state] += n
				}
				if diff := cmp.Diff(counts, r.book.counted()); diff != "" {
					t.Error("counted:\n" + diff)
				}
			})
		})
	}
}

// What was given up is in the log, with the cause.
func TestGivingUpIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.hook.say = says(notify.Refused{Cause: reason.Refused, Detail: "http 410"})
		id := r.file("acme", "a")[0]
		r.sweep()
		for _, word := range []string{"acme", id, "webhook", "refused", "http 410"} {
			if !strings.Contains(r.log.String(), word) {
				t.Errorf("no %q in %s", word, r.log)
			}
		}
	})
}

// Beyond the pool deliveries are held and an operator is told; at the tenant's
// midnight they go on, those filed first before others.
func TestThePoolOfTheDay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		resumer := notify.NewResumer(r.Memory, r.Memory, r.dir, r.book, 3, time.Now)
		resume := func() {
			if err := resumer.Sweep(t.Context()); err != nil {
				t.Error(err)
			}
			r.sweep()
		}
		wait(15 * time.Hour) // 23:00 in Shanghai
		var ids []string
		for i := range 5 {
			ids = append(ids, r.file("acme", fmt.Sprint(i))...)
			r.sweep()
			wait(time.Minute)
		}
		for range 3 {
			resume()
		}
		for i, id := range ids {
			r.wantState(id, map[bool]notify.State{true: notify.Success, false: notify.Held}[i < 3])
		}
		if n, _ := r.Spent(t.Context(), "acme", "20000101"); n != 3 {
			t.Errorf("%d spent; want 3", n)
		}
		if len(r.book.alerts) != 2 || r.book.alerts[0].Kind != reason.PoolExhausted || r.book.alerts[0].Tenant != "acme" {
			t.Errorf("an operator was told %v", r.book.alerts)
		}
		// A larger pool lets one go on, and no more.
		r.dir.put("acme", notify.Channels{Webhook: hook, DailyPool: 4})
		resume()
		r.wantState(ids[3], notify.Success)
		r.wantState(ids[4], notify.Held)
		wait(time.Hour)
		resume()
		r.wantState(ids[4], notify.Success)
		if days := r.Paid("acme", ids[4]); !slices.Equal(days, []roster.Day{"20000102"}) {
			t.Errorf("paid by %v; want the next day", days)
		}
	})
}

// A delivery that waits over midnight for its next try is not paid for again.
func TestTriesOfTwoDaysAreOneDebit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.hook.say = says(notify.Again{Cause: reason.Throttled, After: time.Hour}, notify.Accepted{})
		pools := &countingPools{Pools: r.Memory}
		r.ports.Pools = pools
		r.d = notify.NewDispatcher(r.ports, r.opts)
		wait(15*time.Hour + 30*time.Minute)
		id := r.file("acme", "a")[0]
		r.sweepFor(2 * time.Hour)
		r.wantState(id, notify.Success)
		if days := r.Paid("acme", id); !slices.Equal(days, []roster.Day{"20000101"}) {
			t.Errorf("paid by %v; want the day of the first try", days)
		}
		if n := pools.debits.Load(); n != 1 {
			t.Errorf("the pools were asked %d times; want once", n)
		}
	})
}

// Whoever dies between the debit and what follows leaves a row that the same
// day pays for, also when that day is over.
func TestADebitBeforeACrashCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		wait(16*time.Hour - time.Second)
		id := r.file("acme", "a")[0]
		r.ports.Pools = crashingPools{r.Memory}
		notify.NewDispatcher(r.ports, r.opts).Sweep(t.Context())
		synctest.Wait()
		r.wantState(id, notify.InProgress)
		wait(time.Minute)
		r.sweep()
		r.wantState(id, notify.Success)
		if days := r.Paid("acme", id); !slices.Equal(days, []roster.Day{"20000101"}) {
			t.Errorf("paid by %v; want the day that was asked first, once", days)
		}
	})
}

// What an owner left behind goes on when his time is up, not before, and with
// the same idempotency key.
func TestWhatWasLeftBehind(t *testing.T) {
	for _, state := range []notify.State{notify.InProgress, notify.Sending} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t)
			id := r.file("acme", "a")[0]
			left := r.row(id)
			p := left.Progress
			p.State, p.Attempt, p.Owner, p.Due, p.PoolDay = state, 1, "keeper-0", time.Now().Add(time.Minute), "20000101"
			if ok, err := r.Move(t.Context(), left, p); !ok || err != nil {
				t.Fatal(ok, err)
			}
			r.sweepFor(30 * time.Second)
			r.wantState(id, state)
			r.sweepFor(time.Minute)
			r.wantState(id, notify.Success)
			if sent := r.hook.got(); len(sent) != 1 || sent[0].ID != id {
				t.Errorf("sent %v; want %s once", sent, id)
			}
		})
	}
}

// Whoever was paused beyond his time does not go on: he neither pays nor sends.
func TestAPausedOwnerDoesNotGoOn(t *testing.T) {
	for state, paid := range map[notify.State]int{notify.InProgress: 0, notify.Sending: 1} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t)
			id := r.file("acme", "a")[0]
			r.ports.Queue = pausingQueue{r.Memory, state, 31 * time.Second}
			r.d = notify.NewDispatcher(r.ports, r.opts)
			r.sweep()
			r.wantState(id, state)
			if days, sent := r.Paid("acme", id), r.hook.got(); len(days) != paid || len(sent) != 0 {
				t.Errorf("after a pause when it was %s it is paid by %v and sent %d times; want %d and 0", state, days, len(sent), paid)
			}
		})
	}
}

func TestAChannelThatIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		id := r.file("acme", "a")[0]
		r.dir.put("acme", notify.Channels{Robot: bot})
		r.sweep()
		r.wantState(id, notify.Failed)
		if row := r.row(id); row.Cause != reason.NoChannel || len(r.Paid("acme", id)) > 0 || len(r.hook.got()) > 0 {
			t.Errorf("cause %q, paid by %v, sent %v; want no_channel and nothing", row.Cause, r.Paid("acme", id), r.hook.got())
		}
	})
}

// A receiver that does not answer holds up nobody but itself: not another
// tenant, and not the same tenant's other channel.
func TestASlowReceiverIsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.dir.put("slow", notify.Channels{Webhook: hook, Robot: bot, DailyPool: 100})
		r.hook.say = func(ctx context.Context, m notify.Message) notify.Outcome {
			if m.Notice.Tenant == "slow" {
				<-ctx.Done()
				return notify.Again{Cause: reason.Transient}
			}
			return notify.Accepted{}
		}
		begun := time.Now()
		stuck := r.file("slow", "a", "b", "c", "d", "e")
		calm := r.file("acme", "a", "b", "c")
		for range 3 {
			if err := r.d.Sweep(t.Context()); err != nil {
				t.Error(err)
			}
			synctest.Wait()
			wait(time.Second)
		}
		for _, id := range calm {
			r.wantState(id, notify.Success)
		}
		states := map[notify.State]int{}
		for _, id := range stuck {
			states[r.row(id).State]++
		}
		// Two of the webhook's at once, as wide as its lane is; all of the robot's.
		want := map[notify.State]int{notify.Sending: 2, notify.Pending: 3, notify.Success: 5}
		if diff := cmp.Diff(want, states); diff != "" {
			t.Errorf("after %s, the slow tenant's:\n%s", time.Since(begun), diff)
		}
		r.d.Wait()
	})
}

// With room for one lane at a time all get their turn.
func TestLanesShareTheRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.opts.Lanes, r.opts.DailyPool = 1, 100
		r.d = notify.NewDispatcher(r.ports, r.opts)
		var order []string
		r.hook.say = func(_ context.Context, m notify.Message) notify.Outcome {
			if len(order) == 0 || order[len(order)-1] != m.Notice.Tenant {
				order = append(order, m.Notice.Tenant)
			}
			wait(time.Second)
			return notify.Accepted{}
		}
		for _, tenant := range []string{"b", "a", "c"} {
			r.dir.put(tenant, notify.Channels{Webhook: hook})
			r.file(tenant, "1", "2", "3", "4")
		}
		r.opts.LaneWidth = 1
		r.d = notify.NewDispatcher(r.ports, r.opts)
		for range 6 {
			r.sweep()
		}
		if diff := cmp.Diff([]string{"a", "b", "c", "a", "b", "c"}, order); diff != "" {
			t.Error(diff)
		}
	})
}

// A channel that takes nothing at the moment leaves its rows alone: nothing is
// claimed, paid or written.
func TestAChannelsOwnPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.dir.put("acme", notify.Channels{Robot: bot})
		room := 1
		r.robot.admit = func() time.Duration {
			if room == 0 {
				return 3 * time.Second
			}
			room--
			return 0
		}
		ids := r.file("acme", "a", "b", "c")
		r.sweepFor(10 * time.Second)
		want := map[string]int{"at_daily_limit filed": 3, "robot pending": 3, "robot in_progress": 1, "robot sending": 1, "robot success": 1}
		if diff := cmp.Diff(want, r.book.counted()); diff != "" {
			t.Error(diff)
		}
		room = 2
		r.sweep()
		for _, id := range ids {
			r.wantState(id, notify.Success)
		}
	})
}

// A stop lets a send under way go on for the grace. What is cut off then is
// tried again at once by the next keeper, not after the owner's time.
func TestAStopInTheMiddleOfASend(t *testing.T) {
	for _, tc := range []struct {
		takes time.Duration
		want  notify.State
	}{{time.Second, notify.Success}, {5 * time.Second, notify.Pending}} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t)
			r.hook.say = func(ctx context.Context, _ notify.Message) notify.Outcome {
				select {
				case <-ctx.Done():
					return notify.Again{Cause: reason.Transient, Detail: "cancelled"}
				case <-time.After(tc.takes):
					return notify.Accepted{}
				}
			}
			ids := r.file("acme", "a", "b", "c")
			ctx, stop := context.WithCancel(t.Context())
			if err := r.d.Sweep(ctx); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			stopped := time.Now()
			stop()
			r.d.Wait()
			if took := time.Since(stopped); took > r.opts.Grace {
				t.Errorf("it stopped after %s", took)
			}
			var states []notify.State
			for _, id := range ids {
				states = append(states, r.row(id).State)
			}
			slices.Sort(states)
			if want := slices.Sorted(slices.Values([]notify.State{tc.want, tc.want, notify.Pending})); !slices.Equal(states, want) {
				t.Errorf("left %v; want %v", states, want)
			}
		})
	}
}

// A tenant whose channels cannot be read waits a while, and says so each time.
func TestChannelsThatCannotBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		id := r.file("acme", "a")[0]
		r.dir.err, r.dir.reads = errors.New("sealed with another key"), 0
		r.sweepFor(time.Minute)
		if r.dir.reads != 2 || strings.Count(r.log.String(), "sealed with another key") != 2 {
			t.Errorf("read %d times in a minute; want 2, each in the log:\n%s", r.dir.reads, r.log)
		}
		r.wantState(id, notify.Pending)
		r.dir.err = nil
		r.sweepFor(31 * time.Second)
		r.wantState(id, notify.Success)
	})
}

func TestASweepThatFindsNothingSaysWhy(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := newRig(t).d.Sweep(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Sweep = %v; want the cause", err)
	}
}

// The end of a delivery that the store does not take at first is not lost.
func TestTheEndIsWrittenAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		id := r.file("acme", "a")[0]
		r.ports.Queue = &failingQueue{Queue: r.Memory, into: notify.Success, times: 2}
		r.d = notify.NewDispatcher(r.ports, r.opts)
		r.sweep()
		r.wantState(id, notify.Success)
	})
}

func TestReopening(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.hook.say = says(notify.Refused{Cause: reason.Refused}, notify.Accepted{})
		id := r.file("acme", "a")[0]
		reopen := func(tenant, id string) error {
			return notify.Reopen(t.Context(), r.Memory, r.Memory, tenant, id, time.Now())
		}
		if err := reopen("acme", id); !errors.Is(err, notify.ErrNotFailed) || !strings.Contains(err.Error(), "pending") {
			t.Errorf("Reopen of a pending one = %v", err)
		}
		r.sweep()
		r.wantState(id, notify.Failed)
		for name, err := range map[string]error{"of another tenant": reopen("globex", id), "that is none": reopen("acme", "x")} {
			if !errors.Is(err, notify.ErrUnknownDelivery) {
				t.Errorf("Reopen of one %s = %v", name, err)
			}
		}
		if err := reopen("acme", id); err != nil {
			t.Fatal(err)
		}
		r.sweep()
		r.wantState(id, notify.Success)
		if sent, days := r.hook.got(), r.Paid("acme", id); len(sent) != 2 || sent[0] != sent[1] || len(days) != 1 {
			t.Errorf("sent %v, paid by %v; want the same twice, paid for once", sent, days)
		}
	})
}
