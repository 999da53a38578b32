package metrics

import (
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/metric"
)

// A route's word has no braces, and no two routes share one.
func TestRouteWords(t *testing.T) {
	seen := map[string]bool{}
	for _, word := range routeWords() {
		if seen[word] || strings.ContainsAny(word, "{}") {
			t.Errorf("%q is there twice, or has braces", word)
		}
		seen[word] = true
	}
	if !seen["PUT tenants/tenant/codes/code"] {
		t.Errorf("no word for the route of a code in %v", routeWords())
	}
}

func TestKindOf(t *testing.T) {
	for route, want := range map[string]string{
		"GET /v1/tenants/{tenant}":                kindRead,
		"PUT /v1/tenants/{tenant}":                kindWrite,
		"DELETE /v1/tenants/{tenant}/codes/{c}":   kindWrite,
		"POST /v1/tenants/{tenant}/imports/codes": kindImport,
		"none": Other,
	} {
		if got := kindOf(route); got != want {
			t.Errorf("%s is %s, want %s", route, got, want)
		}
	}
}

func touchAPI(t *testing.T, meter metric.Meter) {
	t.Helper()
	a, err := NewAPI(meter)
	if err != nil {
		t.Fatalf("NewAPI: %v", err)
	}
	for _, status := range []int{200, 404, 503, 302} {
		a.Answered(t.Context(), "PUT /v1/tenants/{tenant}", status, time.Second)
	}
	a.Refused(t.Context(), "bad_token")
}
