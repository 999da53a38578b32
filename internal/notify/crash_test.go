package notify_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/notify"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// Two keepers dispatch at the same time, as two may after one was paused. Each
// dies again and again, before or after any of its operations, and is replaced;
// answers get lost, operations hang for longer than an owner has, receivers say
// anything. Meanwhile notices are filed, repeatedly, and a pool is made larger.
//
// Nothing is sent that was not paid for, nothing is paid for twice, no pool is
// exceeded, what is sent is the same at every try, every step is one of the
// state machine, and no row is lost: with whole keepers all come to an end or,
// while their pool is exhausted, are held.
func TestCrashesAtEveryStep(t *testing.T) {
	steps := map[string]bool{}
	for seed := range uint64(12) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHarsh(t, seed)
				h.run()
				maps.Copy(steps, h.steps)
			})
		})
	}
	for step := range lawful {
		if !steps[step] {
			t.Errorf("no run had a step from %s", step)
		}
	}
}

const (
	harshTenants = 3
	harshNotices = 14 // of each tenant; for two channels
	harshPool    = 12
)

// harsh is the world of the test, and what was seen in it.
type harsh struct {
	*rig
	seed uint64

	mu    sync.Mutex
	first map[string]notify.Message // by delivery: what was sent first
	taken map[string]bool           // deliveries that a receiver accepted
	steps map[string]bool           // from one state to another
}

// lawful are the steps of the state machine.
var lawful = map[string]bool{
	"pending in_progress": true, "in_progress sending": true, "in_progress held": true, "in_progress pending": true,
	"sending success": true, "sending failed": true, "sending pending": true, "held pending": true,
}

func newHarsh(t *testing.T, seed uint64) *harsh {
	h := &harsh{rig: newRig(t), seed: seed, first: map[string]notify.Message{}, taken: map[string]bool{}, steps: map[string]bool{}}
	for i := range harshTenants {
		h.dir.put(fmt.Sprint("t", i), notify.Channels{Webhook: hook, Robot: bot, DailyPool: harshPool})
	}
	h.opts.Lanes, h.opts.Retries.MaxTries = 3, 6
	return h
}

func (h *harsh) run() {
	ctx, end := context.WithCancel(h.Context())
	var acting sync.WaitGroup
	for keeper := range uint64(2) {
		acting.Go(func() { h.keep(ctx, rand.New(rand.NewPCG(h.seed, keeper))) })
	}
	acting.Go(h.fileAll)
	wait(20 * time.Minute)
	h.dir.put("t1", notify.Channels{Webhook: hook, Robot: bot, DailyPool: 100})
	wait(20 * time.Minute)
	end()
	acting.Wait()

	h.settle("the same day", 30*time.Minute)
	h.wantEnds(map[string]int{"t0": 2*harshNotices - harshPool, "t1": 0, "t2": 2*harshNotices - harshPool})
	for range 2 {
		wait(24 * time.Hour)
		h.settle("the next day", 30*time.Minute)
	}
	h.wantEnds(map[string]int{"t0": 0, "t1": 0, "t2": 0})
}

// fileAll files the notices of all tenants, some of them more than once.
func (h *harsh) fileAll() {
	rng := rand.New(rand.NewPCG(h.seed, 99))
	filing := notify.NewFiling(h.dir, h.Memory, h.book, time.Now)
	at := time.Now()
	for i := range harshNotices {
		for tenant := range harshTenants {
			n := noticeOf(fmt.Sprint("t", tenant), fmt.Sprint("k", i))
			n.At = at
			for range 1 + rng.IntN(3) {
				if err := filing.File(h.Context(), n); err != nil {
					h.Error(err)
				}
			}
		}
		wait(time.Duration(rng.IntN(60)) * time.Second)
	}
}

// keep is a keeper that dies and comes back until ctx ends.
func (h *harsh) keep(ctx context.Context, rng *rand.Rand) {
	for life := 0; ctx.Err() == nil; life++ {
		m := &mortal{harsh: h, rng: rng, left: 1 + rng.IntN(80), every: time.Second}
		m.live(ctx, fmt.Sprint("keeper-", life))
	}
}

