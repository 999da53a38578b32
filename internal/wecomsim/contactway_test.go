package wecomsim

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestAddContactWay(t *testing.T) {
	long := strings.Repeat("码", 31)
	for name, tc := range map[string]struct {
		body string
		want int
	}{
		"single":                        {`{"type":1,"scene":2,"user":["u1"]}`, 0},
		"multi":                         {`{"type":2,"scene":2,"user":["u1","u2"],"remark":"r","state":"s"}`, 0},
		"mini-program":                  {`{"type":2,"scene":1,"style":1,"user":["u1"]}`, 0},
		"a department":                  {`{"type":2,"scene":2,"party":[1]}`, 0},
		"remark and state of 30":        {`{"type":2,"scene":2,"user":["u1"],"remark":"` + long[:90] + `","state":"` + long[:90] + `"}`, 0},
		"no type":                       {`{"scene":2,"user":["u1"]}`, 41037},
		"no scene":                      {`{"type":2,"user":["u1"]}`, 41038},
		"bad type":                      {`{"type":3,"scene":2,"user":["u1"]}`, 41039},
		"bad scene":                     {`{"type":2,"scene":3,"user":["u1"]}`, 41040},
		"bad style":                     {`{"type":2,"scene":1,"style":9,"user":["u1"]}`, 41042},
		"nobody":                        {`{"type":2,"scene":2}`, 40063},
		"empty list":                    {`{"type":2,"scene":2,"user":[]}`, 40063},
		"single with two":               {`{"type":1,"scene":2,"user":["u1","u2"]}`, 40058},
		"single with a department":      {`{"type":1,"scene":2,"user":["u1"],"party":[1]}`, 40058},
		"remark of 31":                  {`{"type":2,"scene":2,"user":["u1"],"remark":"` + long + `"}`, 40058},
		"state of 31":                   {`{"type":2,"scene":2,"user":["u1"],"state":"` + long + `"}`, 40058},
		"unknown user":                  {`{"type":2,"scene":2,"user":["u1","nobody"]}`, 40003},
		"unknown department":            {`{"type":2,"scene":2,"party":[99]}`, 60003},
		"not activated":                 {`{"type":2,"scene":2,"user":["u1","inactive"]}`, 41054},
		"not verified":                  {`{"type":2,"scene":2,"user":["unverified"]}`, 40098},
		"no permission":                 {`{"type":2,"scene":2,"user":["forbidden"]}`, 84074},
		"not visible":                   {`{"type":2,"scene":2,"user":["hidden"]}`, 60011},
		"bad member in a department":    {`{"type":2,"scene":2,"party":[7]}`, 41054},
		"100 members":                   {`{"type":2,"scene":2,"user":` + users(100) + `}`, 0},
		"101 members":                   {`{"type":2,"scene":2,"user":` + users(101) + `}`, 41041},
		"100 members and one repeated":  {`{"type":2,"scene":2,"user":` + strings.Replace(users(100), "[", `["m0",`, 1) + `}`, 0},
		"100 with a department of more": {`{"type":2,"scene":2,"user":` + users(100) + `,"party":[1]}`, 41041},
		"broken JSON":                   {`{"type":2,`, 47001},
		"no body":                       {``, 47001},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, Options{})
			h.seedBadMembers()
			got := h.call("add_contact_way", tc.body)
			if got.ErrCode != tc.want {
				t.Errorf("errcode %d %s, want %d", got.ErrCode, got.ErrMsg, tc.want)
			}
			if (got.ConfigID != "") != (tc.want == 0) || (got.QRCode != "") != (tc.want == 0) {
				t.Errorf("config_id %q, qr_code %q", got.ConfigID, got.QRCode)
			}
			if n := h.sim.WayCount(corpID); n != map[bool]int{true: 1}[tc.want == 0] {
				t.Errorf("%d ways afterwards", n)
			}
		})
	}
}

func TestErrorsNameNoMember(t *testing.T) {
	h := newHarness(t, Options{})
	h.seedBadMembers()
	for _, user := range []string{"nobody", "inactive", "unverified", "forbidden", "hidden"} {
		got := h.call("add_contact_way", `{"type":2,"scene":2,"user":["u1","`+user+`"]}`)
		if got.ErrCode == 0 || strings.Contains(got.Raw, user) || strings.Contains(got.Header.Get("Error-Msg"), user) {
			t.Errorf("%s: %s", user, got.Raw)
		}
	}
}

