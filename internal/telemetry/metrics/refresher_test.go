package metrics

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/rollcall-dev/rollcall/internal/alert"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

// Each recording method, and the one series it moves.
func TestRecording(t *testing.T) {
	for _, tc := range []struct {
		name   string
		record func(*Refresher)
		want   []string
	}{
		{
			"fast and unthrottled", func(r *Refresher) { r.Fresh(t.Context(), Freshness{Age: 300 * time.Millisecond}) },
			[]string{`rollcall.refresh.freshness{lane=fast,throttled=false} 1 x 0.3`},
		},
		{
			"slow and throttled", func(r *Refresher) { r.Fresh(t.Context(), Freshness{Age: time.Hour, Slow: true, Throttled: true}) },
			[]string{`rollcall.refresh.freshness{lane=slow,throttled=true} 1 x 3600`},
		},
		{
			"a producer's clock that is ahead", func(r *Refresher) { r.Fresh(t.Context(), Freshness{Age: -time.Second}) },
			[]string{`rollcall.refresh.freshness{lane=fast,throttled=false} 1 x 0`},
		},
		{
			"done", func(r *Refresher) { r.Refreshed(t.Context(), push.Done{Reason: reason.Pushed}, 20*time.Millisecond) },
			[]string{`rollcall.outcomes{outcome=done,reason=pushed} 1`, `rollcall.refresh.duration{outcome=done} 1 x 0.02`},
		},
		{
			"held", func(r *Refresher) { r.Refreshed(t.Context(), push.Hold{Cause: reason.SlowLane}, time.Millisecond) },
			[]string{`rollcall.outcomes{outcome=hold,reason=slow_lane} 1`, `rollcall.refresh.duration{outcome=hold} 1 x 0.001`},
		},
		{
			"parked", func(r *Refresher) {
				r.Refreshed(t.Context(), push.Park{Mark: push.Mark{Reason: reason.Suspended}}, time.Millisecond)
			},
			[]string{`rollcall.outcomes{outcome=park,reason=suspended} 1`, `rollcall.refresh.duration{outcome=park} 1 x 0.001`},
		},
		{
			"failed", func(r *Refresher) {
				r.Refreshed(t.Context(), push.Fail{Class: reason.Panicked, Err: errors.New("c1 of tenant t1")}, time.Millisecond)
			},
			[]string{`rollcall.outcomes{outcome=fail,reason=panicked} 1`, `rollcall.refresh.duration{outcome=fail} 1 x 0.001`},
		},
		{
			"an outcome nobody knows", func(r *Refresher) { r.Refreshed(t.Context(), nil, time.Millisecond) },
			[]string{`rollcall.outcomes{outcome=other,reason=other} 1`, `rollcall.refresh.duration{outcome=other} 1 x 0.001`},
		},
		{"a push applied", func(r *Refresher) { r.Pushed(t.Context(), Applied, "") }, []string{`rollcall.pushes{class=none,outcome=applied} 1`}},
		{"a push refused", func(r *Refresher) { r.Pushed(t.Context(), Refused, reason.BadMember) }, []string{`rollcall.pushes{class=bad_member,outcome=refused} 1`}},
		{"a push unknown", func(r *Refresher) { r.Pushed(t.Context(), Unknown, reason.Transient) }, []string{`rollcall.pushes{class=transient,outcome=unknown} 1`}},
		{"a refusal", func(r *Refresher) { r.BudgetRefused(t.Context(), reason.Blocked) }, []string{`rollcall.budget.refusals{cause=blocked} 1`}},
		{"a heartbeat", func(r *Refresher) { r.Heard(t.Context(), 30*time.Millisecond) }, []string{`rollcall.broker.heartbeat{} 1 x 0.03`}},
		{"a redelivery", func(r *Refresher) { r.Redelivered(t.Context()); r.Redelivered(t.Context()) }, []string{`rollcall.redeliveries{} 2`}},
		{"an ack", func(r *Refresher) { r.Acked(t.Context(), reason.Pushed) }, []string{`rollcall.acks{reason=pushed} 1`}},
		{
			"coalesced", func(r *Refresher) { r.Acked(t.Context(), reason.Coalesced) },
			[]string{`rollcall.acks{reason=coalesced} 1`, `rollcall.coalesced{} 1`},
		},
		{"a nack", func(r *Refresher) { r.Nacked(t.Context(), reason.HandedBack) }, []string{`rollcall.nacks{reason=handed_back} 1`}},
		{"a pause", func(r *Refresher) { r.Paced(t.Context()) }, []string{`rollcall.outcomes{outcome=hold,reason=paced} 1`}},
		{"an alert", func(r *Refresher) { r.Alerted(t.Context(), reason.Blocked, alert.Sent) }, []string{`rollcall.alerts{kind=blocked,outcome=sent} 1`}},
		{"a park", func(r *Refresher) { r.Parked(t.Context(), reason.Overflow) }, []string{`rollcall.parks{reason=overflow} 1`}},
		{"a dead letter", func(r *Refresher) { r.DeadLettered(t.Context(), reason.NoKey) }, []string{`rollcall.dead_letters{cause=no_key} 1`}},
		{"a cause nobody knows", func(r *Refresher) { r.DeadLettered(t.Context(), "tenant-4711") }, []string{`rollcall.dead_letters{cause=other} 1`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, reader := newRefresher(t)
			tc.record(r)
			if diff := cmp.Diff(tc.want, collect(t, reader)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestBacklogIsAskedWhenCollected(t *testing.T) {
	r, reader := newRefresher(t)
	now := Backlog{Runnable: 2, InFlight: 3, Held: map[reason.Reason]int{reason.Throttled: 5, reason.SlowLane: 7, "tenant-4711": 11}}
	stop, err := r.ObserveBacklog(func() Backlog { return now })
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`rollcall.backlog{cause=none,state=in_flight} 3`,
		`rollcall.backlog{cause=none,state=runnable} 2`,
		`rollcall.backlog{cause=other,state=held} 11`,
		`rollcall.backlog{cause=slow_lane,state=held} 7`,
		`rollcall.backlog{cause=throttled,state=held} 5`,
	}
	if diff := cmp.Diff(want, notZero(collect(t, reader))); diff != "" {
		t.Error(diff)
	}

	// What is over falls to zero and does not vanish.
	now = Backlog{}
	if got := collect(t, reader); len(notZero(got)) != 0 || !slices.Contains(got, `rollcall.backlog{cause=throttled,state=held} 0`) {
		t.Errorf("an empty process reports %v", got)
	}

	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if got := collect(t, reader); len(got) != 0 {
		t.Errorf("still asked after stop: %v", got)
	}
}

func TestTheBrokersCountersAreReadWhenCollected(t *testing.T) {
	r, reader := newRefresher(t)
	now := Broker{Resubscribed: 2, AcksDropped: 3, Batched: 5}
	stop, err := r.ObserveBroker(func() Broker { return now })
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`rollcall.broker.acks_dropped{} 3`,
		`rollcall.broker.batched_messages{} 5`,
		`rollcall.broker.resubscriptions{} 2`,
	}
	if diff := cmp.Diff(want, collect(t, reader)); diff != "" {
		t.Error(diff)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if got := collect(t, reader); len(got) != 0 {
		t.Errorf("still asked after stop: %v", got)
	}
}

// However it is used, the series stay within the bound of the catalog.
func TestSeriesAreBounded(t *testing.T) {
	r, reader := newRefresher(t)
	for i := range 100 {
		made := reason.Reason(fmt.Sprintf("tenant-%d", i))
		r.Refreshed(t.Context(), push.Hold{Cause: made}, 0)
		r.Pushed(t.Context(), Answer(made), made)
		r.BudgetRefused(t.Context(), made)
		r.Parked(t.Context(), made)
		r.DeadLettered(t.Context(), made)
		r.Acked(t.Context(), made)
		r.Nacked(t.Context(), made)
		r.Alerted(t.Context(), made, alert.Fate(made))
	}
	got := collect(t, reader)
	for _, series := range got {
		if strings.Contains(series, "tenant-") {
			t.Errorf("a label from outside: %s", series)
		}
	}
	if len(got) != 9 {
		t.Errorf("%d series, want one each: %v", len(got), got)
	}
}

func BenchmarkRefreshed(b *testing.B) {
	r, err := NewRefresher(sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader())).Meter("bench"))
	if err != nil {
		b.Fatal(err)
	}
	var outcome push.Outcome = push.Done{Reason: reason.Pushed}
	b.ReportAllocs()
	for b.Loop() {
		r.Refreshed(b.Context(), outcome, time.Millisecond)
	}
}

func newRefresher(t *testing.T) (*Refresher, sdkmetric.Reader) {
	t.Helper()
	reader := sdkmetric.NewManualReader()
	r, err := NewRefresher(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)).Meter("test"))
	if err != nil {
		t.Fatal(err)
	}
	return r, reader
}