// settle lets whole keepers work for so long.
func (h *harsh) settle(when string, d time.Duration) {
	ctx, end := context.WithTimeout(h.Context(), d)
	defer end()
	m := &mortal{harsh: h, left: -1, every: 10 * time.Second}
	m.live(ctx, "whole")
	if n := len(h.first); n == 0 {
		h.Errorf("nothing was sent on %s", when)
	}
}

// wantEnds looks at all rows at a moment when nobody works.
func (h *harsh) wantEnds(held map[string]int) {
	h.Helper()
	got := map[string]int{"t0": 0, "t1": 0, "t2": 0}
	rows := h.rows(notify.Selection{})
	if n := 2 * harshTenants * harshNotices; len(rows) != n {
		h.Errorf("%d rows; want %d", len(rows), n)
	}
	for id, row := range rows {
		days := h.Paid(row.Notice.Tenant, id)
		switch row.State {
		case notify.Held:
			got[row.Notice.Tenant]++
			if len(days) > 0 || h.sent(id) {
				h.Errorf("%s is held; paid by %v, sent: %v", id, days, h.sent(id))
			}
		case notify.Success:
			if len(days) != 1 || !h.taken[id] {
				h.Errorf("%s is a success; paid by %v, taken: %v", id, days, h.taken[id])
			}
		case notify.Failed:
			if len(days) != 1 || row.Cause == "" {
				h.Errorf("%s is given up because of %q; paid by %v", id, row.Cause, days)
			}
		default:
			h.Errorf("%s is left %s since %s", id, row.State, row.At)
		}
	}
	if diff := cmp.Diff(held, got); diff != "" {
		h.Errorf("held:\n%s", diff)
	}
}

func (h *harsh) sent(id string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, sent := h.first[id]
	return sent
}

// mortal is one life of a keeper, and all that it sees of the world.
type mortal struct {
	*harsh
	every time.Duration // between two sweeps

	mu   sync.Mutex
	rng  *rand.Rand // nil: nothing goes wrong
	left int        // operations until it dies
	dead bool
}

var errDead = errors.New("the process is dead")

func (m *mortal) live(ctx context.Context, owner string) {
	ports := notify.Ports{
		Queue: mortalQueue{m}, Pools: mortalPools{m}, Directory: mortalDirectory{m}, Alerts: m.book, Observer: m.book,
		Senders: map[notify.Via]notify.Sender{notify.ViaWebhook: mortalSender{m}, notify.ViaRobot: mortalSender{m}},
	}
	opts := m.opts
	opts.Owner = owner
	d := notify.NewDispatcher(ports, opts)
	resumer := notify.NewResumer(mortalShelf{m}, mortalPools{m}, mortalDirectory{m}, m.book, m.opts.DailyPool, time.Now)
	for n := 0; ctx.Err() == nil && !m.isDead(); n++ {
		if n%5 == 0 {
			_ = resumer.Sweep(ctx)
		}
		_ = d.Sweep(ctx)
		wait(m.every)
	}
	d.Wait()
}

func (m *mortal) isDead() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.dead
}

// trouble is what goes wrong with one operation.
type trouble struct {
	takes         time.Duration
	never, silent bool // it does not happen; nobody hears whether it did
}

func (m *mortal) next() trouble {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dead || m.rng == nil {
		return trouble{never: m.dead, silent: m.dead}
	}
	t := trouble{takes: time.Duration(m.rng.IntN(300)) * time.Millisecond}
	if m.rng.IntN(40) == 0 {
		t.takes = time.Duration(m.rng.IntN(90)) * time.Second
	}
	t.silent = m.rng.IntN(30) == 0
	if m.left--; m.left == 0 {
		m.dead, t.silent = true, true
	}
	t.never = t.silent && m.rng.IntN(2) == 0
	return t
}

// suffer runs an operation as the keeper of this life sees it.
func suffer[T any](m *mortal, operation func() (T, error)) (T, error) {
	var none T
	t := m.next()
	wait(t.takes)
	if t.never {
		return none, errDead
	}
	out, err := operation()
	if t.silent {
		return none, errDead
	}
	return out, err
}

type mortalQueue struct{ *mortal }

func (q mortalQueue) DueLanes(ctx context.Context, now time.Time) ([]notify.Lane, error) {
	return suffer(q.mortal, func() ([]notify.Lane, error) { return q.Memory.DueLanes(ctx, now) })
}

