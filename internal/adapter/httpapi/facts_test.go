package httpapi_test

import (
	std "cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/publish"
	"github.com/rollcall-dev/rollcall/internal/registry"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

const acme = "/v1/tenants/acme"

func put(path, body string) call {
	return call{method: "PUT", path: path, token: everything, body: body}
}
func get(path string) call { return call{method: "GET", path: path, token: everything} }
func del(path string) call { return call{method: "DELETE", path: path, token: everything} }

// outcome is what a write answers.
type outcome struct {
	Created    bool
	Changed    bool
	Published  string
	FanOut     *struct{ ID string } `json:"fan_out"`
	ContactWay string               `json:"contact_way"`
}

// shown is what a GET answers: facts can be put back as they are.
type shown struct {
	Facts map[string]any
	State map[string]any
}

// What was put is shown, and what is shown can be put back and changes nothing.
func TestFactsGoInAndComeOut(t *testing.T) {
	tests := map[string]struct {
		path, body string
		want       map[string]any
	}{
		"tenant": {acme, `{"time_zone":"Asia/Tokyo","daily_total":60,"fallback":["boss"],"tier":"premium","whitelisted":true,"max_removal_share":0.25}`, map[string]any{
			"time_zone": "Asia/Tokyo", "daily_total": 60.0, "fallback": []any{"boss"}, "tier": "premium", "whitelisted": true, "max_removal_share": 0.25,
		}},
		"tenant by default": {acme, `{}`, map[string]any{
			"time_zone": "", "daily_total": 0.0, "fallback": []any{}, "tier": "", "whitelisted": false, "max_removal_share": 0.0,
		}},
		"staff": {acme + "/staff/li%2Fna%20%E5%A8%9C", `{"schedule":{"weekly":[[],[{"from":540,"to":1080}]],"special":{"20261001":[]}},"presence":"offline","resigned":true}`, map[string]any{
			"schedule": map[string]any{
				"weekly":  []any{[]any{}, []any{map[string]any{"from": 540.0, "to": 1080.0}}, []any{}, []any{}, []any{}, []any{}, []any{}},
				"special": map[string]any{"20261001": []any{}},
			}, "presence": "offline", "resigned": true,
		}},
		"staff by default": {acme + "/staff/wang", `{}`, map[string]any{"schedule": nil, "presence": "schedule", "resigned": false}},
		"code": {acme + "/codes/new", `{"config_id":"cfg","family":"quota","members":[{"staff":"a","add_limit":1,"daily_limit":2,"round_limit":3},{"staff":"b"}],
			"backups":["c"],"switches":{"daily_limit":true},"on_empty":"tenant_fallback","remark":"展位 7","state":"s","skip_verify":true}`, map[string]any{
			"config_id": "cfg", "family": "quota", "backups": []any{"c"}, "on_empty": "tenant_fallback", "remark": "展位 7", "state": "s", "skip_verify": true,
			"members":  []any{map[string]any{"staff": "a", "add_limit": 1.0, "daily_limit": 2.0, "round_limit": 3.0}, map[string]any{"staff": "b"}},
			"switches": map[string]any{"offline_check": false, "add_limit": false, "daily_limit": true, "round_limit": false},
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			if first := r.do(t, put(test.path, test.body)); first.status > 201 {
				t.Fatalf("answers %d %s", first.status, first.body)
			}
			got := into[shown](t, r.want(t, get(test.path), 200))
			if diff := cmp.Diff(test.want, got.Facts); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			back, err := json.Marshal(got.Facts)
			if err != nil {
				t.Fatal(err)
			}
			if again := into[outcome](t, r.want(t, put(test.path, string(back)), 200)); again.Changed || again.Created {
				t.Errorf("put back, it answers %+v", again)
			}
		})
	}
}

// Each write says what it has led to.
func TestWritesSayWhatFollows(t *testing.T) {
	tests := map[string]struct {
		send      call
		status    int
		published string
		fanOut    string
		location  string
	}{
		"a new tenant":    {put("/v1/tenants/initech", `{}`), 201, "fan_out", "initech", "/v1/tenants/initech"},
		"a tenant":        {put(acme, `{"daily_total":5}`), 200, "fan_out", "acme", ""},
		"nothing new":     {put(acme, `{"fallback":["boss"]}`), 200, "not_needed", "", ""},
		"a tenant's lane": {put(acme+"/lane", `{"lane":"slow"}`), 200, "fan_out", "acme", ""},
		"a tenant's mode": {put(acme+"/mode", `{"mode":"shadow"}`), 200, "fan_out", "acme", ""},
		"a new member":    {put(acme+"/staff/%E5%A8%9C", `{}`), 201, "fan_out", "acme/娜", acme + "/staff/%E5%A8%9C"},
		"presence":        {put(acme+"/staff/zhang.san/presence", `{"presence":"offline"}`), 200, "fan_out", "acme/zhang.san", ""},
		"a schedule":      {put(acme+"/staff/zhang.san/schedule", `{"schedule":{"weekly":[]}}`), 200, "fan_out", "acme/zhang.san", ""},
		"no schedule":     {put(acme+"/staff/zhang.san/schedule", `{"schedule":null}`), 200, "not_needed", "", ""},
		"a resignation":   {put(acme+"/staff/zhang.san/resigned", `{"resigned":true}`), 200, "fan_out", "acme/zhang.san", ""},
		"a new code":      {put(acme+"/codes/new", `{"config_id":"cfg","family":"native"}`), 201, "broker", "", acme + "/codes/new"},
		"switches":        {put(acme+"/codes/c-1/switches", `{"add_limit":true}`), 200, "broker", "", ""},
		"a code's lane":   {put(acme+"/codes/c-1/lane", `{"lane":"fast"}`), 200, "broker", "", ""},
		"a code's mode":   {put(acme+"/codes/c-1/mode", `{"mode":"live"}`), 200, "broker", "", ""},
		"a retirement":    {del(acme + "/codes/c-1"), 200, "broker", "", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			got := r.want(t, test.send, test.status)
			out := into[outcome](t, got)
			if out.Published != test.published || (out.FanOut != nil) != (test.fanOut != "") || out.FanOut != nil && out.FanOut.ID != test.fanOut {
				t.Errorf("%s, want %s %s", got.body, test.published, test.fanOut)
			}
			if location := got.header.Get("Location"); location != test.location {
				t.Errorf("Location %q, want %q", location, test.location)
			}
		})
	}
}

