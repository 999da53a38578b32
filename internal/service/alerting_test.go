package service

import (
	"context"
	"errors"
	"log/slog"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/rollcall-dev/rollcall/internal/alert"
	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/telemetry"
	"github.com/rollcall-dev/rollcall/internal/wecomsim"
)

func TestThrottleAnswersAreAlertedOn(t *testing.T) {
	until := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	for errcode, want := range map[int]reason.Reason{45009: reason.Blocked, 45033: reason.Throttled, 45035: ""} {
		var got []alert.Alert
		b := alertingBudget{blocker{until: until}, func(_ context.Context, al alert.Alert) { got = append(got, al) }}
		if at, err := b.Throttled(t.Context(), "acme", errcode); !at.Equal(until) || err != nil {
			t.Errorf("%d: Throttled() = %v, %v; want the budget's own answer", errcode, at, err)
		}
		if want == "" {
			if len(got) != 0 {
				t.Errorf("%d raised %+v", errcode, got)
			}
			continue
		}
		if len(got) != 1 || got[0].Kind != want || got[0].Tenant != "acme" {
			t.Fatalf("%d raised %+v; want one alert of kind %s", errcode, got, want)
		}
		for _, word := range []string{"acme", "update_contact_way", "2026-11-30 09:00:00 UTC"} {
			if !strings.Contains(got[0].Text, word) {
				t.Errorf("%d: no %q in %s", errcode, word, got[0].Text)
			}
		}
	}
}

func TestABudgetThatCannotNoteAThrottleIsStillAlertedOn(t *testing.T) {
	raised := 0
	b := alertingBudget{blocker{err: context.Canceled}, func(context.Context, alert.Alert) { raised++ }}
	if _, err := b.Throttled(t.Context(), "acme", 45009); !errors.Is(err, context.Canceled) || raised != 1 {
		t.Errorf("Throttled() = %v with %d alerts; want the error and one", err, raised)
	}
}

// A dependency that is silent once is nobody's trouble; each lasting silence is
// told once.
func TestSilenceIsToldOnceItLasts(t *testing.T) {
	down := errors.New("dial redis://user:hunter2@host: refused")
	var told []string
	answers := []error{down, nil, down, down, down, nil, down, down}
	s := silence{
		ask: func(context.Context) error {
			next := answers[0]
			answers = answers[1:]
			return next
		},
		notice: alert.RedisDown,
		raise:  func(_ context.Context, al alert.Alert) { told = append(told, al.Text) },
	}
	var at []int
	for i := range answers {
		before := len(told)
		if err := s.Ask(t.Context()); err != nil && !errors.Is(err, down) {
			t.Errorf("Ask() = %v", err)
		}
		if len(told) > before {
			at = append(at, i)
		}
	}
	if diff := cmp.Diff([]int{3, 7}, at); diff != "" {
		t.Errorf("told at (-want +got):\n%s", diff)
	}
	if len(told) > 0 && strings.Contains(told[0], "hunter2") {
		t.Errorf("told the password: %s", told[0])
	}
}

func TestRobotHasToBeWhatWeComShows(t *testing.T) {
	tel := &telemetry.Telemetry{Tracers: noop.NewTracerProvider()}
	channel, release, err := newRobot(config.Alert{}, tel)
	if channel != nil || err != nil {
		t.Errorf("without a URL: %v, %v; want no channel", channel, err)
	}
	release()
	_, _, err = newRobot(config.Alert{RobotURL: config.NewSecretURL("https://host/send?kee=hunter2")}, tel)
	if err == nil || !strings.Contains(err.Error(), "ROLLCALL_ALERT_ROBOT_URL") || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("newRobot() = %v; want the variable and no key", err)
	}
}

// What is raised is in the group, though Redis cannot be asked who tells of it,
// and the key is not in the log.
func TestAnAlertReachesTheGroup(t *testing.T) {
	sim := wecomsim.New(wecomsim.Options{})
	defer sim.Close()
	sim.AddRobot("k3y")
	server := httptest.NewServer(sim.Handler())
	defer server.Close()
	cfg := config.Config{
		Alert: config.Alert{RobotURL: config.NewSecretURL(server.URL + "/cgi-bin/webhook/send?key=k3y"), Interval: time.Minute, PerMinute: 15},
	}
	var log lockedBuffer
	tel := &telemetry.Telemetry{Tracers: noop.NewTracerProvider(), Log: slog.New(slog.NewTextHandler(&log, nil))}
	nobody := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", MaxRetries: -1})
	defer func() { _ = nobody.Close() }()
	seen := &fates{changed: make(chan struct{}, 10)}
	raise, stop, err := startAlerter(t.Context(), cfg, nobody, seen, tel)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		raise(t.Context(), alert.Throttled("acme", "update_contact_way", 45009, time.Now()))
		<-seen.changed
	}
	if err := stop(t.Context()); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"blocked merged", "blocked sent"}, slices.Sorted(slices.Values(seen.list))); diff != "" {
		t.Errorf("fates (-want +got):\n%s", diff)
	}
	if shown := sim.RobotMessages("k3y"); len(shown) != 1 || !strings.Contains(shown[0].Content, "acme") {
		t.Errorf("the group was shown %+v; want one message about acme", shown)
	}
	if text := log.String(); strings.Contains(text, "k3y") || !strings.Contains(text, "reason=blocked") {
		t.Errorf("the log has the key, or not the alert: %s", text)
	}
}

// fates notes what became of alerts.
type fates struct {
	changed chan struct{}
	mu      sync.Mutex
	list    []string
}

func (f *fates) Alerted(_ context.Context, kind reason.Reason, fate alert.Fate) {
	f.mu.Lock()
	f.list = append(f.list, kind.String()+" "+string(fate))
	f.mu.Unlock()
	f.changed <- struct{}{}
}

// blocker answers every throttle with the same.
type blocker struct {
	push.Budget
	until time.Time
	err   error
}

func (b blocker) Throttled(context.Context, string, int) (time.Time, error) { return b.until, b.err }
