package control

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/rollcall-dev/rollcall/internal/wecomsim"
	"github.com/rollcall-dev/rollcall/internal/wecomsim/fault"
	"github.com/rollcall-dev/rollcall/internal/wecomsim/ledger"
	"github.com/rollcall-dev/rollcall/internal/wecomsim/limits"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Each step is a request with what it answers: "404", or "200" with a part of
// the body.
func TestControl(t *testing.T) {
	type step struct{ request, body, want string }
	for name, steps := range map[string][]step{
		"corps": {
			{"GET /corps", "", `200 []`},
			{"PUT /corps/c1", `{"apps":[{"secret":"hush"}],"trusted_ips":["10.0.0.1"]}`, "204"},
			{"GET /corps", "", `200 [{"id":"c1","apps":[{"secret":""}],"trusted_ips":["10.0.0.1"]}]`},
			{"PUT /corps/c2", `{"callback":{"url":"http://x","token":"t","encoding_aes_key":"short"}}`, "400 EncodingAESKey"},
			{"PUT /corps/c2", `{"apss":[]}`, "400 apss"},
			{"PUT /corps/c2", ``, "400 body is empty"},
			{"POST /corps/c1/tokens/invalidate", "", "204"},
			{"POST /corps/c1/callback/verify", "", "502 no URL"},
			{"DELETE /corps/c1", "", "204"},
			{"DELETE /corps/c1", "", "404 no corp"},
		},
		"staff": {
			{"PUT /corps/c1/staff", `[{"user_id":"u1"}]`, "404 no corp"},
			{"PUT /corps/c1", `{}`, "204"},
			{"PUT /corps/c1/staff", `[{"user_id":"u1","not_verified":true,"departments":[1]},{"user_id":"u2"}]`, "204"},
			{"PUT /corps/c1/staff", `[{"user_id":""}]`, "400 empty"},
			{"GET /corps/c1/staff", "", `200 [{"user_id":"u1","departments":[1],"not_verified":true},{"user_id":"u2"}]`},
			{"DELETE /corps/c1/staff/u1", "", "204"},
			{"DELETE /corps/c1/staff/u1", "", "404 no member"},
		},
		"ways": {
			{"POST /corps/c1/ways", `[{"config_id":"w1","user":["u1"]},{"config_id":"w2","user":["u2"]}]`, `200 {"config_ids":["w1","w2"]}`},
			{"GET /corps/c1/ways/w1", "", `200 "user":["u1"]`},
			{"GET /corps/c1/ways", "", `200 "config_id":"w2"`},
			{"GET /corps/c1/ways/w9", "", "404 no contact way"},
			{"PUT /corps/c1/ways/w1/users", `["u3"]`, "204"},
			{"GET /corps/c1/ways/w1", "", `200 "user":["u3"]`},
			{"PUT /corps/c1/ways/w9/users", `["u3"]`, "404 no contact way"},
			{"PUT /corps/c1/ways/w1/users", `{}`, "400"},
			{"DELETE /corps/c1/ways/w1", "", "204"},
			{"DELETE /corps/c1/ways/w1", "", "404 no contact way"},
			{"POST /reset", "", "204"},
			{"GET /corps/c1/ways/w2", "", "404"},
		},
		"load": {
			{"POST /load", `{"corps":[{"id":"c1","open_roster":true,"staff":[{"user_id":"u1"}],"ways":[{"config_id":"w1","user":["u1"]}]}]}`, "204"},
			{"GET /corps", "", `200 "open_roster":true`},
			{"GET /corps/c1/staff", "", `200 u1`},
			{"GET /corps/c1/ways/w1", "", `200 u1`},
			{"POST /load", `{"corps":[{"id":""}]}`, "400 no ID"},
			{"POST /load", `{"corps":[{"id":"c","staff":[{}]}]}`, "400 user ID is empty"},
			{"POST /load", `{`, "400 load"},
		},
		"limits": {
			{"GET /limits", "", `200 {"calls":150000,"length":"1h0m0s","block":"1h0m0s"}`},
			{"PUT /limits", `{"kind":"fixed","corp":[{"calls":5,"length":"2s","block":"1s"}],"ip":[],"concurrency":5}`, "204"},
			{"GET /limits", "", `200 {"kind":"fixed","concurrency":5,"corp":[{"calls":5,"length":"2s","block":"1s"}],"ip":[]}`},
			{"PUT /limits", `{"kind":"tumbling"}`, "400 tumbling"},
			{"PUT /limits", `{"corp":[{"calls":5,"length":2}]}`, "400 write it as a string"},
			{"PUT /limits", `{"corp":[{"calls":5,"length":"2 parsecs"}]}`, "400 duration"},
			{"POST /limits/unblock", "", "204"},
		},
		"latency": {
			{"PUT /latency", `{"p50":"40ms","p99":"300ms"}`, "204"},
			{"GET /latency", "", `200 {"p50":"40ms","p99":"300ms"}`},
			{"PUT /latency", `{"p50":"40ms","p99":"30ms"}`, "400 p99"},
			{"PUT /latency", `{"p95":"40ms"}`, "400 p95"},
		},
		"quirks": {
			{"PUT /quirks", `{"gone_code":41037,"propagation":"3s","conflicts":"refuse"}`, "204"},
			{"GET /quirks", "", `200 "gone_code":41037`},
			{"GET /quirks", "", `200 "propagation":"3s"`},
			{"GET /quirks", "", `200 "token_ttl":"2h0m0s"`},
			{"PUT /quirks", `{"conflicts":"perhaps"}`, "400 perhaps"},
			{"PUT /quirks", `[]`, "400"},
		},
		"faults": {
			{"POST /faults", `{"api":"update_contact_way","member":"u1","action":"timeout","phase":"after","hang":"2s","count":3}`, `200 {"id":"fault-1"}`},
			{"GET /faults", "", `200 "action":"timeout","phase":"after","count":3,"hits":0,"hang":"2s"`},
			{"POST /faults", `{"action":"explode"}`, "400 explode"},
			{"POST /faults", `{`, "400"},
			{"DELETE /faults/fault-1", "", "204"},
			{"DELETE /faults/fault-1", "", "404 no fault"},
			{"DELETE /faults", "", "204"},
			{"GET /faults", "", "200 []"},
		},
		"scans": {
			{"GET /scans", "", "200 []"},
			{"POST /scans", `{"rate":5}`, "400 no codes"},
			{"POST /corps/c1/ways", `[{"config_id":"w1","user":["u1"]}]`, "200"},
			{"POST /scans", `{"rate":1000,"count":3,"corps":["c1"]}`, `200 {"id":"scans-1"}`},
			{"DELETE /scans/scans-1?wait=1", "", `200 "ended":true`},
			{"GET /scans/scans-1", "", `200 "id":"scans-1"`},
			{"GET /scans", "", `200 scans-1`},
			{"GET /scans/scans-9", "", "404"},
			{"DELETE /scans/scans-9", "", "404"},
			{"POST /corps/c1/scan/w1", "", `200 "member":"u1"`},
			{"POST /corps/c1/scan/w9", "", `200 "lost":"gone"`},
			{"GET /scanlog", "", `200 "lost":"gone"`},
			{"GET /scanlog?after=x", "", "400 number"},
			{"POST /scans", `{"rate":1,"codes":[{"corp":"c1","config_id":"w1","drawn":true}]}`, "400 there is no draw"},
		},
		"events": {
			{"POST /events", `{"corp":"c1","change_type":"delete_user","user_id":"u1"}`, "404 no corp"},
			{"PUT /corps/c1", `{}`, "204"},
			{"POST /events", `{"corp":"c1","event":"change_contact","change_type":"delete_user","user_id":"u1"}`, "204"},
			{"POST /events", `{"company":"c1"}`, "400 company"},
		},
		"records": {
			{"GET /ledger", "", "200"},
			{"GET /ledger?errcode=x", "", "400 errcode"},
			{"GET /ledger?since=yesterday", "", "400 since"},
			{"GET /ledger?colour=red", "", "400 no such selector"},
			{"GET /ledger/peaks", "", "400 window"},
			{"GET /ledger/peaks?window=60s&by=moon", "", "400 moon"},
			{"GET /ledger/peaks?window=60s&by=ip&api=gettoken", "", "200 []"},
			{"GET /ledger/peaks?window=60s&limit=x", "", "400 limit"},
			{"GET /counters", "", `200 {"calls":[]`},
			{"DELETE /records", "", "204"},
		},
		"elsewhere": {
			{"GET /", "", "404"},
			{"POST /corps", "", "405"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, handler := serve(t)
			for _, s := range steps {
				if got := ask(t, handler, s.request, s.body); !agrees(got, s.want) {
					t.Errorf("%s %s\n got %s\nwant %s", s.request, s.body, got, s.want)
				}
			}
		})
	}
}

