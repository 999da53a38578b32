package wecomsim

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/rollcall-dev/rollcall/internal/wecomsim/limits"
)

func TestDoor(t *testing.T) {
	h := newHarness(t, Options{})
	update := "/cgi-bin/externalcontact/update_contact_way"
	for name, tc := range map[string]struct {
		method, path, body string
		want               int
	}{
		"no token":                           {"POST", update, "", 41001},
		"token in the body is no token":      {"POST", update, `{"access_token":"` + h.token + `"}`, 41001},
		"unknown token":                      {"POST", update + "?access_token=x", "", 40014},
		"token before parameters":            {"POST", update + "?access_token=x", `{"config_id":`, 40014},
		"GET of a POST call":                 {"GET", update + "?access_token=" + h.token, "", 43002},
		"POST of gettoken":                   {"POST", "/cgi-bin/gettoken?corpid=ww1&corpsecret=s1", "", 43001},
		"no secret, told before bad corp":    {"GET", "/cgi-bin/gettoken?corpid=nobody", "", 41004},
		"no corp":                            {"GET", "/cgi-bin/gettoken?corpsecret=s1", "", 40013},
		"bad corp":                           {"GET", "/cgi-bin/gettoken?corpid=nobody&corpsecret=s1", "", 40013},
		"bad secret":                         {"GET", "/cgi-bin/gettoken?corpid=ww1&corpsecret=nope", "", 40001},
		"a body beyond the limit":            {"POST", update + "?access_token=" + h.token, strings.Repeat(" ", maxBody+1), 45002},
		"a good call":                        {"POST", "/cgi-bin/externalcontact/list_contact_way?access_token=" + h.token, `{}`, 0},
		"a call without any body is no JSON": {"POST", "/cgi-bin/externalcontact/list_contact_way?access_token=" + h.token, ``, 47001},
	} {
		t.Run(name, func(t *testing.T) {
			got := h.do(tc.method, tc.path, tc.body)
			if got.ErrCode != tc.want || got.HTTP != http.StatusOK {
				t.Errorf("http %d, errcode %d %s; want %d", got.HTTP, got.ErrCode, got.ErrMsg, tc.want)
			}
			if e := h.lastCall(); e.ErrCode != tc.want {
				t.Errorf("the ledger says %d, want %d", e.ErrCode, tc.want)
			}
		})
	}
}

func TestTokenInAHeaderIsNoToken(t *testing.T) {
	h := newHarness(t, Options{})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://w/cgi-bin/externalcontact/list_contact_way", strings.NewReader("{}"))
	h.must(err)
	req.Header.Set("Authorization", "Bearer "+h.token)
	req.Header.Set("access_token", h.token)
	resp, err := h.sim.Client(home).Do(req)
	h.must(err)
	defer resp.Body.Close()
	if got := resp.Header.Get("Error-Code"); got != "41001" {
		t.Errorf("Error-Code %s, want 41001", got)
	}
}

func TestUnknownPathIs404WithoutABody(t *testing.T) {
	h := newHarness(t, Options{})
	for _, path := range []string{"/", "/cgi-bin/", "/cgi-bin/user/get", "/control/v1/corps", "/cgi-bin/gettoken/"} {
		got := h.get(path)
		if got.HTTP != http.StatusNotFound || got.Raw != "" {
			t.Errorf("%s: http %d, body %q", path, got.HTTP, got.Raw)
		}
	}
}

func TestShapeOfErrors(t *testing.T) {
	h := newHarness(t, Options{Limits: &limits.Config{Corp: []limits.Window{{Calls: 1, Length: time.Minute, Block: time.Minute}}}})
	h.call("list_contact_way", `{}`)
	got := h.call("list_contact_way", `{}`)
	shape := regexp.MustCompile(`^api freq out of limit, hint: \[\d{23}\], from ip: 10\.0\.0\.1, more info at https://\S+$`)
	if got.HTTP != http.StatusOK || got.ErrCode != 45009 || !shape.MatchString(got.ErrMsg) {
		t.Errorf("http %d: %s", got.HTTP, got.Raw)
	}
	if got.Header.Get("Error-Code") != "45009" || got.Header.Get("Error-Msg") != got.ErrMsg {
		t.Errorf("headers %v", got.Header)
	}
	if strings.Contains(got.Raw, h.token) {
		t.Error("an answer repeats the token")
	}
}

