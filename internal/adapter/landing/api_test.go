package landing

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/access"
	"github.com/rollcall-dev/rollcall/internal/draw"
)

func TestPostDraw(t *testing.T) {
	tests := map[string]struct {
		given   func(*house)
		target  string // "" is /v1/draw/c1
		headers []string
		status  int
		body    string
		retry   string
	}{
		"a draw": {
			status: 200, body: `{"code":"c1","staff":"li.na","round":3,"lap":41,"position":2}`,
		},
		"a draw with the QR code": {
			target: "/v1/draw/c1?with=qr_code", status: 200,
			body: `{"code":"c1","staff":"li.na","round":3,"lap":41,"position":2,"qr_code":"https://wework.qpic.cn/wwpic/123/0?a=1&b=2"}`,
		},
		"the QR code cannot be had: the draw stands": {
			given:  func(h *house) { h.url, h.wayErr = "", errGone },
			target: "/v1/draw/c1?with=qr_code", status: 200, body: `{"code":"c1","staff":"li.na","round":3,"lap":41,"position":2}`,
		},
		"nobody authenticated": {
			given: func(h *house) { h.grant = nil }, status: 401, body: "no_token",
		},
		"a token for something else": {
			given:  func(h *house) { h.grant.Scopes = []access.Scope{access.Read, access.Write, access.Admin} },
			status: 403, body: "scope_missing",
		},
		"no such code, or another tenant's": {
			given: func(h *house) { h.err = draw.ErrUnknown }, status: 404, body: "unknown_code",
		},
		"nobody free": {
			given: func(h *house) { h.err = draw.ErrExhausted }, status: 409, body: "nobody_free", retry: "2",
		},
		"deleted": {
			given: func(h *house) { h.err = draw.ErrDeleted }, status: 410, body: "deleted",
		},
		"WeCom picks": {
			given: func(h *house) { h.err = draw.ErrNative }, status: 422, body: "not_drawn",
		},
		"Redis gone": {
			given: func(h *house) { h.err = draw.ErrUnavailable }, status: 503, body: "unavailable", retry: "1",
		},
		"facts that contradict themselves": {
			given: func(h *house) { h.err = draw.ErrInvalid }, status: 503, body: "invalid_facts", retry: "60",
		},
		"an error nobody knows": {
			given: func(h *house) { h.err = errGone }, status: 503, body: "unavailable", retry: "1",
		},
		"a key that is too long": {
			headers: []string{"Idempotency-Key: " + strings.Repeat("k", 256)}, status: 400, body: "malformed",
		},
		"a key with a space": {
			headers: []string{"Idempotency-Key: a b"}, status: 400, body: "malformed",
		},
		"a key in Chinese": {
			headers: []string{"Idempotency-Key: 键"}, status: 400, body: "malformed",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			if tt.given != nil {
				tt.given(h)
			}
			target := "/v1/draw/c1"
			if tt.target != "" {
				target = tt.target
			}
			w := h.call(http.MethodPost, target, tt.headers...)
			if w.Code != tt.status || w.Header().Get("Cache-Control") != "no-store" || w.Header().Get("Retry-After") != tt.retry {
				t.Errorf("%d, %v", w.Code, w.Header())
			}
			if tt.status == 200 {
				var got, want map[string]any
				if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
					t.Fatal(err)
				}
				if err := json.Unmarshal([]byte(tt.body), &want); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("answer (-want +got):\n%s", diff)
				}
				return
			}
			wantProblem(t, w.Header(), w.Body.Bytes(), tt.status, tt.body)
		})
	}
}

func wantProblem(t *testing.T, header http.Header, body []byte, status int, code string) {
	t.Helper()
	var p problem
	if err := json.Unmarshal(body, &p); err != nil {
		t.Fatal(err)
	}
	if header.Get("Content-Type") != "application/problem+json" || p.Status != status || p.Code != code ||
		p.Title != http.StatusText(status) || p.Type != typeBase+code || p.Detail == "" {
		t.Errorf("%s: %+v", header.Get("Content-Type"), p)
	}
	if strings.Contains(string(body), "secret-detail") {
		t.Errorf("the problem tells of our inside: %s", body)
	}
	if status == http.StatusUnauthorized && header.Get("WWW-Authenticate") == "" {
		t.Error("no WWW-Authenticate")
	}
}

// A key belongs to the token that sent it, so that nobody gets another's answer;
// an answer that was repeated says so.
func TestIdempotencyKeys(t *testing.T) {
	h := newHouse(t)
	h.call(http.MethodPost, "/v1/draw/c1")
	h.call(http.MethodPost, "/v1/draw/c1", "Idempotency-Key: k")
	h.turn.Repeated = true
	again := h.call(http.MethodPost, "/v1/draw/c1", "Idempotency-Key: k")
	h.grant.Token = "t2"
	h.call(http.MethodPost, "/v1/draw/c1", "Idempotency-Key: k")
	if h.asked[0].Key != "" || h.asked[1].Key == "" || h.asked[1].Key != h.asked[2].Key || h.asked[1].Key == h.asked[3].Key {
		t.Errorf("keys %q, %q, %q, %q", h.asked[0].Key, h.asked[1].Key, h.asked[2].Key, h.asked[3].Key)
	}
	if again.Header().Get("Idempotency-Replayed") != "true" {
		t.Errorf("headers of a repeated answer: %v", again.Header())
	}
	if h.asked[0].Grant == nil || h.asked[0].Grant.Tenant != "acme" {
		t.Errorf("the desk does not learn who asks: %+v", h.asked[0])
	}
}

func TestOtherMethods(t *testing.T) {
	h := newHouse(t)
	for _, method := range []string{http.MethodPut, http.MethodDelete, http.MethodPatch, http.MethodOptions} {
		w := h.call(method, "/v1/draw/c1")
		wantProblem(t, w.Header(), w.Body.Bytes(), 405, "method_not_allowed")
		if w.Header().Get("Allow") != "GET, HEAD, POST" || len(h.asked) > 0 {
			t.Errorf("%s: Allow %q, %d draws", method, w.Header().Get("Allow"), len(h.asked))
		}
	}
}

func TestGetDraws(t *testing.T) {
	h := newHouse(t)
	w := h.call(http.MethodGet, "/v1/draw/c1")
	want := `{"code":"c1","draws":[{"at":"2026-03-02T09:00:00Z","staff":"li.na","round":3,"lap":41,"position":2}]}` + "\n"
	if diff := cmp.Diff(want, w.Body.String()); diff != "" || w.Code != 200 {
		t.Errorf("%d (-want +got):\n%s", w.Code, diff)
	}
	if len(h.asked) > 0 {
		t.Error("looking drew somebody")
	}
	h.err = draw.ErrUnknown
	w = h.call(http.MethodGet, "/v1/draw/c1")
	wantProblem(t, w.Header(), w.Body.Bytes(), 404, "unknown_code")
	h.grant.Scopes = []access.Scope{access.Draw}
	w = h.call(http.MethodGet, "/v1/draw/c1")
	wantProblem(t, w.Header(), w.Body.Bytes(), 403, "scope_missing")
	if diff := cmp.Diff([]string{"api refused"}, h.endings); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}
