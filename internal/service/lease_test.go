package service

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"

	"github.com/rollcall-dev/rollcall/internal/backstop/lease"
	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/telemetry"
	"github.com/rollcall-dev/rollcall/internal/telemetry/metrics"
)

func TestAStandbyIsReadyAndSaysThatItStandsBy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDutyBench(t)
		for range 100 { // five minutes, looked at every three seconds
			<-time.After(3 * time.Second)
			d.Watching(t.Context(), lease.State{Token: 3, Holder: "keeper-1"})
		}
		if diff := cmp.Diff([]string{"standby"}, d.alive(t)); diff != "" || !d.health.Ready().OK {
			t.Errorf("ready %v, alive (-want +got):\n%s", d.health.Ready().OK, diff)
		}
		if n := strings.Count(d.log.String(), "standby: another keeper holds the lease"); n != 1 {
			t.Errorf("told %d times that it stands by:\n%s", n, d.log)
		}
		d.Watching(t.Context(), lease.State{Token: 4, Holder: "keeper-2"})
		if !strings.Contains(d.log.String(), "holder=keeper-2 token=4") {
			t.Errorf("does not tell whose lease it is now:\n%s", d.log)
		}
	})
}

func TestWorkAndStandbyTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDutyBench(t)
		d.Took(t.Context(), 5, lease.Expired)
		<-time.After(time.Hour) // it beats by its sweeps, not as a standby
		if diff := cmp.Diff([]string(nil), d.alive(t)); diff != "" || !d.held.Load() {
			t.Errorf("held %v; alive while it works (-want +got):\n%s", d.held.Load(), diff)
		}
		d.Failed(t.Context(), errors.New("renewal failed"))
		d.Ended(t.Context(), 5, lease.ErrLapsed)
		if diff := cmp.Diff([]string{"standby"}, d.alive(t)); diff != "" || d.held.Load() {
			t.Errorf("held %v; alive after it was lost (-want +got):\n%s", d.held.Load(), diff)
		}
		d.Took(t.Context(), 7, lease.Released)
		d.Ended(t.Context(), 7, nil)
		want := []string{
			"INFO the lease is ours: sweeping", "WARN the lease could not be asked for; it is tried again",
			"WARN the lease is lost: sweeps were stopped", "INFO the lease is ours: sweeping", "INFO sweeps were stopped; the lease is given up",
		}
		if diff := cmp.Diff(want, d.told()); diff != "" {
			t.Errorf("log (-want +got):\n%s", diff)
		}
		got := counts(t, d.reader)
		for _, want := range []string{"rollcall.keeper.takeovers{opening=expired} 1", "rollcall.keeper.takeovers{opening=released} 1"} {
			if !strings.Contains(got, want) {
				t.Errorf("no %s in\n%s", want, got)
			}
		}
	})
}

// A store that is away for hours is no reason to restart a standby.
func TestAStandbyWithoutAStoreIsAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDutyBench(t)
		for range 1000 {
			<-time.After(3 * time.Second)
			d.Failed(t.Context(), errors.New("store away"))
		}
		if diff := cmp.Diff([]string{"standby"}, d.alive(t)); diff != "" {
			t.Errorf("alive (-want +got):\n%s", diff)
		}
	})
}

// A loop that hangs is no sign of life.
func TestAStandbyThatLooksNoMoreIsNotAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDutyBench(t)
		<-time.After(25 * time.Second)
		if d.health.Live().OK {
			t.Error("alive after four TTLs without a look")
		}
	})
}

func TestTheDefaultsOfTheLeaseFitTogether(t *testing.T) {
	cfg, err := config.Load()
	if err != nil {
		t.Fatal(err)
	}
	cfg.Refresher.Instance = "keeper-1"
	want := lease.Options{Role: "keeper", Holder: "keeper-1", Terms: lease.Terms{
		TTL: 6 * time.Second, RenewEvery: 2 * time.Second, PollEvery: 500 * time.Millisecond,
	}}
	if diff := cmp.Diff(want, leaseOptions(cfg)); diff != "" {
		t.Errorf("options (-want +got):\n%s", diff)
	}
}

// dutyBench is a duty and all that it writes to.
type dutyBench struct {
	*duty
	reader sdkmetric.Reader
	log    *bytes.Buffer
}

func newDutyBench(t *testing.T) *dutyBench {
	t.Helper()
	reader := sdkmetric.NewManualReader()
	m, err := metrics.NewKeeper(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)).Meter("test"))
	if err != nil {
		t.Fatal(err)
	}
	log := &bytes.Buffer{}
	return &dutyBench{duty: newDuty(slog.New(slog.NewTextHandler(log, nil)), m, telemetry.NewHealth(), 24*time.Second), reader: reader, log: log}
}

// alive are the loops that beat, all of which have to be young enough.
func (d *dutyBench) alive(t *testing.T) []string {
	t.Helper()
	report := d.health.Live()
	if !report.OK {
		t.Errorf("not alive: %+v", report)
	}
	var names []string
	for _, check := range report.Checks {
		names = append(names, check.Name)
	}
	return names
}

// told are the lines of the log, levels and messages.
func (d *dutyBench) told() []string {
	var lines []string
	for line := range strings.Lines(d.log.String()) {
		_, rest, _ := strings.Cut(line, "level=")
		level, rest, _ := strings.Cut(rest, " msg=")
		text := strings.TrimPrefix(rest, "\"")
		text, _, _ = strings.Cut(text, "\"")
		lines = append(lines, level+" "+text)
	}
	return lines
}
