//go:build integration

package quota

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/access"
	"github.com/rollcall-dev/rollcall/internal/wecomsim"
	"github.com/rollcall-dev/rollcall/test/await"
)

// A company begins with nothing but a token: its facts go in through the API,
// its code is made at WeCom, customers come through draws and the landing page,
// WeCom tells of them, and the member who reaches the company's ceiling leaves
// all lists and is told of. Then he resigns.
func TestTheLoopFromATokenToACeiling(t *testing.T) {
	c := newCompany(t)
	h, sim := c.house, c.sim
	const robotKey = "loop-robot"
	sim.AddRobot(robotKey)
	c.put("", `{"daily_total": 2}`)
	c.put("/notifications", fmt.Sprintf(`{"robot": {"key": %q}}`, robotKey))
	c.put("/staff/li", `{}`)
	c.put("/staff/zhang.san", `{}`)
	c.put("/codes/door", `{"family": "sequenced", "state": "door", "members": [{"staff": "li"}, {"staff": "zhang.san"}], "contact_way": {"create": true}}`)
	c.put("/codes/wall", `{"family": "native", "state": "wall", "members": [{"staff": "li"}, {"staff": "zhang.san"}], "contact_way": {"create": true}}`)
	h.must(sim.VerifyURL(t.Context(), "corp-acme"))
	c.lists(sim, "door", "li", "zhang.san")
	c.lists(sim, "wall", "li", "zhang.san")

	// Everybody in turn, by the API and on the page.
	if got := c.draw("door") + c.draw("door") + c.draw("door"); got != "lizhang.sanli" {
		t.Errorf("drawn in turn: %s", got)
	}
	page := c.page("/c/door")
	if !strings.Contains(page, "<img") || strings.Contains(page, "<script") {
		t.Errorf("the landing page shows no QR code, or runs scripts:\n%s", page)
	}

	// Two customers take li to the company's ceiling of two a day.
	for i := range 2 {
		h.must(sim.Emit(t.Context(), wecomsim.Event{
			Corp: "corp-acme", ChangeType: wecomsim.AddExternalContact, UserID: "li", ExternalUserID: fmt.Sprintf("wm%d", i), State: "door",
		}))
	}
	reached := time.Now()
	c.lists(sim, "door", "zhang.san")
	c.lists(sim, "wall", "zhang.san")
	left := time.Since(reached)
	await.Until(t, 20*time.Second, 50*time.Millisecond, "the company is told", func() bool { return len(sim.RobotMessages(robotKey)) == 1 })
	told := time.Since(reached)
	if text := fmt.Sprint(sim.RobotMessages(robotKey)[0]); !strings.Contains(text, "li") {
		t.Errorf("the message does not name him: %s", text)
	}

	h.must(sim.Emit(t.Context(), wecomsim.Event{Corp: "corp-acme", Event: wecomsim.ChangeContact, ChangeType: wecomsim.DeleteUser, UserID: "li"}))
	if body := c.get("/staff/li"); !strings.Contains(body, `"resigned":true`) {
		t.Errorf("who has resigned is not known to: %s", body)
	}
	c.refused()
	t.Logf("at the ceiling: off both lists at WeCom after %v, the company told after %v", left.Round(time.Millisecond), told.Round(time.Millisecond))
}

// company is a client of the API with a token, and the simulated WeCom.
type company struct {
	*house
	sim        *wecomsim.Sim
	url, token string
}

// newCompany starts the three roles for a tenant whose app, credentials and
// callbacks are set up.
func newCompany(t *testing.T, env ...string) *company {
	t.Helper()
	sim := wecomsim.New(wecomsim.Options{})
	t.Cleanup(sim.Close)
	vendor := httptest.NewServer(sim.Handler())
	t.Cleanup(vendor.Close)
	h := newHouse(t, append(env, "ROLLCALL_WECOM_BASE_URL="+vendor.URL)...)
	c := &company{house: h, sim: sim, token: h.mint(access.Write, access.Read, access.Draw, access.Admin), url: h.start("ingress").URL()}
	h.start("keeper")
	h.start("refresher")
	app, callbackToken, key := rand.Text(), rand.Text(), aesKey()
	h.must(sim.SetCorp(wecomsim.Corp{
		ID: "corp-acme", Apps: []wecomsim.App{{Secret: app}}, OpenRoster: true,
		Callback: wecomsim.Callback{URL: c.url + "/callback/acme", Token: callbackToken, EncodingAESKey: key},
	}))
	c.put("", `{}`)
	c.put("/credentials", fmt.Sprintf(`{"corp_id": "corp-acme", "secret": %q}`, app))
	c.put("/callback", fmt.Sprintf(`{"token": %q, "aes_key": %q, "receive_ids": ["corp-acme"]}`, callbackToken, key))
	return c
}