// The lane, the presence and the mark of a resignation are not lost to a PUT of
// the description.
func TestADescriptionLeavesTheRestAlone(t *testing.T) {
	r := newRig(t)
	for _, send := range []call{
		put(acme+"/lane", `{"lane":"slow"}`), put(acme, `{"daily_total":5}`),
		put(acme+"/staff/zhang.san/presence", `{"presence":"offline"}`), put(acme+"/staff/zhang.san/resigned", `{"resigned":true}`),
		put(acme+"/staff/zhang.san", `{"schedule":null}`),
		put(acme+"/codes/c-1/lane", `{"lane":"fast"}`), put(acme+"/codes/c-1", `{"family":"native","remark":"x"}`),
	} {
		r.want(t, send, 200)
	}
	if got := into[shown](t, r.do(t, get(acme))); got.State["lane"] != "slow" {
		t.Errorf("tenant: %v", got.State)
	}
	if got := into[shown](t, r.do(t, get(acme+"/staff/zhang.san"))); got.Facts["presence"] != "offline" || got.Facts["resigned"] != true {
		t.Errorf("staff: %v", got.Facts)
	}
	got := into[shown](t, r.do(t, get(acme+"/codes/c-1")))
	if got.State["lane"] != "fast" || got.State["revision"] != 3.0 || got.Facts["config_id"] != "42b34949e138eb6e027c123cba77fAAA" {
		t.Errorf("code: %v %v", got.State, got.Facts)
	}
}