func TestLedgerOverTheWire(t *testing.T) {
	sim, handler := serve(t)
	client := sim.Client("10.0.0.1")
	for _, query := range []string{"", "?corpid=c1", "?corpid=c1&corpsecret=x"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://w/cgi-bin/gettoken"+query, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if err := resp.Body.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for query, want := range map[string]int{
		"": 3, "?errcode=41004": 2, "?errcode=40013": 1, "?after=1": 2, "?limit=2": 2, "?ip=10.0.0.1&api=gettoken": 3,
		"?corp=c9": 0, "?config_id=w": 0, "?fault=timeout_after": 0,
		"?until=2000-01-01T00:00:00Z": 0, "?since=2000-01-01T00:00:00Z": 3,
	} {
		got := ask(t, handler, "GET /ledger"+query, "")
		lines := strings.Count(got, "\n")
		if lines != want {
			t.Errorf("%q: %d lines, want %d: %s", query, lines, want, got)
		}
	}
	var peaks []ledger.Peak
	body := strings.TrimPrefix(ask(t, handler, "GET /ledger/peaks?window=1h&by=ip", ""), "200 ")
	if err := json.Unmarshal([]byte(body), &peaks); err != nil || len(peaks) != 1 || peaks[0].Sliding != 3 {
		t.Errorf("peaks %+v, %v", peaks, err)
	}
	if got := ask(t, handler, "GET /counters", ""); !strings.Contains(got, `{"api":"gettoken","errcode":41004,"calls":2}`) {
		t.Errorf("counters %s", got)
	}
}