func TestGetTellsAllThatWasAdded(t *testing.T) {
	h := newHarness(t, Options{})
	id := h.add(`{"type":2,"scene":2,"style":1,"remark":"r","skip_verify":true,"state":"s","user":["u1","u2"],"party":[2],
		"is_temp":true,"expires_in":60,"chat_expires_in":70,"unionid":"un","is_exclusive":true,"mark_source":false,"conclusions":{"text":{"content":"hi"}}}`)
	no := false
	want := wireWay{
		ConfigID: id, Type: 2, Scene: 2, Style: 1, Remark: "r", SkipVerify: true, State: "s",
		QRCode: Way{ConfigID: id}.QRCodeURL(), User: []string{"u1", "u2"}, Party: []int{2},
		Extras: Extras{
			IsTemp: true, ExpiresIn: 60, ChatExpiresIn: 70, UnionID: "un", IsExclusive: true, MarkSource: &no,
			Conclusions: json.RawMessage(`{"text":{"content":"hi"}}`),
		},
	}
	if diff := cmp.Diff(want, h.way(id)); diff != "" {
		t.Errorf("contact way (-want +got):\n%s", diff)
	}
	if len(id) != 32 {
		t.Errorf("config_id %q is not 32 characters", id)
	}
}

func TestUpdateOverwrites(t *testing.T) {
	before := `{"type":2,"scene":2,"style":1,"remark":"old","skip_verify":true,"state":"old","user":["u1","u2"],"party":[2]}`
	for name, tc := range map[string]struct {
		update string
		change func(*wireWay)
	}{
		"everything sent": {
			`"remark":"new","skip_verify":false,"state":"new","style":2,"user":["u3"],"party":[1]`,
			func(w *wireWay) {
				w.Remark, w.SkipVerify, w.State, w.Style, w.User, w.Party = "new", false, "new", 2, []string{"u3"}, []int{1}
			},
		},
		"only users sent: remark and party are erased, the rest stays": {
			`"user":["u3"]`,
			func(w *wireWay) { w.Remark, w.User, w.Party = "", []string{"u3"}, []int{} },
		},
		"only party sent: users are erased": {
			`"party":[1]`,
			func(w *wireWay) { w.Remark, w.User, w.Party = "", nil, []int{1} },
		},
		"empty state is sent": {
			`"user":["u3"],"state":"","remark":"r"`,
			func(w *wireWay) { w.Remark, w.State, w.User, w.Party = "r", "", []string{"u3"}, []int{} },
		},
		"type cannot be changed": {
			`"type":1,"scene":1,"user":["u3"]`,
			func(w *wireWay) { w.Remark, w.User, w.Party = "", []string{"u3"}, []int{} },
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, Options{})
			id := h.add(before)
			want := h.way(id)
			tc.change(&want)
			if got := h.call("update_contact_way", `{"config_id":"`+id+`",`+tc.update+`}`); got.ErrCode != 0 || got.ErrMsg != "ok" {
				t.Fatalf("update: %s", got.Raw)
			}
			if diff := cmp.Diff(want, h.way(id), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("contact way (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRefusedUpdateChangesNothing(t *testing.T) {
	h := newHarness(t, Options{})
	h.seedBadMembers()
	multi := h.add(`{"type":2,"scene":2,"user":["u1"],"remark":"r"}`)
	single := h.add(`{"type":1,"scene":2,"user":["u1"]}`)
	before, _ := h.sim.Way(corpID, multi)
	for name, tc := range map[string]struct {
		body string
		want int
	}{
		"no config_id":      {`{"user":["u2"]}`, 41043},
		"unknown config_id": {`{"config_id":"gone","user":["u2"]}`, 41044},
		"users omitted":     {`{"config_id":"` + multi + `","remark":"x"}`, 40063},
		"bad member":        {`{"config_id":"` + multi + `","user":["u2","inactive"]}`, 41054},
		"101 members":       {`{"config_id":"` + multi + `","user":` + users(101) + `}`, 41041},
		"bad style":         {`{"config_id":"` + multi + `","user":["u2"],"style":-1}`, 41042},
		"single with two":   {`{"config_id":"` + single + `","user":["u1","u2"]}`, 40058},
	} {
		if got := h.call("update_contact_way", tc.body); got.ErrCode != tc.want {
			t.Errorf("%s: errcode %d, want %d", name, got.ErrCode, tc.want)
		}
		if e := h.lastCall(); !e.Applied.IsZero() || e.ErrCode != tc.want {
			t.Errorf("%s: ledger says it was applied: %+v", name, e)
		}
	}
	after, _ := h.sim.Way(corpID, multi)
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("contact way (-before +after):\n%s", diff)
	}
}

func TestDelContactWay(t *testing.T) {
	h := newHarness(t, Options{})
	id := h.add(`{"type":2,"scene":2,"user":["u1"]}`)
	for i, want := range []int{0, 41044} {
		if got := h.call("del_contact_way", `{"config_id":"`+id+`"}`); got.ErrCode != want {
			t.Errorf("deletion %d: %d, want %d", i, got.ErrCode, want)
		}
	}
	if got := h.call("get_contact_way", `{"config_id":"`+id+`"}`); got.ErrCode != 41044 {
		t.Errorf("get of a deleted way: %d", got.ErrCode)
	}
	if _, ok := h.sim.Way(corpID, id); ok {
		t.Error("Way still finds it")
	}
}

func TestQuirks(t *testing.T) {
	h := newHarness(t, Options{Quirks: Quirks{GoneCode: 41037, GoneText: "no such way", UnknownUserCode: 60111, EmptyCode: 40031, MaxWays: 1}})
	if got := h.call("get_contact_way", `{"config_id":"x"}`); got.ErrCode != 41037 || !strings.HasPrefix(got.ErrMsg, "no such way, hint: [") {
		t.Errorf("gone: %s", got.Raw)
	}
	for body, want := range map[string]int{
		`{"type":2,"scene":2,"user":["nobody"]}`: 60111,
		`{"type":2,"scene":2,"user":[]}`:         40031,
	} {
		if got := h.call("add_contact_way", body); got.ErrCode != want {
			t.Errorf("%s: %d, want %d", body, got.ErrCode, want)
		}
	}
	h.add(`{"type":2,"scene":2,"user":["u1"]}`)
	if got := h.call("add_contact_way", `{"type":2,"scene":2,"user":["u1"]}`); got.ErrCode != 41045 {
		t.Errorf("over the corp's cap: %d", got.ErrCode)
	}
	if err := h.sim.SetQuirks(Quirks{Propagation: -1}); err == nil {
		t.Error("a negative propagation is accepted")
	}
	if err := h.sim.SetQuirks(Quirks{Conflicts: "perhaps"}); err == nil {
		t.Error("an unknown conflict policy is accepted")
	}
	if diff := cmp.Diff(41037, h.sim.Quirks().GoneCode); diff != "" {
		t.Errorf("a refused change left traces:\n%s", diff)
	}
}

func TestOpenRosterTakesEverybodyButKnownBadMembers(t *testing.T) {
	h := newHarness(t, Options{})
	h.must(h.sim.SetCorp(Corp{ID: corpID, Apps: []App{{Secret: secret}}, OpenRoster: true}))
	h.seedBadMembers()
	h.add(`{"type":2,"scene":2,"user":["whoever"]}`)
	for body, want := range map[string]int{`["inactive"]`: 41054, `[""]`: 40003} {
		if got := h.call("add_contact_way", `{"type":2,"scene":2,"user":`+body+`}`); got.ErrCode != want {
			t.Errorf("%s: %d, want %d", body, got.ErrCode, want)
		}
	}
}

func TestNearlyJSONSucceedsWithAWarning(t *testing.T) {
	h := newHarness(t, Options{})
	id := h.add(`{"type":2,"scene":2,"user":["u1"]}`)
	for name, body := range map[string]string{
		"a field of the wrong type": `{"config_id":"` + id + `","limit":"x"}`,
		"something behind it":       `{"config_id":"` + id + `"}}`,
	} {
		got := h.call("get_contact_way", body)
		if got.ErrCode != 0 || got.ErrMsg != "Warning: wrong json format. ok" {
			t.Errorf("%s: %s", name, got.Raw)
		}
	}
}

func TestListContactWay(t *testing.T) {
	h := newHarness(t, Options{})
	day := 24 * time.Hour
	start := h.clock.now()
	var ids []string
	for range 7 { // one a day
		ids = append(ids, h.add(`{"type":2,"scene":2,"user":["u1"]}`))
		h.clock.add(day)
		h.token = h.newToken()
	}
	h.sim.RemoveWay(corpID, ids[2])
	live := slices.Delete(slices.Clone(ids), 2, 3)
	unix := func(days int) int64 { return start.Add(time.Duration(days) * day).Unix() }
	for name, tc := range map[string]struct {
		body string
		want []string
	}{
		"all":          {`{}`, live},
		"from":         {fmt.Sprintf(`{"start_time":%d}`, unix(3)), ids[3:]},
		"to":           {fmt.Sprintf(`{"end_time":%d}`, unix(1)), ids[:2]},
		"within":       {fmt.Sprintf(`{"start_time":%d,"end_time":%d}`, unix(3), unix(4)), ids[3:5]},
		"limit of all": {`{"limit":6}`, live},
	} {
		got := h.call("list_contact_way", tc.body)
		if diff := cmp.Diff(tc.want, listed(t, got)); diff != "" || got.NextCursor != "" {
			t.Errorf("%s (-want +got), cursor %q:\n%s", name, got.NextCursor, diff)
		}
	}
	for _, body := range []string{`{"limit":1001}`, `{"limit":-1}`, `{"cursor":"!"}`} {
		if got := h.call("list_contact_way", body); got.ErrCode != 40058 {
			t.Errorf("%s: %d", body, got.ErrCode)
		}
	}
	h.clock.add(88 * day) // the first four are now older than the default window
	h.token = h.newToken()
	if diff := cmp.Diff(ids[5:], listed(t, h.call("list_contact_way", `{}`))); diff != "" {
		t.Errorf("default window of 90 days (-want +got):\n%s", diff)
	}
}

func TestListPagesSeeEachWayOnceWhateverIsDeletedMeanwhile(t *testing.T) {
	h := newHarness(t, Options{})
	var ids []string
	for range 250 {
		ids = append(ids, h.sim.AddWay(corpID, Way{Users: []string{"u1"}}))
	}
	var got []string
	cursor := ""
	for page := 0; ; page++ {
		r := h.call("list_contact_way", `{"limit":40,"cursor":"`+cursor+`"}`)
		got = append(got, listed(t, r)...)
		if cursor = r.NextCursor; cursor == "" {
			break
		}
		if page == 1 { // enough to sweep the order, all of them listed already
			for _, id := range got {
				h.sim.RemoveWay(corpID, id)
			}
		}
	}
	if diff := cmp.Diff(ids, got); diff != "" {
		t.Errorf("ways (-want +got):\n%s", diff)
	}
}

// seedBadMembers adds one member for each way of being bad, and m0 to m100.
func (h *harness) seedBadMembers() {
	h.must(h.sim.SetStaff(corpID,
		Staff{UserID: "inactive", NotActivated: true, Departments: []int{7}},
		Staff{UserID: "unverified", NotVerified: true},
		Staff{UserID: "forbidden", NoPermission: true},
		Staff{UserID: "hidden", NotVisible: true}))
	for i := range 101 {
		h.must(h.sim.SetStaff(corpID, Staff{UserID: fmt.Sprintf("m%d", i)}))
	}
}

func users(n int) string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprintf(`"m%d"`, i)
	}
	return "[" + strings.Join(ids, ",") + "]"
}

func listed(tb testing.TB, r reply) (ids []string) {
	tb.Helper()
	var ways []listedWay
	if err := json.Unmarshal(r.ContactWay, &ways); err != nil {
		tb.Fatalf("list: %v in %s", err, r.Raw)
	}
	for _, w := range ways {
		ids = append(ids, w.ConfigID)
	}
	return ids
}