// What Rollcall writes itself is shown.
func TestWhatRollcallWritesIsShown(t *testing.T) {
	r := newRig(t)
	until := noon.Add(time.Hour)
	stop := roster.Stop{Since: noon, Until: until, By: "ann", Why: "incident 42"}
	r.facts.Seed(
		registry.Tenant{Tenant: roster.Tenant{ID: "acme", Hold: stop, Suspension: roster.Suspension{Since: noon, NextProbe: until, Probes: 2, Detail: "40001"}}},
		[]registry.Staff{{Staff: roster.Staff{ID: "li.na", QuarantinedUntil: until, RemovedOn: "20261130"}, QuarantinedWhy: "errcode 60111"}, {Staff: roster.Staff{ID: "wang", Off: stop}}},
		[]registry.Code{{Code: roster.Code{ID: "c-2", Family: roster.Native, Deleted: true, CreatedAt: noon, Hold: roster.Stop{Since: noon, By: "ann", Why: "x"}}, QRCode: "https://wework.qpic.cn/x", DeletedAt: until}})
	tenant := into[shown](t, r.want(t, get(acme), 200))
	if s, _ := tenant.State["suspension"].(map[string]any); s["detail"] != "40001" || s["probes"] != 2.0 {
		t.Errorf("suspension: %v", tenant.State)
	}
	stopped := map[string]any{"since": "2026-11-30T12:00:00Z", "until": "2026-11-30T13:00:00Z", "by": "ann", "why": "incident 42"}
	if diff := cmp.Diff(stopped, tenant.State["hold"]); diff != "" {
		t.Errorf("the tenant's hold (-want +got):\n%s", diff)
	}
	off := into[shown](t, r.want(t, get(acme+"/staff/wang"), 200))
	if diff := cmp.Diff(stopped, off.State["taken_off"]); diff != "" {
		t.Errorf("taken off (-want +got):\n%s", diff)
	}
	staff := into[shown](t, r.want(t, get(acme+"/staff/li.na"), 200))
	want := map[string]any{"quarantined_until": "2026-11-30T13:00:00Z", "quarantined_why": "errcode 60111", "removed_on": "20261130"}
	if diff := cmp.Diff(want, staff.State); diff != "" {
		t.Errorf("staff (-want +got):\n%s", diff)
	}
	code := into[shown](t, r.want(t, get(acme+"/codes/c-2"), 200))
	if code.State["retired"] != true || code.State["retired_at"] != "2026-11-30T13:00:00Z" || code.State["qr_code"] != "https://wework.qpic.cn/x" {
		t.Errorf("code: %v", code.State)
	}
	if diff := cmp.Diff(map[string]any{"since": "2026-11-30T12:00:00Z", "by": "ann", "why": "x"}, code.State["hold"]); diff != "" {
		t.Errorf("the code's hold (-want +got):\n%s", diff)
	}
	r.want(t, del(acme+"/staff/li.na/quarantine"), 200)
	staff = into[shown](t, r.want(t, get(acme+"/staff/li.na"), 200))
	if diff := cmp.Diff(map[string]any{"removed_on": "20261130"}, staff.State); diff != "" {
		t.Errorf("after the quarantine (-want +got):\n%s", diff)
	}
}

func TestLists(t *testing.T) {
	r := newRig(t)
	var staff []registry.Staff
	var codes []registry.Code
	for i := range 7 {
		staff = append(staff, registry.Staff{Staff: roster.Staff{ID: fmt.Sprintf("娜%d", i)}})
		codes = append(codes, registry.Code{Code: roster.Code{
			ID: fmt.Sprintf("c-2%d", i), Family: roster.Native, Members: []roster.Member{{Staff: fmt.Sprintf("娜%d", i%2)}},
		}})
	}
	r.facts.Seed(registry.Tenant{Tenant: roster.Tenant{ID: "acme"}}, staff, codes)
	for path, want := range map[string][]string{
		acme + "/staff":                  {"zhang.san", "娜0", "娜1", "娜2", "娜3", "娜4", "娜5", "娜6"},
		acme + "/codes":                  {"c-1", "c-20", "c-21", "c-22", "c-23", "c-24", "c-25", "c-26"},
		acme + "/staff/%E5%A8%9C1/codes": {"c-21", "c-23", "c-25"},
		acme + "/staff/nobody/codes":     nil,
		acme + "/fanouts":                {"acme"},
	} {
		for _, limit := range []int{1, 3, 8, 100} {
			if diff := cmp.Diff(want, r.walk(t, path, limit)); diff != "" {
				t.Errorf("%s in pages of %d (-want +got):\n%s", path, limit, diff)
			}
		}
	}
}