// What goes over the wire comes back the same.
func TestWireKeepsEverything(t *testing.T) {
	q := wecomsim.DefaultQuirks()
	q.TokenTTL, q.Propagation, q.BadSecretBlock = time.Second, 2*time.Second, 3*time.Second
	checkWire(t, wireQuirks(q), q, quirksWire.quirks)
	checkWire(t, wireLimits(limits.Provider()), limits.Provider(), limitsWire.config)
	checkWire(t, wireLatency(wecomsim.Latency{P50: 1, P99: 2}), wecomsim.Latency{P50: 1, P99: 2}, latencyWire.latency)
	rule := fault.Rule{
		ID: "i", API: "a", Corp: "c", ConfigID: "w", Member: "m", Action: fault.Status, Phase: fault.After,
		ErrCode: 1, Status: 500, Hang: time.Minute, Skip: 2, Count: 3, Probability: 0.5, Hits: 4,
	}
	checkWire(t, wireRules([]fault.Rule{rule})[0], rule, ruleWire.rule)
}

func TestPlanOfScans(t *testing.T) {
	var w scansWire
	body := `{"codes":[{"corp":"c","config_id":"w","weight":2,"drawn":true}],"corps":["d"],"rate":3,"zipf":1.1,"count":4,"seed":5,
		"draw":{"url":"http://d/{state}","method":"GET","field":"staff","header":{"Authorization":"Bearer t"}},"delay":{"p50":"1s","p99":"2s"},
		"add_share":0.1,"half_share":0.2,"loss_share":0.3,"duplicate_share":0.4}`
	if err := json.Unmarshal([]byte(body), &w); err != nil {
		t.Fatal(err)
	}
	want := wecomsim.Scans{
		Codes: []wecomsim.ScanCode{{Corp: "c", ConfigID: "w", Weight: 2, Drawn: true}}, Corps: []string{"d"},
		Rate: 3, Zipf: 1.1, Count: 4, Seed: 5,
		Draw: wecomsim.HTTPDraw{
			URL: "http://d/{state}", Method: "GET", Field: "staff", Header: map[string]string{"Authorization": "Bearer t"},
		},
		After: wecomsim.After{
			Delay:    wecomsim.Latency{P50: time.Second, P99: 2 * time.Second},
			AddShare: 0.1, HalfShare: 0.2, LossShare: 0.3, DuplicateShare: 0.4,
		},
	}
	if diff := cmp.Diff(want, w.plan()); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
}

func checkWire[W, P any](t *testing.T, wire W, want P, plain func(W) P) {
	t.Helper()
	body, err := json.Marshal(wire)
	if err != nil {
		t.Fatal(err)
	}
	var back W
	if err := json.Unmarshal(body, &back); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	if diff := cmp.Diff(want, plain(back)); diff != "" {
		t.Errorf("%T over the wire (-want +got):\n%s", want, diff)
	}
}

func serve(tb testing.TB) (*wecomsim.Sim, http.Handler) {
	tb.Helper()
	sim := wecomsim.New(wecomsim.Options{})
	tb.Cleanup(sim.Close)
	return sim, Handler(sim)
}

// ask returns the status and the body, as "200 {…}".
func ask(tb testing.TB, handler http.Handler, request, body string) string {
	tb.Helper()
	method, path, _ := strings.Cut(request, " ")
	r := httptest.NewRequestWithContext(tb.Context(), method, "/control/v1"+path, strings.NewReader(body))
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	raw, err := io.ReadAll(w.Result().Body)
	if err != nil {
		tb.Fatal(err)
	}
	return strconv.Itoa(w.Code) + " " + string(raw)
}

// agrees reports whether the answer has the status and the part of the body;
// quotes within an error's text count as written.
func agrees(got, want string) bool {
	status, part, _ := strings.Cut(want, " ")
	return strings.HasPrefix(got, status+" ") && strings.Contains(strings.ReplaceAll(got, `\"`, `"`), part)
}