// collect renders every series in one line, sorted: a sum with its value, a
// histogram with its count and mean.
func collect(t *testing.T, reader sdkmetric.Reader) []string {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			switch data := m.Data.(type) {
			case metricdata.Sum[int64]:
				for _, p := range data.DataPoints {
					lines = append(lines, fmt.Sprintf("%s %d", seriesName(m.Name, p.Attributes), p.Value))
				}
			case metricdata.Gauge[int64]:
				for _, p := range data.DataPoints {
					lines = append(lines, fmt.Sprintf("%s %d", seriesName(m.Name, p.Attributes), p.Value))
				}
			case metricdata.Gauge[float64]:
				for _, p := range data.DataPoints {
					lines = append(lines, fmt.Sprintf("%s %g", seriesName(m.Name, p.Attributes), p.Value))
				}
			case metricdata.Histogram[float64]:
				for _, p := range data.DataPoints {
					lines = append(lines, fmt.Sprintf("%s %d x %g", seriesName(m.Name, p.Attributes), p.Count, p.Sum/float64(p.Count)))
				}
			default:
				t.Errorf("%s is a %T", m.Name, m.Data)
			}
		}
	}
	slices.Sort(lines)
	return lines
}

func seriesName(name string, set attribute.Set) string {
	return name + "{" + set.Encoded(attribute.DefaultEncoder()) + "}"
}

func notZero(lines []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return strings.HasSuffix(line, " 0") })
}
