package httpapi_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// Every refusal of a body names what is wrong and what would be right.
func TestBodiesAreReadStrictly(t *testing.T) {
	code, tenant, staff := acme+"/codes/c-1", acme, acme+"/staff/zhang.san"
	tests := map[string]struct {
		send   call
		status int
		want   problem
	}{
		"no JSON":                  {put(tenant, `{"tier":`), 400, problem{Code: "malformed", Want: "a whole JSON document"}},
		"an empty body":            {call{method: "PUT", path: tenant, token: everything, media: "application/json"}, 400, problem{Code: "malformed", Want: "a whole JSON document"}},
		"two documents":            {put(tenant, `{} {}`), 400, problem{Code: "malformed", Want: "one JSON document and nothing after it"}},
		"an array":                 {put(tenant, `[]`), 400, problem{Code: "malformed", Value: "array", Want: "an object"}},
		"a wrong type":             {put(code, `{"family":"native","members":[{"staff":"a","add_limit":"5"}]}`), 400, problem{Code: "malformed", Field: "members.add_limit", Value: "string", Want: "a whole number"}},
		"a broken number":          {put(tenant, `{"daily_total":1.5}`), 400, problem{Code: "malformed", Field: "daily_total", Value: "number 1.5", Want: "a whole number"}},
		"a mistyped field":         {put(code, `{"family":"native","bakcups":[]}`), 400, problem{Code: "unknown_field", Field: "bakcups", Want: "backups"}},
		"a nested one":             {put(code, `{"family":"native","members":[{"staff":"a","daily_limits":1}]}`), 400, problem{Code: "unknown_field", Field: "daily_limits", Want: "daily_limit"}},
		"one of no kin":            {put(tenant, `{"price":1}`), 400, problem{Code: "unknown_field", Field: "price", Want: "a documented field"}},
		"a field of another route": {put(tenant, `{"lane":"fast"}`), 400, problem{Code: "unknown_field", Field: "lane", Want: "a documented field"}},
		"null":                     {put(tenant, ` null `), 400, problem{Code: "malformed", Value: "null", Want: "an object"}},
		"nobody resigned":          {put(staff+"/resigned", `{}`), 422, problem{Code: "invalid_fact", Field: "resigned", Want: "true or false"}},
		"no schedule":              {put(staff+"/schedule", `{}`), 422, problem{Code: "invalid_fact", Field: "schedule", Want: "a schedule, or null for none"}},
		"a mistyped schedule":      {put(staff+"/schedule", `{"schedule":{"weakly":[]}}`), 400, problem{Code: "unknown_field", Field: "weakly", Want: "weekly"}},
		"a schedule that is one":   {put(staff+"/schedule", `{"schedule":1}`), 400, problem{Code: "malformed", Value: "number", Want: "an object"}},
		"a mode of none":           {put(acme+"/mode", `{"mode":"Live"}`), 422, problem{Code: "invalid_fact", Field: "mode", Value: "Live", Want: "auto, live, shadow"}},
		"a word of none":           {put(code+"/lane", `{"lane":"quick"}`), 422, problem{Code: "invalid_fact", Field: "lane", Value: "quick", Want: "auto, fast, slow"}},
		"a presence of none":       {put(staff+"/presence", `{"presence":"away"}`), 422, problem{Code: "invalid_fact", Field: "presence", Value: "away", Want: "schedule, online, offline"}},
		"eight days":               {put(staff, `{"schedule":{"weekly":[[],[],[],[],[],[],[],[]]}}`), 422, problem{Code: "invalid_fact", Field: "schedule.weekly", Value: "8 days", Want: "at most 7 days, Sunday first"}},
		"an unknown zone":          {put(tenant, `{"time_zone":"Asia/Shangai"}`), 422, problem{Code: "invalid_fact", Field: "time_zone", Value: "Asia/Shangai", Want: "the IANA name of a time zone"}},
		"a negative limit":         {put(code, `{"family":"native","members":[{"staff":"a"},{"staff":"b","round_limit":-1}]}`), 422, problem{Code: "invalid_fact", Field: "members[1].round_limit", Value: "-1", Want: "0 or more"}},
		"a family of none":         {put(code, `{"family":"random"}`), 422, problem{Code: "invalid_fact", Field: "family", Value: "random", Want: "native, sequenced or quota"}},
		"a code that is none":      {put(acme+"/codes/a%20b", `{"family":"native"}`), 422, problem{Code: "invalid_fact", Field: "code", Value: "a b", Want: "1 to 128 of the characters A-Z a-z 0-9 . _ : -, not only dots"}},
		"a tenant that is none":    {put("/v1/tenants/a%2Fb", `{}`), 422, problem{Code: "invalid_fact", Field: "tenant", Value: "a/b", Want: "1 to 128 of the characters A-Z a-z 0-9 . _ : -, not only dots"}},
		"a large body":             {put(tenant, `{"tier":"`+strings.Repeat("x", 300<<10)+`"}`), 413, problem{Code: "too_large", Want: "a body of at most 262144 bytes"}},
		"a body where none is":     {call{method: "GET", path: tenant, token: everything, body: "x"}, 413, problem{Code: "too_large", Want: "a body of at most 0 bytes"}},
		"another type":             {call{method: "PUT", path: tenant, token: everything, body: "tier: x", media: "application/yaml"}, 415, problem{Code: "wrong_media_type", Field: "Content-Type", Value: "application/yaml", Want: "application/json"}},
		"no limit":                 {get(acme + "/codes?limit=0"), 422, problem{Code: "invalid_fact", Field: "limit", Value: "0", Want: "1 to 500"}},
		"too long a page":          {get(acme + "/codes?limit=501"), 422, problem{Code: "invalid_fact", Field: "limit", Value: "501", Want: "1 to 500"}},
		"a cursor of one's own":    {get(acme + "/codes?cursor=c-1"), 422, problem{Code: "invalid_fact", Field: "cursor", Value: "c-1", Want: "the next_cursor of a page before"}},
		"a query of none":          {get(acme + "/codes?page=2"), 400, problem{Code: "unknown_field", Field: "page", Want: "cursor or limit"}},
		"a short AES key":          {put(acme+"/callback", `{"token":"t","aes_key":"secret","receive_ids":["ww"]}`), 422, problem{Code: "invalid_fact", Field: "aes_key", Value: "6 bytes", Want: "WeCom's EncodingAESKey, of 43 characters"}},
		"nobody to receive":        {put(acme+"/callback", `{"token":"t","aes_key":"6qkdMrq68nTKduznJYO1A37W2oEgpkMUvkttRToqhUt","receive_ids":[]}`), 422, problem{Code: "invalid_fact", Field: "receive_ids", Value: "0 entries", Want: "the corp ID, or the suite IDs: 1 to 20"}},
		"a webhook without TLS":    {put(acme+"/notifications", `{"webhook":{"url":"http://example.com/h","secret":"sixteen-bytes-or-more"}}`), 422, problem{Code: "invalid_fact"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := newRig(t).wantProblem(t, test.send, test.status, test.want.Code)
			if diff := cmp.Diff(test.want, got, cmpopts.IgnoreFields(problem{}, "Detail")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestPathsThatAreNone(t *testing.T) {
	for path, code := range map[string]string{
		"/v1": "no_such_route", "/v1/tenant/acme": "no_such_route", acme + "/": "no_such_route", acme + "//codes": "no_such_route",
		acme + "/codes/../lane": "no_such_route", "/": "no_such_route",
	} {
		newRig(t).wantProblem(t, get(path), 404, code)
	}
	r := newRig(t)
	r.wantProblem(t, call{method: "POST", path: acme, token: everything, body: "{}"}, 405, "method_not_allowed")
	if got := r.do(t, call{method: "PATCH", path: acme + "/codes/c-1"}); got.header.Get("Allow") != "DELETE, GET, HEAD, PUT" {
		t.Errorf("Allow: %q", got.header.Get("Allow"))
	}
}

// Staff IDs may hold what paths do not.
func TestStaffIDsOfAllKinds(t *testing.T) {
	for _, id := range []string{"a%2Fb", "...", "a%3Fb%23c", "a%25b", "%E5%BC%A0%20%E4%B8%89", "a+b@c"} {
		r := newRig(t)
		path := acme + "/staff/" + id
		r.want(t, put(path, `{}`), 201)
		r.want(t, put(path+"/presence", `{"presence":"online"}`), 200)
		if got := into[shown](t, r.want(t, get(path), 200)); got.Facts["presence"] != "online" {
			t.Errorf("%s: %v", id, got.Facts)
		}
		r.want(t, get(path+"/codes"), 200)
	}
}