// walk reads a list page by page.
func (r *rig) walk(t *testing.T, path string, limit int) []string {
	t.Helper()
	var all []string
	cursor := ""
	for {
		got := into[struct {
			Items []struct{ Staff, Code, ID string }
			Next  string `json:"next_cursor"`
		}](t, r.want(t, get(fmt.Sprintf("%s?limit=%d&cursor=%s", path, limit, url.QueryEscape(cursor))), 200))
		if len(got.Items) > limit {
			t.Fatalf("a page of %d has %d", limit, len(got.Items))
		}
		for _, item := range got.Items {
			all = append(all, std.Or(item.ID, item.Code, item.Staff))
		}
		if cursor = got.Next; cursor == "" {
			return all
		}
	}
}

func TestAFanOutIsShown(t *testing.T) {
	r := newRig(t)
	got := into[map[string]any](t, r.want(t, get(acme+"/fanouts/acme"), 200))
	want := map[string]any{
		"id": "acme", "epoch": 3.0, "why": "tenant_changed", "state": "in_progress", "total": 100.0, "released": 20.0,
		"requested_at": "2026-11-30T12:00:00Z", "seconds_left": 2.0,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestContactWays(t *testing.T) {
	create := `{"contact_way":{"create":true},"family":"quota"}`
	r := newRig(t)
	if out := into[outcome](t, r.want(t, put(acme+"/codes/new", create), 201)); out.Published != "broker" {
		t.Errorf("made: %+v", out)
	}
	if got := into[shown](t, r.do(t, get(acme+"/codes/new"))); got.Facts["config_id"] != "made-for-new" {
		t.Errorf("made: %v", got.Facts)
	}
	r.want(t, put(acme+"/codes/new", create), 200)
	if r.ways.made != 1 {
		t.Errorf("%d contact ways are made", r.ways.made)
	}
	r.ways.err = registry.ErrWayPending
	if out := into[outcome](t, r.want(t, put(acme+"/codes/later", create), 202)); out.ContactWay != "pending" || out.Published != "not_needed" {
		t.Errorf("pending: %+v", out)
	}
	r.ways.err = &registry.WayError{Field: "members", Detail: "errcode 40031"}
	p := r.wantProblem(t, put(acme+"/codes/never", create), 422, "contact_way_refused")
	if p.Field != "members" || !p.Stored || !strings.Contains(p.Detail, "40031") {
		t.Errorf("refused: %+v", p)
	}
}

// The broker is away: the answer says where the event is, or that it is nowhere.
func TestWhatIsSaidWhenTheBrokerIsAway(t *testing.T) {
	r := newRig(t)
	r.events.place = publish.DirtySet
	if out := into[outcome](t, r.want(t, put(acme+"/codes/c-1/switches", `{"add_limit":true}`), 200)); out.Published != "dirty_set" {
		t.Errorf("%+v", out)
	}
	r.events.err, r.fanOuts.err = errAway, errAway
	for _, send := range []call{
		put(acme+"/codes/c-1/switches", `{"round_limit":true}`), put(acme+"/staff/zhang.san/resigned", `{"resigned":true}`), put(acme, `{"daily_total":9}`),
	} {
		if p := r.wantProblem(t, send, 503, "unannounced"); !p.Stored {
			t.Errorf("%+v does not say that the fact is stored", p)
		}
	}
	if got := into[shown](t, r.do(t, get(acme))); got.Facts["daily_total"] != 9.0 {
		t.Errorf("it is not stored: %v", got.Facts)
	}
	r.events.err, r.fanOuts.err = nil, nil
	if out := into[outcome](t, r.want(t, put(acme, `{"daily_total":9}`), 200)); out.Published != "fan_out" || out.Changed {
		t.Errorf("the repeat: %+v", out)
	}
	if strings.Contains(r.logged.String(), "panic") || !strings.Contains(r.logged.String(), "could not be announced") {
		t.Errorf("log: %s", r.logged)
	}
}
