package metrics_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/rollcall-dev/rollcall/internal/adapter/redisbudget"
	"github.com/rollcall-dev/rollcall/internal/adapter/wecom"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/telemetry/metrics"
)

// The adapters make instruments of their own. Each of them is in the catalog,
// with its kind, unit and labels, and records no value that is not in a label's
// set.
func TestInstrumentsOfTheAdaptersAreInTheCatalog(t *testing.T) {
	reader := sdkmetric.NewManualReader()
	provider := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))
	touchBudget(t, provider)
	touchVendor(t, provider)

	var all metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	catalog := map[string]metrics.Instrument{}
	var want, got []string
	for _, i := range metrics.Catalog() {
		catalog[i.Name] = i
		if strings.HasPrefix(i.Name, "rollcall.wecom.") || (strings.HasPrefix(i.Name, "rollcall.budget.") && !slices.Contains(ours, i.Name)) {
			want = append(want, i.Name)
		}
	}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			got = append(got, m.Name)
			conform(t, m, catalog[m.Name])
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("instruments (-catalog +adapters):\n%s", diff)
	}
}

// ours are the instruments of this package whose names begin like an adapter's.
var ours = []string{"rollcall.budget.refusals", "rollcall.budget.limit"}

func conform(t *testing.T, m metricdata.Metrics, i metrics.Instrument) {
	t.Helper()
	if m.Unit != i.Unit {
		t.Errorf("%s: unit %q, in the catalog %q", m.Name, m.Unit, i.Unit)
	}
	var points []attribute.Set
	var kind metrics.Kind
	switch data := m.Data.(type) {
	case metricdata.Sum[int64]:
		kind = metrics.Counter
		for _, p := range data.DataPoints {
			points = append(points, p.Attributes)
		}
	case metricdata.Gauge[int64]:
		kind = metrics.Gauge
		for _, p := range data.DataPoints {
			points = append(points, p.Attributes)
		}
	case metricdata.Histogram[float64]:
		kind = metrics.Histogram
		for _, p := range data.DataPoints {
			points = append(points, p.Attributes)
			if diff := cmp.Diff(i.Buckets, p.Bounds); diff != "" {
				t.Errorf("%s: buckets (-catalog +adapter):\n%s", m.Name, diff)
			}
		}
	}
	if kind != i.Kind || len(points) == 0 {
		t.Errorf("%s: %q with %d series, in the catalog %q", m.Name, kind, len(points), i.Kind)
	}
	for _, point := range points {
		within(t, m.Name, point, i.Labels)
	}
}

func within(t *testing.T, name string, point attribute.Set, labels []metrics.Label) {
	t.Helper()
	if point.Len() != len(labels) {
		t.Errorf("%s: %d labels, in the catalog %d", name, point.Len(), len(labels))
	}
	for _, l := range labels {
		value, ok := point.Value(attribute.Key(l.Key))
		if !ok || !slices.Contains(l.Values, value.String()) {
			t.Errorf("%s: label %s is %q, in the catalog %v", name, l.Key, value.String(), l.Values)
		}
	}
}

// touchBudget has the budget grant, book, refuse and give what is spare, be told
// of both of WeCom's refusals, and lose Redis.
func touchBudget(t *testing.T, provider *sdkmetric.MeterProvider) {
	t.Helper()
	server := miniredis.RunT(t)
	client := redis.NewClient(&redis.Options{Addr: server.Addr(), MaxRetries: -1})
	t.Cleanup(func() { _ = client.Close() })
	budget, err := redisbudget.New(client, redisbudget.Options{
		TenantWindows: []redisbudget.Window{{Calls: 3 + 2*62, Per: time.Minute}}, TenantBurst: 2, RemovalShare: 0.5,
		ParkAfter: 10 * time.Second, Meter: provider.Meter("test"), Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	ask := func(tenant string, codes int) {
		for n := range codes {
			if _, err := budget.Admit(ctx, push.Ask{Ref: push.Ref{Tenant: tenant, Code: string(rune('a' + n))}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := budget.Spare(ctx, "idle"); err != nil {
		t.Fatal(err)
	}
	ask("busy", 26)
	for _, code := range []int{redisbudget.ErrCodeFrequency, 45033} {
		if _, err := budget.Throttled(ctx, "busy", code); err != nil {
			t.Fatal(err)
		}
	}
	ask("busy", 1)
	server.SetError("gone")
	ask("busy", 3)
}

// touchVendor calls a WeCom that is not there, with a token store that is down.
func touchVendor(t *testing.T, provider *sdkmetric.MeterProvider) {
	t.Helper()
	endpoint, err := wecom.NewEndpoint(wecom.EndpointOptions{
		BaseURL: "http://wecom.invalid", MeterProvider: provider, HTTP: &http.Client{Transport: answering{}},
	})
	if err != nil {
		t.Fatal(err)
	}
	tokens := wecom.NewTokens(endpoint, anyone{}, wecom.TokensOptions{Store: downStore{}})
	t.Cleanup(tokens.Close)
	client := wecom.NewClient(endpoint, tokens)
	vendor := wecom.NewVendor(client, wecom.VendorOptions{})
	for range 7 {
		_ = vendor.Update(t.Context(), push.Call{Ref: push.Ref{Tenant: "acme", Code: "c"}, ConfigID: "w", Members: []string{"amy"}})
	}
	_, _ = client.GetContactWay(t.Context(), "acme", "w")
}

type answering struct{}

func (answering) RoundTrip(r *http.Request) (*http.Response, error) {
	if path.Base(r.URL.Path) == wecom.OpGetToken {
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(`{"errcode":0,"access_token":"t","expires_in":7200}`))}, nil
	}
	return &http.Response{StatusCode: http.StatusBadGateway, Body: http.NoBody}, nil
}

type anyone struct{}

func (anyone) Credentials(context.Context, string) (string, wecom.Secret, error) {
	return "corp", wecom.NewSecret("secret"), nil
}

var errDown = errors.New("down")

// downStore fails at the operations that it is asked for.
type downStore struct{ wecom.TokenStore }

func (downStore) Get(context.Context, string) (wecom.Token, bool, error) {
	return wecom.Token{}, false, errDown
}
func (downStore) Put(context.Context, string, wecom.Token) error { return errDown }
func (downStore) Lease(context.Context, string, time.Duration) (wecom.Lease, error) {
	return nil, errDown
}