func TestTokens(t *testing.T) {
	h := newHarness(t, Options{Quirks: Quirks{TokenTTL: time.Hour}})
	use := func() int { return h.call("list_contact_way", `{}`).ErrCode }
	first := h.token
	if again := h.newToken(); again != first {
		t.Error("a second gettoken gives another token while the first is valid")
	}
	h.clock.add(59 * time.Minute)
	if got := use(); got != 0 {
		t.Errorf("before its end: %d", got)
	}
	h.clock.add(time.Minute)
	if got := use(); got != 42001 {
		t.Errorf("expired: %d, want 42001", got)
	}
	if h.token = h.newToken(); h.token == first {
		t.Error("an expired token is handed out again")
	}
	if got := use(); got != 0 {
		t.Errorf("the new one: %d", got)
	}
	h.clock.add(time.Hour)
	last := h.token
	h.token = h.newToken()
	for token, want := range map[string]int{h.token: 0, last: 42001, first: 40014} {
		h.token = token
		if got := use(); got != want {
			t.Errorf("of three tokens: %d, want %d", got, want)
		}
	}
	h.token = h.newToken()
	h.sim.InvalidateTokens(corpID)
	if got := use(); got != 40014 {
		t.Errorf("invalidated early: %d, want 40014", got)
	}
}

func TestExpiredTokenCodeIsASwitch(t *testing.T) {
	h := newHarness(t, Options{Quirks: Quirks{ExpiredCode: 40014}})
	h.clock.add(7200 * time.Second)
	if got := h.call("list_contact_way", `{}`); got.ErrCode != 40014 {
		t.Errorf("errcode %d", got.ErrCode)
	}
}

func TestExpiresInCountsDown(t *testing.T) {
	h := newHarness(t, Options{})
	h.clock.add(200 * time.Second)
	if got := h.get("/cgi-bin/gettoken?corpid=ww1&corpsecret=s1"); got.ExpiresIn != 7000 {
		t.Errorf("expires_in %d, want 7000", got.ExpiresIn)
	}
}

func TestAppsAndTrustedIPs(t *testing.T) {
	h := newHarness(t, Options{})
	for name, tc := range map[string]struct {
		corp Corp
		want int
	}{
		"disabled app":    {Corp{Apps: []App{{Secret: secret, Disabled: true}}}, 50003},
		"app not allowed": {Corp{Apps: []App{{Secret: secret, NotAllowed: true}}}, 48002},
		"app is gone":     {Corp{Apps: []App{{Secret: "other"}}}, 40014},
		"another IP":      {Corp{Apps: []App{{Secret: secret}}, TrustedIPs: []string{"10.9.9.9"}}, 60020},
		"a trusted IP":    {Corp{Apps: []App{{Secret: secret}}, TrustedIPs: []string{home}}, 0},
	} {
		tc.corp.ID = corpID
		h.must(h.sim.SetCorp(tc.corp))
		if got := h.call("list_contact_way", `{}`); got.ErrCode != tc.want {
			t.Errorf("%s: %d, want %d", name, got.ErrCode, tc.want)
		}
	}
	h.sim.RemoveCorp(corpID)
	if got := h.call("list_contact_way", `{}`); got.ErrCode != 40014 {
		t.Errorf("removed corp: %d", got.ErrCode)
	}
}

