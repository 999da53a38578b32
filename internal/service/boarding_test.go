package service

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"

	"github.com/rollcall-dev/rollcall/internal/adapter/pulsarbus"
	"github.com/rollcall-dev/rollcall/internal/board"
	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/intake"
	"github.com/rollcall-dev/rollcall/internal/keyqueue"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/recent"
	"github.com/rollcall-dev/rollcall/internal/telemetry"
	"github.com/rollcall-dev/rollcall/internal/telemetry/metrics"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func tallyingAt(at time.Time) tallying {
	counting := newTallying()
	counting.now = func() time.Time { return at }
	return counting
}

// The board and the metrics are told the same of a push, of a call and of what the
// budget says.
func TestTheBoardCountsWhatTheMetricsCount(t *testing.T) {
	counting := tallyingAt(noon)
	reader := sdkmetric.NewManualReader()
	m, err := metrics.NewRefresher(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)).Meter("test"))
	if err != nil {
		t.Fatal(err)
	}
	o := talliedObserver{observer{m}, counting}
	o.Ended(t.Context(), intake.Ended{Outcome: push.Done{Reason: reason.Pushed}, Freshness: 6 * time.Second})
	o.Ended(t.Context(), intake.Ended{Outcome: push.Done{Reason: reason.Pushed, Slow: true}})
	o.Ended(t.Context(), intake.Ended{Outcome: push.Done{Reason: reason.Pushed}, Waited: reason.Throttled})
	o.Ended(t.Context(), intake.Ended{Outcome: push.Done{Reason: reason.Unchanged}})
	o.Ended(t.Context(), intake.Ended{Outcome: push.Fail{Class: reason.Panicked}})
	v := talliedVendor{&scripted{script: []error{
		nil, &push.CallError{ErrCode: 40003}, errors.New("ours"), &push.CallError{Class: reason.BreakerOpen},
	}}, counting}
	for range 4 {
		_ = v.Update(t.Context(), push.Call{})
	}
	b := talliedBudget{&admitting{script: []push.Admission{{Granted: true}, {Cause: reason.Blocked}}}, counting}
	for range 3 { // the third one fails
		_, _ = b.Admit(t.Context(), push.Ask{Ref: push.Ref{Tenant: "acme"}})
	}
	if metered := counts(t, reader); !strings.Contains(metered, "rollcall.refresh.freshness{lane=slow") || !strings.Contains(metered, "panicked") {
		t.Errorf("the metrics were not told:\n%s", metered)
	}
	got := counting.tally.Over(noon, time.Minute)
	if got.Promised.Count() != 1 || got.Promised.Late() != 1 || got.Slow.Count() != 1 || got.Throttled.Count() != 1 {
		t.Errorf("freshness: %+v", got)
	}
	got.Promised, got.Slow, got.Throttled = nil, nil, nil
	want := board.Activity{
		Accounted: 4, Panics: 1, Calls: 3,
		Errors: map[reason.Reason]int{reason.BadMember: 1}, Refusals: map[reason.Reason]int{reason.Blocked: 1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	calls, lost := counting.calls.Take(10)
	asked := []board.TenantMinute{{Tenant: "acme", Minute: board.Minute{At: noon, Granted: 1, Refused: 1}}}
	if diff := cmp.Diff(asked, calls); diff != "" || lost != 0 {
		t.Error(diff, lost)
	}
}

// admitting is a budget that answers in turn, and then fails.
type admitting struct {
	push.Budget
	script []push.Admission
}

func (a *admitting) Admit(context.Context, push.Ask) (push.Admission, error) {
	if len(a.script) == 0 {
		return push.Admission{}, errors.New("nobody could be asked")
	}
	answer := a.script[0]
	a.script = a.script[1:]
	return answer, nil
}

func TestTheBucketsAreTheMetricsOwn(t *testing.T) {
	for _, i := range metrics.Catalog() {
		if i.Name != "rollcall.refresh.freshness" {
			continue
		}
		var edges []float64
		for _, edge := range board.Edges {
			edges = append(edges, edge.Seconds())
		}
		if diff := cmp.Diff(i.Buckets, edges); diff != "" {
			t.Error(diff)
		}
		return
	}
	t.Error("the metric is gone")
}

func TestWhatARefresherHolds(t *testing.T) {
	counting := tallyingAt(noon)
	tenants := make([]keyqueue.TenantStats, 2*board.MostTenants)
	for n := range tenants {
		tenants[n] = keyqueue.TenantStats{Tenant: string(rune('a' + n)), Ready: n, Limit: 1, Held: held(1)}
	}
	cfg := config.Config{Refresher: config.Refresher{Workers: 38, MaxHeld: 100}, Pulsar: config.Pulsar{ReceiverQueue: 10}}
	got := counting.work(noon, keyqueue.Stats{Ready: 3, InFlight: 2, ByCause: held(7)}, tenants, cfg)
	if got.Runnable != 3 || got.InFlight != 2 || got.HeldSum() != 7 || got.Limit != room(cfg) || got.Workers != 38 || got.Load != 0.5 || got.Tenants != 20 {
		t.Errorf("%+v", got)
	}
	if len(got.Top) != board.MostTenants || got.Top[0].Tenant != "t" || got.Top[0].Waiting() != 20 {
		t.Errorf("most codes: %+v", got.Top)
	}
	if got.LastFive.Busy != 0 || counting.tally.Over(noon, time.Minute).Busy != 5 {
		t.Errorf("busy: %+v", got.LastFive)
	}
}

// A server that was not asked yet is not missing, and that the process stops is no
// server.
func TestServersThatDoNotAnswerAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &host{health: telemetry.NewHealth(), pages: http.NewServeMux()}
		h.health.Starting()
		h.health.Depend(
			telemetry.Dependency{Name: "redis", Ask: func(context.Context) error { return errors.New("redis://user:hunter2@host is away") }},
			telemetry.Dependency{Name: "mongodb", Ask: func(context.Context) error { return nil }},
		)
		if got := missing(h); len(got) != 0 {
			t.Errorf("before anybody asked: %v", got)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { h.health.Run(ctx); close(done) }()
		<-time.After(time.Second)
		got := missing(h)
		if len(got) != 1 || got[0].Name != "redis" || got[0].Cause != "redis://[redacted]@host is away" {
			t.Errorf("%v", got)
		}
		cancel()
		<-done
	})
}

