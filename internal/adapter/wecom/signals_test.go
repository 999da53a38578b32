package wecom_test

import (
	"net/http"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/trace"

	"github.com/rollcall-dev/rollcall/internal/adapter/wecom"
)

// A span says where a call went and how it ended, and nothing of its query.
func TestSpans(t *testing.T) {
	out, b := observedBench(t)
	b.stub.next(wecom.OpUpdate, 45009)
	_ = b.update(t)

	spans := out.spans.GetSpans()
	if len(spans) != 2 {
		t.Fatalf("%d spans, want one a request", len(spans))
	}
	common := map[string]string{
		"server.address": "wecom.invalid", "server.port": "80", "rollcall.tenant": tenant, "http.response.status_code": "200",
	}
	for i, want := range []struct {
		name  string
		attrs map[string]string
		code  codes.Code
	}{
		{name: "wecom gettoken", attrs: map[string]string{"http.request.method": "GET", "url.path": "/prefix/cgi-bin/gettoken"}},
		{name: "wecom update_contact_way", code: codes.Error, attrs: map[string]string{
			"http.request.method": "POST", "url.path": "/prefix/cgi-bin/externalcontact/update_contact_way",
			"wecom.errcode": "45009", "error.type": "throttled", "rollcall.outcome_unknown": "false",
		}},
	} {
		span := spans[i]
		for key, value := range common {
			want.attrs[key] = value
		}
		got := map[string]string{}
		for _, attr := range span.Attributes {
			got[string(attr.Key)] = attr.Value.String()
		}
		if diff := cmp.Diff(want.attrs, got); diff != "" {
			t.Errorf("attributes of %s (-want +got):\n%s", span.Name, diff)
		}
		if span.Name != want.name || span.SpanKind != trace.SpanKindClient || span.Status.Code != want.code {
			t.Errorf("span %q of kind %v, status %v", span.Name, span.SpanKind, span.Status.Code)
		}
	}
}

func TestMetrics(t *testing.T) {
	out, b := observedBench(t)
	b.stub.next(wecom.OpUpdate, 42001, 0, 45009, 41044, 40003, -1)
	for range 5 {
		_ = b.update(t)
	}
	got := map[string]uint64{}
	for _, point := range histogram(t, out, "rollcall.wecom.call.duration") {
		got[labels(point.Attributes)] = point.Count
	}
	want := map[string]uint64{
		"class=ok op=gettoken":                      2,
		"class=ok op=update_contact_way":            1,
		"class=token_refused op=update_contact_way": 1,
		"class=throttled op=update_contact_way":     1,
		"class=gone op=update_contact_way":          1,
		"class=bad_member op=update_contact_way":    1,
		"class=transient op=update_contact_way":     1,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

func TestMetricsOfBreakersAndStore(t *testing.T) {
	out := newOutput()
	options := out.options()
	options.HTTP = &http.Client{Transport: answersStatus(500)}
	endpoint := newEndpoint(t, options)
	tokens := wecom.NewTokens(endpoint, goodCredentials(), wecom.TokensOptions{Store: brokenStore{}})
	t.Cleanup(tokens.Close)
	vendor := wecom.NewVendor(wecom.NewClient(endpoint, tokens), wecom.VendorOptions{})
	for range 7 {
		_ = vendor.Update(t.Context(), pushCall(noDeadline))
	}
	if diff := cmp.Diff(map[string]int64{"scope=tenant state=open": 1}, counter(t, out, "rollcall.wecom.breaker.transitions")); diff != "" {
		t.Errorf("transitions (-want +got):\n%s", diff)
	}
	want := map[string]int64{"operation=get": 5, "operation=lease": 5, "operation=refusal": 5}
	if diff := cmp.Diff(want, counter(t, out, "rollcall.wecom.token_store.failures")); diff != "" {
		t.Errorf("store failures (-want +got):\n%s", diff)
	}
	if n := strings.Count(out.logs.String(), "circuit breaker turned"); n != 1 {
		t.Errorf("%d log lines of the breaker", n)
	}
}

func observedBench(t *testing.T) (*output, *bench) {
	out := newOutput()
	b := &bench{stub: newStub(), credentials: goodCredentials()}
	options := out.options()
	options.HTTP = &http.Client{Transport: inMemory{b.stub}}
	options.BaseURL = "http://wecom.invalid/prefix"
	b.endpoint = newEndpoint(t, options)
	b.tokens = wecom.NewTokens(b.endpoint, b.credentials, wecom.TokensOptions{})
	t.Cleanup(b.tokens.Close)
	b.client = wecom.NewClient(b.endpoint, b.tokens)
	return out, b
}

func histogram(t *testing.T, out *output, name string) []metricdata.HistogramDataPoint[float64] {
	t.Helper()
	data, ok := find(t, out, name).(metricdata.Histogram[float64])
	if !ok {
		t.Fatalf("%s is not a histogram", name)
	}
	return data.DataPoints
}

func counter(t *testing.T, out *output, name string) map[string]int64 {
	t.Helper()
	data, ok := find(t, out, name).(metricdata.Sum[int64])
	if !ok {
		t.Fatalf("%s is not a counter", name)
	}
	counts := map[string]int64{}
	for _, point := range data.DataPoints {
		counts[labels(point.Attributes)] = point.Value
	}
	return counts
}

func find(t *testing.T, out *output, name string) metricdata.Aggregation {
	t.Helper()
	for _, scope := range out.collect(t).ScopeMetrics {
		for _, metric := range scope.Metrics {
			if metric.Name == name {
				return metric.Data
			}
		}
	}
	t.Fatalf("no metric %s", name)
	return nil
}

func labels(set attribute.Set) string {
	var all []string
	for _, attr := range set.ToSlice() {
		all = append(all, string(attr.Key)+"="+attr.Value.String())
	}
	sort.Strings(all)
	return strings.Join(all, " ")
}