func TestBadSecretsInARowBlockTheIP(t *testing.T) {
	h := newHarness(t, Options{Quirks: Quirks{BadSecrets: 3}})
	bad := func() int { return h.get("/cgi-bin/gettoken?corpid=ww1&corpsecret=nope").ErrCode }
	bad()
	bad()
	h.newToken() // a right one in between begins the count anew
	got := []int{bad(), bad(), bad(), bad(), h.call("list_contact_way", `{}`).ErrCode}
	if diff := cmp.Diff([]int{40001, 40001, 40001, 45009, 45009}, got); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	h.ip = "10.0.0.2"
	if got := h.call("list_contact_way", `{}`).ErrCode; got != 0 {
		t.Errorf("another IP: %d", got)
	}
	h.ip = home
	h.clock.add(time.Hour)
	if got := h.call("list_contact_way", `{}`).ErrCode; got != 0 {
		t.Errorf("an hour later: %d", got)
	}
}

func TestUnblockLiftsEveryBlock(t *testing.T) {
	h := newHarness(t, Options{
		Quirks: Quirks{BadSecrets: 1},
		Limits: &limits.Config{IP: []limits.Window{{Calls: 1, Length: time.Hour, Block: time.Hour}}},
	})
	h.sim.Unblock()
	h.get("/cgi-bin/gettoken?corpid=ww1&corpsecret=nope")
	if got := h.call("list_contact_way", `{}`).ErrCode; got != 45009 {
		t.Fatalf("not blocked: %d", got)
	}
	h.sim.Unblock()
	if got := h.call("list_contact_way", `{}`).ErrCode; got != 0 {
		t.Errorf("still blocked: %d", got)
	}
}

func TestDocumentedMinuteOfACorp(t *testing.T) {
	h := newHarness(t, Options{})
	id := h.add(`{"type":2,"scene":2,"user":["u1"]}`)
	body := `{"config_id":"` + id + `"}`
	for i := range 10_000 {
		if got := h.call("get_contact_way", body); got.ErrCode != 0 {
			t.Fatalf("call %d: %d", i, got.ErrCode)
		}
	}
	if got := h.call("get_contact_way", body); got.ErrCode != 45009 {
		t.Errorf("call 10 001: %d", got.ErrCode)
	}
	if got := h.call("list_contact_way", `{}`); got.ErrCode != 0 {
		t.Errorf("another API is blocked as well: %d", got.ErrCode)
	}
	h.clock.add(59 * time.Second)
	if got := h.call("get_contact_way", body); got.ErrCode != 45009 {
		t.Errorf("59 s later: %d", got.ErrCode)
	}
	h.clock.add(time.Second)
	if got := h.call("get_contact_way", body); got.ErrCode != 0 {
		t.Errorf("60 s later: %d", got.ErrCode)
	}
}

func TestConcurrencyOfACorpOnOneAPI(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, Options{Now: time.Now, Limits: &limits.Config{Concurrency: 5}})
		h.must(h.sim.SetLatency(Latency{P50: time.Second}))
		h.token = h.newToken()
		got := map[int]int{}
		var mu sync.Mutex
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				code := h.call("list_contact_way", `{}`).ErrCode
				mu.Lock()
				defer mu.Unlock()
				got[code]++
			})
		}
		wg.Wait()
		if diff := cmp.Diff(map[int]int{0: 5, 45033: 3}, got); diff != "" {
			t.Errorf("answers (-want +got):\n%s", diff)
		}
		if code := h.call("list_contact_way", `{}`).ErrCode; code != 0 {
			t.Errorf("afterwards: %d", code)
		}
	})
}

