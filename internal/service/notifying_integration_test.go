//go:build integration

package service

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/adapter/webhook"
	"github.com/rollcall-dev/rollcall/internal/alert"
	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/notify"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/seal"
	"github.com/rollcall-dev/rollcall/internal/telemetry"
	"github.com/rollcall-dev/rollcall/internal/telemetry/metrics"
	"github.com/rollcall-dev/rollcall/internal/wecomsim"
	"github.com/rollcall-dev/rollcall/test/await"
	"github.com/rollcall-dev/rollcall/test/stack/stacktest"
)

// Notices on a real store, with two keepers at work: each is told once through
// both channels, as far as the pool goes. The receiver refuses at first, and
// sees one idempotency key a delivery. When the pool is made larger the held ones
// go on.
func TestNoticesReachATenantsPeople(t *testing.T) {
	ctx := t.Context()
	h := newTold(t)
	for i := range 4 {
		for range 2 { // as a callback that WeCom sends again
			h.file(fmt.Sprint("k", i))
		}
	}
	h.keep(2)
	await.Until(t, 30*time.Second, 50*time.Millisecond, "six deliveries succeed, two are held", func() bool {
		return cmp.Equal(h.states(), map[notify.State]int{notify.Success: 6, notify.Held: 2})
	})
	if n := h.raised.Len(); n == 0 {
		t.Error("no operator was told that the pool is used up")
	}
	if err := h.db.Channels().PutChannels(ctx, "acme", h.channels(100)); err != nil {
		t.Fatal(err)
	}
	await.Until(t, 30*time.Second, 50*time.Millisecond, "all succeed", func() bool {
		return cmp.Equal(h.states(), map[notify.State]int{notify.Success: 8})
	})
	h.wantTold(4)
}

// told is a tenant whose people are told, and the keepers that tell them.
type told struct {
	*testing.T
	cfg    config.Config
	db     *mongostore.Database
	sim    *wecomsim.Sim
	url    string // of the receiver
	filer  notify.Filer
	seen   *metrics.Notifications
	tel    *telemetry.Telemetry
	raised alertLog

	mu    sync.Mutex
	tries map[string]int    // by idempotency key
	body  map[string]string // by idempotency key
}

const robotKey = "k3y"

func newTold(t *testing.T) *told {
	t.Helper()
	h := &told{T: t, sim: wecomsim.New(wecomsim.Options{}), tries: map[string]int{}, body: map[string]string{}}
	t.Cleanup(h.sim.Close)
	h.sim.AddRobot(robotKey)
	wecom := httptest.NewServer(h.sim.Handler())
	t.Cleanup(wecom.Close)
	receiver := httptest.NewServer(http.HandlerFunc(h.receive))
	t.Cleanup(receiver.Close)
	h.url = receiver.URL + "/hook"
	h.cfg.WeCom.BaseURL = wecom.URL
	h.cfg.Notify = config.Notify{DailyPool: 200, Timeout: 5 * time.Second, MaxTries: 5, BackoffCap: time.Second, AllowPrivate: true, Keep: time.Hour}
	h.tel = &telemetry.Telemetry{Tracers: noop.NewTracerProvider(), Log: slog.New(slog.NewTextHandler(t.Output(), nil))}
	h.open()
	return h
}

func (h *told) open() {
	uri, name := stacktest.MongoURI(h), "rollcall_test_"+bson.NewObjectID().Hex()
	keys, err := seal.ParseKeys(seal.Generate("a"))
	h.must(err)
	h.db, err = mongostore.Open(mongostore.Options{URI: uri, Database: name, Keys: keys, Timeout: 20 * time.Second})
	h.must(err)
	raw, err := mongo.Connect(options.Client().ApplyURI(uri))
	h.must(err)
	h.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(h.Context()), 20*time.Second)
		defer cancel()
		_ = raw.Database(name).Drop(ctx)
		_ = raw.Disconnect(ctx)
		_ = h.db.Close(ctx)
	})
	meter := sdkmetric.NewMeterProvider().Meter("test")
	h.filer, h.seen = h.observed(meter)
	h.must(h.db.Facts().PutTenant(h.Context(), roster.Tenant{ID: "acme"}))
	h.must(h.db.Channels().PutChannels(h.Context(), "acme", h.channels(6)))
}

