package service

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel/metric/noop"

	"github.com/rollcall-dev/rollcall/internal/access"
	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/publish"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// As wired: from the facts of a code, over the set that the draw makes, to the
// API and the page, by the configuration.
func TestTheDrawAsWired(t *testing.T) {
	server := miniredis.RunT(t)
	client := redis.NewClient(&redis.Options{Addr: server.Addr()})
	t.Cleanup(func() { _ = client.Close() })
	var cfg config.Config
	cfg.Redis.KeyPrefix = "mine:"
	cfg.Draw = config.Draw{PageRate: 1, PageBurst: 2, ImageSources: []string{"https://img.example"}, RepeatWithin: 7 * time.Second}
	drawing, err := NewDrawing(cfg, DrawingParts{
		Redis: client, Store: oneCode{}, Refresher: oneCode{}, Ways: oneCode{},
		Meter: noop.Meter{}, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}

	ask := func(h http.Handler, r *http.Request) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	api := httptest.NewRequest(http.MethodPost, "/v1/draw/c1?with=qr_code", http.NoBody)
	if w := ask(drawing.API, api); w.Code != http.StatusUnauthorized {
		t.Errorf("without a grant: %d", w.Code)
	}
	grant := access.Grant{Token: "t", Tenant: "acme", Scopes: []access.Scope{access.Draw}}
	api.Header.Set("Idempotency-Key", "k")
	w := ask(drawing.API, api.WithContext(access.WithGrant(t.Context(), grant)))
	var got struct {
		Staff string `json:"staff"`
		QR    string `json:"qr_code"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || got.Staff != "li.na" || got.QR != "https://img.example/li.na" {
		t.Errorf("%d: %s, %v", w.Code, w.Body, err)
	}
	for _, key := range server.Keys() {
		if !strings.HasPrefix(key, "mine:{c:acme:c1}:") {
			t.Errorf("key %s is outside the prefix", key)
		}
		if strings.Contains(key, "answer") && server.TTL(key) != 7*time.Second {
			t.Errorf("an answer is kept for %v, want 7s", server.TTL(key))
		}
	}

	page := httptest.NewRequest(http.MethodGet, "/c/c1", http.NoBody)
	page.Header.Set("Accept", "text/html")
	page.Header.Set("User-Agent", "MicroMessenger")
	w = ask(drawing.Page, page)
	if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "https://img.example/wang") ||
		!strings.Contains(w.Header().Get("Content-Security-Policy"), "img-src https://img.example;") || w.Result().Cookies()[0].MaxAge != 7 {
		t.Errorf("page: %d, %v\n%s", w.Code, w.Header(), w.Body)
	}
	codes := []int{ask(drawing.Page, page).Code, ask(drawing.Page, page).Code}
	if diff := cmp.Diff([]int{http.StatusOK, http.StatusTooManyRequests}, codes); diff != "" {
		t.Errorf("beyond the burst (-want +got):\n%s", diff)
	}
}

// oneCode is a store with one code, and all else that the draw asks.
type oneCode struct{}

func (oneCode) TenantOf(context.Context, string) (string, error) { return "acme", nil }

func (oneCode) Load(_ context.Context, ref push.Ref) (roster.Facts, push.Record, error) {
	return roster.Facts{
		Code: roster.Code{
			ID: ref.Code, Tenant: ref.Tenant, ConfigID: "cfg", Family: roster.Sequenced,
			Members: []roster.Member{{Staff: "li.na"}, {Staff: "wang"}},
		},
		Tenant: roster.Tenant{ID: ref.Tenant},
		Staff:  map[string]roster.Staff{"li.na": {ID: "li.na"}, "wang": {ID: "wang"}},
	}, push.Record{}, nil
}

func (oneCode) AdvanceRound(context.Context, push.Ref, int64) (bool, error) { return true, nil }

func (oneCode) Refresh(context.Context, push.Ref, string) (publish.Place, error) {
	return publish.Broker, nil
}

func (oneCode) MemberWay(_ context.Context, _ push.Ref, staff string) (string, error) {
	return "https://img.example/" + staff, nil
}