func TestWhatTheBrokerSays(t *testing.T) {
	cfg := config.Pulsar{Topic: "the-topic", Subscription: "the-subscription", DeadLetterTopic: "the-letters"}
	stats := pulsarbus.Stats{Backlog: 5, Unacked: 4, DrainingHashes: 3, Each: []pulsarbus.ConsumerStats{{Name: "r-1", Unacked: 4, Keys: 1, Blocked: true}}}
	f := &brokerFigures{cfg: cfg, admin: &figures{stats: stats, letters: 2}}
	f.last = recent.NewAnswer(time.Minute, time.Now, f.ask)
	got, err := f.Subscription(t.Context())
	want := board.Broker{
		Topic: "the-topic", Subscription: "the-subscription", Backlog: 5, Unacked: 4, Draining: 3, DeadLetters: 2,
		Consumers: []board.Consumer{{Name: "r-1", Unacked: 4, Keys: 1, Blocked: true}},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	f = &brokerFigures{}
	if _, err := f.Subscription(t.Context()); !errors.Is(err, board.ErrUnset) {
		t.Errorf("without an admin URL: %v", err)
	}
}

func TestACauseIsShortAndHoldsNoSecret(t *testing.T) {
	long := errors.New("mongodb://user:hunter2@host: " + strings.Repeat("x", 500))
	if got := causeOf(long); len([]rune(got)) != mostCause || !strings.HasPrefix(got, "mongodb://[redacted]@host") {
		t.Error(got)
	}
	if got := causeOf(context.DeadlineExceeded); got != "no answer in time" {
		t.Error(got)
	}
}

func TestLimitsOfOtherWindows(t *testing.T) {
	if got := within(10_000, time.Minute, time.Minute); got != 10_000 {
		t.Error(got)
	}
	if got := within(300, 5*time.Second, time.Minute); got != 3600 {
		t.Error(got)
	}
}

func TestAProcessTellsWithoutRedis(t *testing.T) {
	tel := telemetry.Silent()
	tel.Log = slog.New(slog.DiscardHandler)
	client, err := openRedis(config.Redis{URL: config.NewSecretURL("redis://127.0.0.1:1"), Timeout: 50 * time.Millisecond, MaxPool: 1}, tel)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	h := &host{role: "ingress", version: "1", tel: tel, health: telemetry.NewHealth()}
	stop, err := startTelling(t.Context(), config.Config{}, h, telling{redis: client})
	if err != nil {
		t.Fatal(err)
	}
	if err := stop(t.Context()); err != nil {
		t.Error(err)
	}
}