func (h *told) observed(meter metric.Meter) (notify.Filer, *metrics.Notifications) {
	filer, err := newFiler(h.db, meter)
	h.must(err)
	seen, err := metrics.NewNotifications(meter)
	h.must(err)
	return filer, seen
}

func (h *told) must(err error) {
	h.Helper()
	if err != nil {
		h.Fatal(err)
	}
}

func (h *told) channels(pool int) notify.Channels {
	return notify.Channels{Webhook: notify.Webhook{URL: h.url, Secret: "0123456789abcdef"}, Robot: notify.Robot{Key: robotKey}, DailyPool: pool}
}

func (h *told) file(key string) {
	h.Helper()
	h.must(h.filer.File(h.Context(), notify.Notice{
		Key: key, Tenant: "acme", Kind: notify.CeilingReachedDay, Code: "c1", Staff: "ann", Count: 20, Limit: 20, At: time.Now(),
	}))
}

// keep has so many keepers at work until the test ends. They tend quickly.
func (h *told) keep(keepers int) {
	for range keepers {
		n, err := newNotifying(h.cfg, h.db, h.seen, h.raised.Raise, h.tel)
		h.must(err)
		ctx, stop := context.WithCancel(context.WithoutCancel(h.Context()))
		var sweeps sync.WaitGroup
		n.run(ctx, h.quickly, &sweeps)
		h.Cleanup(func() {
			stop()
			sweeps.Wait()
			h.must(n.close(context.WithoutCancel(h.Context())))
		})
	}
}

func (h *told) quickly(ctx context.Context, _ time.Duration, name metrics.Sweep, sweep func() error) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for ctx.Err() == nil {
		if err := sweep(); err != nil && ctx.Err() == nil {
			h.Errorf("sweep %s: %v", name, err)
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

func (h *told) states() map[notify.State]int {
	h.Helper()
	rows, err := h.db.Deliveries().List(h.Context(), notify.Selection{}, 100)
	h.must(err)
	states := map[notify.State]int{}
	for _, row := range rows {
		states[row.State]++
	}
	return states
}

// receive is the tenant's receiver: busy at the first try, and strict about the
// signature.
func (h *told) receive(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	want := "v1=" + webhook.Sign("0123456789abcdef", r.Header.Get("Rollcall-Timestamp"), raw)
	if err != nil || r.Header.Get("Rollcall-Signature") != want {
		h.Errorf("a request with the wrong signature: %v", err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	key := r.Header.Get("Idempotency-Key")
	h.tries[key]++
	if first, known := h.body[key]; known && first != string(raw) {
		h.Errorf("tries of %s differ: %s and %s", key, first, raw)
	}
	h.body[key] = string(raw)
	if h.tries[key] == 1 {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
}

// wantTold compares what arrived with so many notices.
func (h *told) wantTold(notices int) {
	h.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.tries) != notices {
		h.Errorf("the receiver saw %d idempotency keys; want %d", len(h.tries), notices)
	}
	for key, n := range h.tries {
		if n != 2 {
			h.Errorf("the receiver saw %s %d times; want 2: busy, and taken", key, n)
		}
	}
	shown := h.sim.RobotMessages(robotKey)
	if len(shown) != notices || !strings.Contains(shown[0].Content, "ann") {
		h.Errorf("the group was shown %+v; want %d notices about ann", shown, notices)
	}
}

// alertLog keeps what an operator is told.
type alertLog struct {
	mu    sync.Mutex
	kinds []reason.Reason
}

func (l *alertLog) Raise(_ context.Context, al alert.Alert) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kinds = append(l.kinds, al.Kind)
}

func (l *alertLog) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.kinds)
}
