package metrics

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	prometheusexporter "go.opentelemetry.io/otel/exporters/prometheus"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"

	"github.com/rollcall-dev/rollcall/internal/alert"
	"github.com/rollcall-dev/rollcall/internal/board"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

func TestEveryInstrumentIsDescribed(t *testing.T) {
	name := regexp.MustCompile(`^rollcall(\.[a-z_]+)+$`)
	unit := regexp.MustCompile(`^(s|\{[a-z]+\})$`)
	seen := map[string]bool{}
	for _, i := range Catalog() {
		switch {
		case !name.MatchString(i.Name) || seen[i.Name]:
			t.Errorf("%s: not a name, or twice", i.Name)
		case !unit.MatchString(i.Unit):
			t.Errorf("%s: unit %q", i.Name, i.Unit)
		case !strings.HasSuffix(i.What, ".") || !strings.HasSuffix(i.Action, "."):
			t.Errorf("%s: what and action are sentences", i.Name)
		case (i.Kind == Histogram) != (len(i.Buckets) > 0) || !slices.IsSorted(i.Buckets):
			t.Errorf("%s: buckets %v", i.Name, i.Buckets)
		case len(i.Labels) > 2:
			t.Errorf("%s: %d labels", i.Name, len(i.Labels))
		}
		seen[i.Name] = true
	}
}

// A label that comes from a reason has room for one that is not in the set; no
// value is there twice; the whole catalog stays small.
func TestLabelsAreClosedSets(t *testing.T) {
	// What cannot have another value: it is made of a truth, a number, or a word
	// that stands in the code that records it.
	fixed := []string{"lane", "throttled", "state", "rank", "scope", "window", "granted", "result", "errcode", "op", "operation"}
	total := 0
	for _, i := range Catalog() {
		each := 1
		if i.Kind == Histogram {
			each = len(i.Buckets) + 3 // and +Inf, sum and count
		}
		total += i.Series() * each
		for _, l := range i.Labels {
			sorted := slices.Sorted(slices.Values(l.Values))
			if len(slices.Compact(sorted)) != len(l.Values) {
				t.Errorf("%s %s: a value twice in %v", i.Name, l.Key, l.Values)
			}
			if !slices.Contains(fixed, l.Key) && !slices.Contains(l.Values, Other) {
				t.Errorf("%s %s: no room for %q", i.Name, l.Key, Other)
			}
		}
	}
	if total > 2300 {
		t.Errorf("up to %d series a process", total)
	}
}

// The Prometheus names in the catalog are those that Prometheus sees.
func TestPrometheusNames(t *testing.T) {
	registry := prometheus.NewRegistry()
	exporter, err := prometheusexporter.New(prometheusexporter.WithRegisterer(registry), prometheusexporter.WithoutScopeInfo(), prometheusexporter.WithoutTargetInfo())
	if err != nil {
		t.Fatal(err)
	}
	meter := sdkmetric.NewMeterProvider(sdkmetric.WithReader(exporter)).Meter("test")
	r, err := NewRefresher(meter)
	if err != nil {
		t.Fatal(err)
	}
	touchAll(t, r)
	touchLoad(t, r)
	sub, err := NewSubscription(meter)
	if err != nil {
		t.Fatal(err)
	}
	touchSubscription(t, sub)
	noted, err := NewTrail(meter)
	if err != nil {
		t.Fatal(err)
	}
	noted.Noted(t.Context(), "written", 1)
	told, err := NewBoard(meter)
	if err != nil {
		t.Fatal(err)
	}
	told.Lost(t.Context(), board.LostReport, 1)
	if _, err := ObserveDependencies(meter, func() map[string]bool { return map[string]bool{"redis": true} }); err != nil {
		t.Fatal(err)
	}
	touchKeeper(t, meter)
	touchBackstop(t, meter)
	touchDraws(t, meter)
	touchWays(t, meter)
	touchShadows(t, meter)
	touchQuota(t, meter)
	touchNotifications(t, meter)
	touchAPI(t, meter)

	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var got, want []string
	for _, family := range families {
		got = append(got, family.GetName())
	}
	elsewhere := adapting()
	for _, i := range Catalog() {
		if !slices.ContainsFunc(elsewhere, func(a Instrument) bool { return a.Name == i.Name }) {
			want = append(want, i.Prometheus)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestFindKnowsOnlyTheCatalog(t *testing.T) {
	if _, err := find("rollcall.nothing"); err == nil {
		t.Error("found an instrument that is not in the catalog")
	}
}

// touchAll moves every instrument once.
func touchAll(t *testing.T, r *Refresher) {
	t.Helper()
	ctx := t.Context()
	r.Fresh(ctx, Freshness{Age: time.Second})
	r.Refreshed(ctx, push.Done{Reason: reason.Pushed}, time.Second)
	r.Pushed(ctx, Applied, "")
	r.BudgetRefused(ctx, reason.Throttled)
	r.Redelivered(ctx)
	r.Heard(ctx, time.Second)
	r.Acked(ctx, reason.Coalesced)
	r.Nacked(ctx, reason.HandedBack)
	r.Alerted(ctx, reason.Blocked, alert.Sent)
	r.Parked(ctx, reason.Overflow)
	r.DeadLettered(ctx, reason.NoKey)
	if _, err := r.ObserveBacklog(func() Backlog { return Backlog{} }); err != nil {
		t.Fatal(err)
	}
	if _, err := r.ObserveBroker(func() Broker { return Broker{} }); err != nil {
		t.Fatal(err)
	}
}
