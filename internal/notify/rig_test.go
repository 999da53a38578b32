package notify_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/alert"
	"github.com/rollcall-dev/rollcall/internal/notify"
	"github.com/rollcall-dev/rollcall/internal/notify/notifytest"
	"github.com/rollcall-dev/rollcall/internal/push"
)

// rig is one dispatcher and its world, on the clock of a synctest bubble.
type rig struct {
	*testing.T
	*notifytest.Memory
	ports notify.Ports
	opts  notify.Options
	log   *bytes.Buffer
	hook  *receiver
	robot *receiver
	book  *book
	dir   *directory
	d     *notify.Dispatcher
}

func newRig(t *testing.T) *rig {
	r := &rig{T: t, Memory: notifytest.NewMemory(), log: &bytes.Buffer{}, hook: &receiver{}, robot: &receiver{}, book: newBook(), dir: newDirectory()}
	r.dir.put("acme", notify.Channels{Webhook: notify.Webhook{URL: "https://acme", Secret: secret}})
	r.ports = notify.Ports{
		Queue: r.Memory, Pools: r.Memory, Directory: r.dir, Alerts: r.book, Observer: r.book,
		Senders: map[notify.Via]notify.Sender{notify.ViaWebhook: r.hook, notify.ViaRobot: r.robot},
	}
	r.opts = notify.Options{
		Owner: "keeper-1", DailyPool: 3, SendTimeout: 10 * time.Second, Grace: 2 * time.Second, Margin: 30 * time.Second,
		LaneWidth: 2, Lanes: 4,
		Retries: notify.Retries{MaxTries: 3, Backoff: push.Backoff{Base: 10 * time.Second, Cap: time.Minute}, MaxAfter: time.Hour},
		Now:     time.Now, Logger: slog.New(slog.NewJSONHandler(r.log, nil)),
	}
	r.d = notify.NewDispatcher(r.ports, r.opts)
	return r
}

// file files a notice for each key and returns the IDs of its deliveries, per
// key the webhook's before the robot's.
func (r *rig) file(tenant string, keys ...string) []string {
	r.Helper()
	before := r.rows(notify.Selection{Tenant: tenant})
	filing := notify.NewFiling(r.dir, r.Memory, r.book, time.Now)
	var ids []string
	for _, key := range keys {
		if err := filing.File(r.Context(), noticeOf(tenant, key)); err != nil {
			r.Fatal(err)
		}
		after := r.rows(notify.Selection{Tenant: tenant})
		for _, via := range notify.Vias() {
			for id, row := range after {
				if _, known := before[id]; !known && row.Via == via {
					ids = append(ids, id)
				}
			}
		}
		before = after
	}
	return ids
}

func noticeOf(tenant, key string) notify.Notice {
	return notify.Notice{Key: key, Tenant: tenant, Kind: notify.CeilingReachedDay, Code: "c1", Staff: "ann", Count: 20, Limit: 20, At: time.Now()}
}

// sweep sweeps once and waits for what was begun.
func (r *rig) sweep() {
	r.Helper()
	if err := r.d.Sweep(r.Context()); err != nil {
		r.Error(err)
	}
	r.d.Wait()
}

// sweepFor sweeps once a second for so long.
func (r *rig) sweepFor(d time.Duration) {
	r.Helper()
	for end := time.Now().Add(d); time.Now().Before(end); wait(time.Second) {
		r.sweep()
	}
}

// wait lets the bubble's clock go on.
func wait(d time.Duration) { <-time.After(d) }

func (r *rig) rows(which notify.Selection) map[string]notify.Delivery {
	r.Helper()
	rows, err := r.List(r.Context(), which, 10_000)
	if err != nil {
		r.Fatal(err)
	}
	byID := map[string]notify.Delivery{}
	for _, row := range rows {
		byID[row.ID] = row
	}
	return byID
}

func (r *rig) row(id string) notify.Delivery {
	r.Helper()
	row, found := r.rows(notify.Selection{})[id]
	if !found {
		r.Fatalf("there is no delivery %s", id)
	}
	return row
}

func (r *rig) wantState(id string, want notify.State) {
	r.Helper()
	if row := r.row(id); row.State != want {
		r.Errorf("delivery %s is %s because of %q %q; want %s", id, row.State, row.Cause, row.Detail, want)
	}
}

// receiver is a Sender and what is behind it. It accepts, unless told to say
// something else.
type receiver struct {
	say   func(ctx context.Context, m notify.Message) notify.Outcome
	admit func() time.Duration

	mu   sync.Mutex
	sent []notify.Message
}

func (s *receiver) Admit(notify.Channels) time.Duration {
	if s.admit == nil {
		return 0
	}
	return s.admit()
}

func (s *receiver) Send(ctx context.Context, _ notify.Channels, m notify.Message) notify.Outcome {
	s.mu.Lock()
	s.sent = append(s.sent, m)
	s.mu.Unlock()
	if s.say == nil {
		return notify.Accepted{}
	}
	return s.say(ctx, m)
}

func (s *receiver) got() []notify.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]notify.Message(nil), s.sent...)
}

// says answers one outcome after the other, the last one for ever.
func says(outcomes ...notify.Outcome) func(context.Context, notify.Message) notify.Outcome {
	var mu sync.Mutex
	return func(context.Context, notify.Message) notify.Outcome {
		mu.Lock()
		defer mu.Unlock()
		o := outcomes[0]
		if len(outcomes) > 1 {
			outcomes = outcomes[1:]
		}
		return o
	}
}

// directory is a Directory in memory. Its tenants live in Shanghai.
type directory struct {
	mu       sync.Mutex
	err      error
	reads    int
	channels map[string]notify.Channels
}

func newDirectory() *directory { return &directory{channels: map[string]notify.Channels{}} }

func (d *directory) put(tenant string, c notify.Channels) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.channels[tenant] = c
}

func (d *directory) Channels(_ context.Context, tenant string) (notify.Channels, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.reads++
	return d.channels[tenant], d.err
}

func (d *directory) Zone(context.Context, string) (*time.Location, error) { return shanghai, nil }

var shanghai = time.FixedZone("Asia/Shanghai", 8*60*60)

// book notes what is counted and what an operator is told.
type book struct {
	mu     sync.Mutex
	alerts []alert.Alert
	counts map[string]int
}

func newBook() *book { return &book{counts: map[string]int{}} }

func (b *book) Raise(_ context.Context, al alert.Alert) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.alerts = append(b.alerts, al)
}

func (b *book) Filed(_ context.Context, kind notify.Kind, fate notify.Fate) {
	b.count(fmt.Sprint(kind, " ", fate))
}

func (b *book) Moved(_ context.Context, via notify.Via, into notify.State) {
	b.count(fmt.Sprint(via, " ", into))
}

func (b *book) count(what string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.counts[what]++
}

func (b *book) counted() map[string]int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return maps.Clone(b.counts)
}