func (h *house) mint(scopes ...access.Scope) string {
	return h.mintFor(access.Order{Tenant: "acme", Scopes: scopes})
}

func (h *house) mintFor(order access.Order) string {
	h.Helper()
	secret, token, err := access.Mint(order, time.Now())
	h.must(err)
	h.must(h.db.Tokens().Create(h.Context(), token))
	return secret
}

func (c *company) do(method, path, token, body string) (int, string) {
	c.Helper()
	req, err := http.NewRequestWithContext(c.Context(), method, c.url+path, bytes.NewReader([]byte(body)))
	c.must(err)
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Accept", "text/html, application/json")
	resp, err := http.DefaultClient.Do(req)
	c.must(err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	c.must(err)
	return resp.StatusCode, string(text)
}

func (c *company) put(path, body string) {
	c.Helper()
	if status, text := c.do(http.MethodPut, "/v1/tenants/acme"+path, c.token, body); status/100 != 2 {
		c.Fatalf("PUT %s: %d %s", path, status, text)
	}
}

func (c *company) get(path string) string {
	c.Helper()
	status, text := c.do(http.MethodGet, "/v1/tenants/acme"+path, c.token, "")
	if status != http.StatusOK {
		c.Errorf("GET %s: %d %s", path, status, text)
	}
	return strings.ReplaceAll(text, " ", "")
}

func (c *company) draw(code string) string {
	c.Helper()
	status, text := c.do(http.MethodPost, "/v1/draw/"+code, c.token, "")
	var drawn struct{ Staff string }
	if err := json.Unmarshal([]byte(text), &drawn); err != nil || status != http.StatusOK {
		c.Fatalf("draw: %d %s", status, text)
	}
	return drawn.Staff
}

func (c *company) page(path string) string {
	c.Helper()
	status, text := c.do(http.MethodGet, path, "", "")
	if status != http.StatusOK {
		c.Errorf("GET %s: %d %s", path, status, text)
	}
	return text
}

// lists waits until WeCom holds a list for the code with a state.
func (c *company) lists(sim *wecomsim.Sim, state string, want ...string) {
	c.Helper()
	var held []string
	await.Until(c, 30*time.Second, 10*time.Millisecond, fmt.Sprintf("WeCom lists %v on %s", want, state), func() bool {
		for way := range sim.Ways("corp-acme") {
			if way.State == state && way.Type == wecomsim.MultiUser {
				held = way.Users
			}
		}
		return fmt.Sprint(held) == fmt.Sprint(want)
	})
}

// refused asks as those who may not.
func (c *company) refused() {
	c.Helper()
	other := c.mintFor(access.Order{Tenant: "other", Scopes: []access.Scope{access.Read, access.Write, access.Admin, access.Draw}})
	reader := c.mint(access.Read)
	for _, tc := range []struct {
		name, method, path, token, body string
		want                            int
	}{
		{"no token", http.MethodGet, "/v1/tenants/acme", "", "", http.StatusUnauthorized},
		{"a wrong token", http.MethodGet, "/v1/tenants/acme", c.token + "x", "", http.StatusUnauthorized},
		{"another company's token", http.MethodGet, "/v1/tenants/acme", other, "", http.StatusNotFound},
		{"another company's draw", http.MethodPost, "/v1/draw/door", other, "", http.StatusNotFound},
		{"a token that may only read", http.MethodPut, "/v1/tenants/acme", reader, `{}`, http.StatusForbidden},
		{"a token that may not draw", http.MethodPost, "/v1/draw/door", reader, "", http.StatusForbidden},
		{"secrets are for administrators", http.MethodGet, "/v1/tenants/acme/credentials", reader, "", http.StatusForbidden},
		{"a callback that nobody signed", http.MethodPost, "/callback/acme?msg_signature=0&timestamp=1&nonce=1", "", "<xml><Encrypt>AAAA</Encrypt></xml>", http.StatusForbidden},
		{"a callback for nobody", http.MethodGet, "/callback/nobody", "", "", http.StatusNotFound},
	} {
		if status, text := c.do(tc.method, tc.path, tc.token, tc.body); status != tc.want {
			c.Errorf("%s: status %d, want %d: %s", tc.name, status, tc.want, text)
		}
	}
}