func (q mortalQueue) Due(ctx context.Context, lane notify.Lane, now time.Time, limit int) ([]notify.Delivery, error) {
	return suffer(q.mortal, func() ([]notify.Delivery, error) { return q.Memory.Due(ctx, lane, now, limit) })
}

func (m *mortal) Move(ctx context.Context, seen notify.Delivery, next notify.Progress) (bool, error) {
	return suffer(m, func() (bool, error) {
		moved, err := m.Memory.Move(ctx, seen, next)
		if step := fmt.Sprint(seen.State, " ", next.State); moved {
			m.harsh.mu.Lock()
			m.steps[step] = true
			m.harsh.mu.Unlock()
			if !lawful[step] {
				m.Errorf("a row went from %s", step)
			}
		}
		return moved, err
	})
}

type mortalShelf struct{ *mortal }

func (s mortalShelf) HeldTenants(ctx context.Context) ([]string, error) {
	return suffer(s.mortal, func() ([]string, error) { return s.Memory.HeldTenants(ctx) })
}

func (s mortalShelf) Held(ctx context.Context, tenant string, limit int) ([]notify.Delivery, error) {
	return suffer(s.mortal, func() ([]notify.Delivery, error) { return s.Memory.Held(ctx, tenant, limit) })
}

type mortalPools struct{ *mortal }

func (p mortalPools) Debit(ctx context.Context, tenant string, day roster.Day, id string, limit int) (bool, error) {
	return suffer(p.mortal, func() (bool, error) { return p.Memory.Debit(ctx, tenant, day, id, limit) })
}

func (p mortalPools) Spent(ctx context.Context, tenant string, day roster.Day) (int, error) {
	return suffer(p.mortal, func() (int, error) { return p.Memory.Spent(ctx, tenant, day) })
}

type mortalDirectory struct{ *mortal }

func (d mortalDirectory) Channels(ctx context.Context, tenant string) (notify.Channels, error) {
	return suffer(d.mortal, func() (notify.Channels, error) { return d.dir.Channels(ctx, tenant) })
}

func (d mortalDirectory) Zone(ctx context.Context, tenant string) (*time.Location, error) {
	return d.dir.Zone(ctx, tenant)
}

type mortalSender struct{ *mortal }

func (mortalSender) Admit(notify.Channels) time.Duration { return 0 }

// Send is what the receiver sees, if the process lives to send it.
func (s mortalSender) Send(ctx context.Context, _ notify.Channels, m notify.Message) notify.Outcome {
	outcome, err := suffer(s.mortal, func() (notify.Outcome, error) {
		s.receive(m)
		return s.answer(ctx, m), nil
	})
	if err != nil {
		return notify.Again{Cause: reason.Transient, Detail: err.Error()}
	}
	return outcome
}

func (s mortalSender) receive(m notify.Message) {
	if len(s.Paid(m.Notice.Tenant, m.ID)) == 0 {
		s.Errorf("%s was sent and not paid for", m.ID)
	}
	s.harsh.mu.Lock()
	defer s.harsh.mu.Unlock()
	if first, known := s.first[m.ID]; known && first != m {
		s.Errorf("tries of %s differ: %v and %v", m.ID, first, m)
	}
	s.first[m.ID] = m
}

// answer is a receiver's: mostly it takes the message, also when it is too slow
// for anybody to hear of it.
func (s mortalSender) answer(ctx context.Context, m notify.Message) notify.Outcome {
	what := 0
	if s.rng != nil {
		s.mu.Lock()
		what = s.rng.IntN(10)
		s.mu.Unlock()
	}
	switch what {
	case 1, 2:
		return notify.Again{Cause: reason.Transient, Detail: "http 503"}
	case 3:
		return notify.Again{Cause: reason.Throttled, After: 45 * time.Second}
	case 4:
		return notify.Refused{Cause: reason.Refused, Detail: "http 410"}
	}
	s.harsh.mu.Lock()
	s.taken[m.ID] = true
	s.harsh.mu.Unlock()
	if what == 5 {
		<-ctx.Done()
		return notify.Again{Cause: reason.Transient, Detail: "no answer in time"}
	}
	return notify.Accepted{}
}