func TestConflictingWrites(t *testing.T) {
	for policy, want := range map[ConflictPolicy]map[int]int{
		ConflictsAllowed: {0: 2},
		ConflictsRefused: {0: 1, 45035: 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := newHarness(t, Options{Now: time.Now, Quirks: Quirks{Conflicts: policy}})
			a, b := h.add(`{"type":2,"scene":2,"user":["u1"]}`), h.add(`{"type":2,"scene":2,"user":["u1"]}`)
			h.must(h.sim.SetLatency(Latency{P50: time.Second}))
			codes := make(chan int, 2)
			var wg sync.WaitGroup
			for range 2 {
				wg.Go(func() { codes <- h.call("update_contact_way", `{"config_id":"`+a+`","user":["u2"]}`).ErrCode })
			}
			wg.Go(func() {
				if got := h.call("update_contact_way", `{"config_id":"`+b+`","user":["u2"]}`).ErrCode; got != 0 {
					t.Errorf("%s: another way is in conflict: %d", policy, got)
				}
			})
			wg.Go(func() { h.way(a) }) // reading is no conflict
			wg.Wait()
			if got := h.call("update_contact_way", `{"config_id":"`+a+`","user":["u3"]}`).ErrCode; got != 0 {
				t.Errorf("%s: a write after both: %d", policy, got)
			}
			got := map[int]int{<-codes: 1}
			got[<-codes]++
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", policy, diff)
			}
		})
	}
}

func TestLedgerTellsTheWholeCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen []Call
		h := newHarness(t, Options{Now: time.Now, OnCall: func(c Call) { seen = append(seen, c) }})
		id := h.add(`{"type":2,"scene":2,"user":["u1"]}`)
		h.must(h.sim.SetLatency(Latency{P50: 2 * time.Second}))
		sent := time.Now()
		h.call("update_contact_way", `{"config_id":"`+id+`","user":["u2","u3"]}`)
		want := Call{
			Seq: 3, Received: sent, Applied: sent.Add(time.Second), Corp: corpID, IP: home, API: "update_contact_way",
			ConfigID: id, Members: []string{"u2", "u3"}, Version: 2, HTTPStatus: 200,
		}
		if diff := cmp.Diff(want, h.lastCall()); diff != "" {
			t.Errorf("entry (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(want, seen[len(seen)-1], cmpopts.IgnoreFields(Call{}, "Seq")); diff != "" {
			t.Errorf("observed (-want +got):\n%s", diff)
		}
		if took := time.Since(sent); took != 2*time.Second {
			t.Errorf("the answer came after %v, want 2s", took)
		}
	})
}

func TestCounters(t *testing.T) {
	h := newHarness(t, Options{Keep: 1})
	h.add(`{"type":2,"scene":2,"user":["u1"]}`)
	h.add(`{"type":2,"scene":2,"user":["u1"]}`)
	h.call("get_contact_way", `{"config_id":"gone"}`)
	want := []CallCount{
		{API: "add_contact_way", Calls: 2},
		{API: "get_contact_way", ErrCode: 41044, Calls: 1},
		{API: "gettoken", Calls: 1},
	}
	got := h.sim.Counters()
	if diff := cmp.Diff(want, got.Calls); diff != "" {
		t.Errorf("counters (-want +got):\n%s", diff)
	}
	if got.Of("add_contact_way", 0) != 2 || got.Of("add_contact_way", 45009) != 0 {
		t.Errorf("Of: %d and %d", got.Of("add_contact_way", 0), got.Of("add_contact_way", 45009))
	}
	h.sim.ClearRecords()
	if diff := cmp.Diff(Counters{Calls: []CallCount{}}, h.sim.Counters()); diff != "" {
		t.Errorf("after ClearRecords (-want +got):\n%s", diff)
	}
}

func TestIPOfTheHeader(t *testing.T) {
	h := newHarness(t, Options{})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://w/cgi-bin/gettoken", nil)
	h.must(err)
	req.Header.Set(DefaultIPHeader, "10.7.7.7")
	resp, err := h.sim.Client(home).Do(req)
	h.must(err)
	h.must(resp.Body.Close())
	if got := h.lastCall().IP; got != "10.7.7.7" {
		t.Errorf("IP %s", got)
	}
}

