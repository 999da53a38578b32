package service

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/keyqueue"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/telemetry/metrics"
)

func held(n int) map[reason.Reason]int { return map[reason.Reason]int{reason.Throttled: n} }

// What is held keeps no worker busy, and of a storm only the tenant's places
// count: more instances would not push it sooner.
func TestLoad(t *testing.T) {
	many := make([]keyqueue.TenantStats, 12)
	for i := range many {
		many[i] = keyqueue.TenantStats{Tenant: fmt.Sprint(i), Ready: i, Limit: 8}
	}
	tests := map[string]struct {
		tenants []keyqueue.TenantStats
		want    metrics.Load
	}{
		"nothing to do": {nil, metrics.Load{}},
		"held codes are no load": {
			[]keyqueue.TenantStats{{Tenant: "a", Held: held(5000), Limit: 8}},
			metrics.Load{Top: []int{5000}},
		},
		"one tenant's storm is its places": {
			[]keyqueue.TenantStats{{Tenant: "a", Ready: 3000, InFlight: 8, Held: held(100), Limit: 8}},
			metrics.Load{Top: []int{3100}, Share: 8. / 64},
		},
		"a tenant that WeCom slowed down": {
			[]keyqueue.TenantStats{{Tenant: "a", Ready: 3000, InFlight: 1, Limit: 1}},
			metrics.Load{Top: []int{3000}, Share: 1. / 64},
		},
		"many tenants, more than the workers": {
			[]keyqueue.TenantStats{{Tenant: "a", Ready: 50, InFlight: 50, Limit: 1000}, {Tenant: "b", Ready: 28, Limit: 1000}},
			metrics.Load{Top: []int{50, 28}, Share: 2},
		},
		"ten ranks": {many, metrics.Load{Top: []int{11, 10, 9, 8, 7, 6, 5, 4, 3, 2}, Share: 60. / 64}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, load(tt.tenants, 64)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestBacklogPage(t *testing.T) {
	page := backlogPage{workers: 64, tenants: func() []keyqueue.TenantStats {
		return []keyqueue.TenantStats{
			{Tenant: "calm", Ready: 1, Limit: 8},
			{Tenant: "storm", Ready: 30, InFlight: 8, Limit: 8, Held: map[reason.Reason]int{reason.Throttled: 7, reason.Backoff: 0}},
		}
	}}
	get := func(path string) *httptest.ResponseRecorder {
		answer := httptest.NewRecorder()
		page.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
		return answer
	}
	var got any
	if err := json.Unmarshal(get("/backlog?top=1").Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"tenants": 2., "workers": 64., "load": 9. / 64,
		"top": []any{map[string]any{
			"tenant": "storm", "runnable": 30., "in_flight": 8., "in_flight_limit": 8., "held": map[string]any{"throttled": 7.},
		}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, wrong := range []string{"0", "-1", "1001", "all"} {
		if answer := get("/backlog?top=" + wrong); answer.Code != http.StatusBadRequest {
			t.Errorf("top=%s: %d", wrong, answer.Code)
		}
	}
}