func TestNewReplacesOptionsThatMakeNoSense(t *testing.T) {
	s := New(Options{
		Limits: &limits.Config{Kind: "tumbling"}, Quirks: Quirks{Propagation: -1}, Latency: Latency{P50: 2, P99: 1}, Keep: -5,
	})
	defer s.Close()
	if diff := cmp.Diff(limits.Documented(), s.Limits()); diff != "" {
		t.Errorf("limits (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(DefaultQuirks(), s.Quirks()); diff != "" {
		t.Errorf("quirks (-want +got):\n%s", diff)
	}
	if s.Latency() != (Latency{}) {
		t.Errorf("latency %v", s.Latency())
	}
}

func TestResetForgetsTheWorldAndKeepsTheBehavior(t *testing.T) {
	h := newHarness(t, Options{Quirks: Quirks{GoneText: "kept"}})
	h.add(`{"type":2,"scene":2,"user":["u1"]}`)
	h.sim.Reset()
	if n := len(h.sim.Corps()); n != 0 {
		t.Errorf("%d corps", n)
	}
	if kept, _ := h.sim.Ledger().Len(); kept != 0 || len(h.sim.Counters().Calls) != 0 {
		t.Error("records are left")
	}
	h.must(h.sim.SetCorp(Corp{ID: corpID, Apps: []App{{Secret: secret}}}))
	if got := h.call("list_contact_way", `{}`).ErrCode; got != 40014 {
		t.Errorf("an old token, the corp being there again: %d", got)
	}
	if h.sim.Quirks().GoneText != "kept" {
		t.Error("quirks are lost")
	}
}

func TestCorpsAndStaff(t *testing.T) {
	h := newHarness(t, Options{})
	if err := h.sim.SetCorp(Corp{}); err == nil {
		t.Error("a corp without an ID is accepted")
	}
	if err := h.sim.SetCorp(Corp{ID: "c", Callback: Callback{URL: "http://x", EncodingAESKey: "short", Token: "t"}}); err == nil || strings.Contains(err.Error(), "short") {
		t.Errorf("a bad key: %v", err)
	}
	if err := h.sim.SetStaff("nobody", Staff{UserID: "u"}); err == nil {
		t.Error("staff of an unknown corp is accepted")
	}
	if err := h.sim.SetStaff(corpID, Staff{}); err == nil {
		t.Error("a member without an ID is accepted")
	}
	h.must(h.sim.SetStaff(corpID, Staff{UserID: "u2", Departments: []int{3}}))
	if !h.sim.RemoveStaff(corpID, "u1") || h.sim.RemoveStaff(corpID, "u1") {
		t.Error("RemoveStaff does not report whether there was one")
	}
	want := []Staff{{UserID: "u2", Departments: []int{3}}, {UserID: "u3"}}
	if diff := cmp.Diff(want, h.sim.Staff(corpID)); diff != "" {
		t.Errorf("staff (-want +got):\n%s", diff)
	}
	for party, want := range map[int]int{1: 60003, 2: 60003, 3: 0} { // their members left
		if got := h.call("add_contact_way", fmt.Sprintf(`{"type":2,"scene":2,"party":[%d]}`, party)).ErrCode; got != want {
			t.Errorf("department %d: %d, want %d", party, got, want)
		}
	}
}

func BenchmarkUpdate(b *testing.B) {
	h := newHarness(b, unlimited())
	h.must(h.sim.SetCorp(Corp{ID: corpID, Apps: []App{{Secret: secret}}, OpenRoster: true}))
	id := h.add(`{"type":2,"scene":2,"user":["u1"]}`)
	body := `{"config_id":"` + id + `","user":` + users(10) + `}`
	for b.Loop() {
		if r := h.call("update_contact_way", body); r.ErrCode != 0 {
			b.Fatal(r.ErrMsg)
		}
	}
}

func BenchmarkAddWay(b *testing.B) {
	s := New(Options{})
	defer s.Close()
	members := []string{"u1", "u2", "u3"}
	b.ReportAllocs()
	for b.Loop() {
		s.AddWay(corpID, Way{Users: members})
	}
}
