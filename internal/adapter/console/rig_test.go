package console

import (
	"context"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/access"
	"github.com/rollcall-dev/rollcall/internal/backstop/audit"
	"github.com/rollcall-dev/rollcall/internal/board"
	"github.com/rollcall-dev/rollcall/internal/decision"
	"github.com/rollcall-dev/rollcall/internal/dirty"
	"github.com/rollcall-dev/rollcall/internal/explain"
	"github.com/rollcall-dev/rollcall/internal/fanout"
	"github.com/rollcall-dev/rollcall/internal/intervene"
	"github.com/rollcall-dev/rollcall/internal/letters"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/ratelimit"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/registry"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/seal"
	"github.com/rollcall-dev/rollcall/internal/trail"
)

var noon = time.Date(2026, 11, 30, 4, 0, 0, 0, time.UTC)

// evil is a name that a page must show as it is written.
const evil = `<img src=x onerror="alert(1)">`

// world is what the console shows in tests: a fixture behind every port.
type world struct {
	mu         sync.Mutex
	now        time.Time
	grants     map[string]access.Grant // by the token's whole text
	revoked    map[string]bool
	signedOut  map[string]bool
	away       error // of the store
	unverified error // of the store of tokens
	view       board.View
	looks      int       // at the board
	slow       *slowness // of a look and of an explanation; nil: they are quick
	minutes    []board.Minute
	tenants    map[string]registry.Tenant
	staff      map[string]registry.Staff // of acme
	codes      []registry.Code           // of acme
	x          map[push.Ref]explain.Explanation
	asked      int // times that WeCom was asked
	dirty      []DirtyCode
	jobs       []fanout.Job
	letters    []letters.Letter
	unset      bool
	decisions  []decision.Decision
	ordered    []intervene.Order
	harm       []intervene.Point
	broken     error // of an order that is carried out
}

func newWorld() *world {
	w := &world{
		now: noon, revoked: map[string]bool{}, signedOut: map[string]bool{},
		grants: map[string]access.Grant{
			"reader": {Token: "reader", Scopes: []access.Scope{access.Read}},
			"writer": {Token: "writer", Scopes: []access.Scope{access.Read, access.Write}},
			"chief":  {Token: "chief", Scopes: []access.Scope{access.Read, access.Write, access.Admin}},
			"acme":   {Token: "acme", Tenant: "acme", Scopes: []access.Scope{access.Read, access.Write}},
			"blind":  {Token: "blind", Scopes: []access.Scope{access.Write}},
		},
		tenants: map[string]registry.Tenant{
			"acme":   {Tenant: roster.Tenant{ID: "acme", DailyTotal: 50, Fallback: []string{"zoe"}, Tier: "premium"}},
			"globex": {Tenant: roster.Tenant{ID: "globex", TimeZone: "UTC"}},
		},
		staff: map[string]registry.Staff{"amy": {Staff: roster.Staff{ID: "amy"}}, evil: {Staff: roster.Staff{ID: evil}}},
		x:     map[push.Ref]explain.Explanation{},
	}
	w.codes = []registry.Code{{Code: roster.Code{ID: "code-1", Family: roster.Native, ConfigID: "way-1", Remark: "<b>spring</b>"}}}
	w.x[push.Ref{Tenant: "acme", Code: "code-1"}] = story(noon)
	w.dirty = []DirtyCode{{
		Ref: push.Ref{Tenant: "acme", Code: "code-1"}, Reasons: []reason.Reason{reason.Blocked, reason.Stale}, Detail: "45009",
		State: push.DirtyRepair, Due: noon.Add(time.Minute), FirstSeen: noon.Add(-time.Hour), Attempts: 3,
	}}
	w.jobs = []fanout.Job{{
		Ticket: fanout.Ticket{ID: "j1"}, Scope: fanout.Scope{Tenant: "acme", Staff: "amy"}, Why: "resigned", State: fanout.InProgress,
		Requested: noon.Add(-time.Minute), Total: 800, Released: 500,
	}}
	w.letters = []letters.Letter{{
		ID: "12:3:0", OriginalID: "9:1:0", Topic: "refresh", Key: "code-1", Cause: reason.Undecodable, Detail: "no code",
		Payload: []byte(`{"tenant":"acme","note":"<script>alert(1)</script>"}`), BuriedAt: noon.Add(-time.Hour), PublishedAt: noon.Add(-time.Hour),
	}}
	w.minutes = []board.Minute{{At: noon.Add(-30 * time.Minute), Granted: 40, Refused: 2}, {At: noon.Add(-5 * time.Minute), Granted: 60, Refused: 9}}
	w.view = fullView(noon)
	return w
}

// story is a member at his ceiling while WeCom blocks his tenant.
func story(now time.Time) explain.Explanation {
	pushed := func(ago time.Duration, epoch int64, size int, moves ...trail.Move) trail.Entry {
		return trail.Entry{At: now.Add(-ago), Kind: trail.Pushed, Epoch: epoch, Size: size, Moves: moves}
	}
	return explain.Of(explain.Evidence{Look: audit.Look{
		Ref: push.Ref{Tenant: "acme", Code: "code-1"},
		Facts: roster.Facts{
			Code: roster.Code{
				ID: "code-1", Tenant: "acme", ConfigID: "way-1", Family: roster.Native, Revision: 7,
				Members: []roster.Member{
					{Staff: "amy", DailyLimit: 5}, {Staff: "bob", DailyLimit: 5}, {Staff: "cleo", DailyLimit: 5}, {Staff: evil, DailyLimit: 5}, {Staff: "ghost"},
				},
				Switches: roster.Switches{DailyLimit: true, OfflineCheck: true},
			},
			Tenant:   roster.Tenant{ID: "acme"},
			Staff:    map[string]roster.Staff{"amy": {ID: "amy"}, "bob": {ID: "bob"}, "cleo": {ID: "cleo", Presence: roster.OfflineNow}, evil: {ID: evil}},
			Counters: roster.Counters{Days: map[roster.Day]map[string]int{"20261130": {"amy": 6, "bob": 1}}},
		},
		Record: push.Record{Code: "code-1", Epoch: 31, Committed: push.Committed{
			Epoch: 31, Hash: "before", Members: []string{evil, "amy", "bob"}, At: now.Add(-20 * time.Minute), Revision: 7,
		}},
	}, Budget: explain.Budget{BlockedUntil: now.Add(40 * time.Minute)}, Trail: []trail.Entry{
		pushed(3*time.Hour, 29, 2, trail.Move{Staff: "amy", Came: true, Why: reason.Eligible}, trail.Move{Staff: "bob", Came: true, Why: reason.Eligible}),
		pushed(2*time.Hour, 30, 3, trail.Move{Staff: "cleo", Came: true, Why: reason.Eligible}),
		pushed(20*time.Minute, 31, 3, trail.Move{Staff: "cleo", Why: reason.Offline}, trail.Move{Staff: evil, Came: true, Why: reason.Eligible}),
		{At: now.Add(-12 * time.Minute), Kind: trail.Full, Cause: reason.AtDailyLimit, Staff: "amy", Count: 5, Limit: 5},
		{At: now.Add(-11 * time.Minute), Kind: trail.Waits, Cause: reason.Blocked, Until: now.Add(40 * time.Minute), Detail: "45009"},
		{
			At: now.Add(-6 * time.Minute), Kind: trail.Refused, Epoch: 32, Cause: reason.Blocked, Detail: "45009: " + evil, Trace: "4bf92f3577b34da6a3ce929d0e0e4736",
			Trigger: trail.Trigger{Reason: "staff_changed", Message: "9:1:0"},
		},
		{At: now.Add(-4 * time.Minute), Kind: trail.Full, Cause: reason.AtDailyLimit, Staff: "amy", Count: 6, Limit: 5},
	}}, roster.LaneRules{}, now)
}

func fullView(now time.Time) board.View {
	held := map[reason.Reason]int{reason.Throttled: 812, reason.Blocked: 320, reason.SlowLane: 95, reason.Backoff: 12}
	return board.View{
		At: now,
		Incidents: []board.Incident{
			{Severity: board.Page, Reason: reason.Blocked, Text: "WeCom blocks tenant acme: <b>320</b> codes wait", Since: now.Add(-20 * time.Minute), Runbook: "RollcallTenantBlocked"},
			{Severity: board.Ticket, Text: "3 dead letters wait for a person", Runbook: "RollcallDeadLetters"},
		},
		Unread: []board.Unread{{Part: board.PartFanOuts, Cause: "server selection timeout"}},
		Instances: []board.Instance{
			{Instance: "refresher-0", Role: board.Refresher, Version: "1.4.0", Started: now.Add(-50 * time.Hour), Heard: now.Add(-2 * time.Second), Load: .62, InFlight: 21, Workers: 64},
			{Instance: "refresher-1", Role: board.Refresher, Version: "1.4.0", Started: now.Add(-50 * time.Hour), Heard: now.Add(-40 * time.Second), Silent: true, Load: .9, Workers: 64},
			{Instance: "keeper-0", Role: board.Keeper, Version: "1.4.0", Started: now.Add(-50 * time.Hour), Heard: now, Leads: true, Missing: []board.Missing{{Name: "pulsar", Cause: "refused"}}},
			{Instance: "ingress-0", Role: board.Ingress, Version: "1.4.0", Started: now.Add(-3 * time.Minute), Heard: now},
		},
		Freshness: &board.Objectives{
			LastFive:  board.Kept{Quantiles: board.Quantiles{Count: 1240, P50: .21, P95: 1.4, P99: 3.9}, Late: 8, Share: .9935, BudgetLeft: .35},
			LastHour:  board.Kept{Quantiles: board.Quantiles{Count: 15870, P50: .2, P95: 1.2, P99: 5.4}, Late: 190, Share: .988, BudgetLeft: -.2},
			Throttled: board.Quantiles{Count: 2210, P50: 14, P95: 95, P99: 410},
		},
		Work: &board.Totals{
			Refreshers: 2, Runnable: 48, InFlight: 21, Workers: 128, HeldSum: 1239, Held: held, Limit: 20000, Load: .31,
			Top: []board.TenantWork{{Tenant: "acme", Runnable: 40, Held: held}, {Tenant: "globex", Runnable: 8, Held: map[reason.Reason]int{reason.Throttled: 77}}},
		},
		Dirty: &board.DirtySet{Codes: 356, Reasons: []board.DirtyReason{
			{Reason: reason.Blocked, Codes: 320, Oldest: now.Add(-20 * time.Minute)}, {Reason: reason.BadMember, Codes: 36, Oldest: now.Add(-26 * time.Hour), Repairs: true},
		}},
		Broker: &board.Broker{Backlog: 1308, Unacked: 1260, InReplay: 4, Oldest: now.Add(-24 * time.Minute), DeadLetters: 3, Consumers: []board.Consumer{
			{Name: "refresher-0", Unacked: 700, Keys: .52}, {Name: "refresher-1", Unacked: 560, Keys: .48, Blocked: true},
		}},
		Budget: &board.Budget{MinuteLimit: 100, HourLimit: 3000, Hottest: []board.TenantUse{
			{Tenant: "acme", Minute: 100, Hour: 2960, Refused: 930, BlockedUntil: now.Add(40 * time.Minute)},
			{Tenant: "globex", Minute: 84, Hour: 900, Refused: 12},
			{Tenant: "initech", Minute: 3, Hour: 41},
		}},
		FanOuts: &board.FanOuts{Running: 2, Shown: []board.FanOut{
			{Tenant: "acme", Staff: "amy", Why: "resigned", State: "in_progress", Requested: now.Add(-time.Minute), Done: 500, Total: 800, Left: 90, LeftKnown: true},
			{Tenant: "globex", Why: "tenant_changed", State: "pending", Requested: now.Add(-time.Second), Total: 1200},
		}},
	}
}

func (w *world) Verify(_ context.Context, bearer string) (access.Grant, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	grant, there := w.grants[bearer]
	if w.unverified != nil {
		return access.Grant{}, w.unverified
	}
	if !there || w.revoked[grant.Token] {
		return access.Grant{}, access.ErrUnknown
	}
	return grant, nil
}

func (w *world) Standing(_ context.Context, id string) (access.Grant, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	grant, there := w.grants[id] // a token of this world is its own ID
	if w.unverified != nil {
		return access.Grant{}, w.unverified
	}
	if !there || w.revoked[id] {
		return access.Grant{}, access.ErrRevoked
	}
	return grant, nil
}

func (w signOuts) End(ctx context.Context, session string, _ time.Duration) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.signedOut[session] = true
	return w.away
}

func (w signOuts) Ended(_ context.Context, session string) (bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.signedOut[session], w.away
}

func (w *world) View(ctx context.Context) (board.View, error) {
	w.wait(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.looks++
	return w.view, nil
}

// slowness is how a test has the servers be slow.
type slowness struct {
	begun chan struct{} // tells that somebody waits
	end   chan struct{} // closed: they answer
}

func newSlowness() *slowness { return &slowness{make(chan struct{}, 1), make(chan struct{})} }

func (w *world) wait(ctx context.Context) {
	w.mu.Lock()
	slow := w.slow
	w.mu.Unlock()
	if slow == nil {
		return
	}
	select {
	case slow.begun <- struct{}{}:
	default:
	}
	select {
	case <-slow.end:
	case <-ctx.Done():
	}
}

func (w *world) Use(context.Context, string, time.Time) ([]board.Minute, error) {
	return w.minutes, w.away
}

func (w *world) Explain(ctx context.Context, ref push.Ref, live bool) (explain.Explanation, error) {
	w.wait(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	x, there := w.x[ref]
	if !there {
		return explain.Explanation{}, push.ErrUnknownCode
	}
	if w.away != nil {
		return explain.Explanation{}, w.away
	}
	if live {
		w.asked++
		e := x.Evidence
		e.Vendor = &explain.Vendor{Known: true}
		e.Vendor.Users = []string{"amy", "bob", "mallory"}
		x = explain.Of(e, roster.LaneRules{}, x.At)
	}
	return x, nil
}

func (w *world) Tenant(_ context.Context, tenant string) (registry.Tenant, error) {
	t, there := w.tenants[tenant]
	if !there {
		return registry.Tenant{}, registry.ErrUnknownTenant
	}
	return t, w.away
}

func (w *world) StaffOf(context.Context, string, []string) (map[string]registry.Staff, error) {
	return w.staff, w.away
}

func (w *world) ListCodes(_ context.Context, tenant string, page registry.Page) ([]registry.Code, error) {
	if tenant != "acme" {
		return nil, nil
	}
	var all []registry.Code
	for _, c := range w.codes {
		if c.ID > page.After && len(all) < page.Limit {
			all = append(all, c)
		}
	}
	return all, nil
}

func (w *world) ListCodesOf(ctx context.Context, tenant roster.Tenant, _ string, page registry.Page) ([]registry.Code, error) {
	return w.ListCodes(ctx, tenant.ID, page)
}

func (w *world) Tenants(_ context.Context, prefix string, limit int) ([]string, error) {
	var all []string
	for id := range w.tenants {
		if strings.HasPrefix(id, prefix) && len(all) < limit {
			all = append(all, id)
		}
	}
	slices.Sort(all)
	return all, nil
}

func (w *world) Codes(_ context.Context, tenant, prefix string, limit int) ([]push.Ref, error) {
	var all []push.Ref
	for _, c := range w.codes {
		if (tenant == "" || tenant == "acme") && strings.HasPrefix(c.ID, prefix) && len(all) < limit {
			all = append(all, push.Ref{Tenant: "acme", Code: c.ID})
		}
	}
	if stranger := (push.Ref{Tenant: "globex", Code: "code-9"}); strings.HasPrefix(stranger.Code, prefix) && (tenant == "" || tenant == stranger.Tenant) {
		all = append(all, stranger)
	}
	return all, nil
}

func (w *world) Staff(_ context.Context, tenant, prefix string, limit int) ([]string, error) {
	var all []string
	for id := range w.staff {
		if tenant == "acme" && strings.HasPrefix(id, prefix) && len(all) < limit {
			all = append(all, id)
		}
	}
	slices.Sort(all)
	return all, nil
}

func (w *world) Colleagues(_ context.Context, tenants []string, staff string) ([]string, error) {
	if _, there := w.staff[staff]; there && slices.Contains(tenants, "acme") {
		return []string{"acme"}, nil
	}
	return nil, nil
}

// dirtyPort, lettersPort, fanOutsPort and decisionsPort have methods of the same
// names.
type (
	dirtyPort     struct{ *world }
	lettersPort   struct{ *world }
	fanOutsPort   struct{ *world }
	decisionsPort struct{ *world }
	signOuts      struct{ *world }
)

func (d dirtyPort) List(_ context.Context, which DirtyFilter, _ push.Ref, limit int) ([]DirtyCode, error) {
	var all []DirtyCode
	for _, c := range d.dirty {
		if (which.Tenant == "" || which.Tenant == c.Tenant) && (which.Reason == "" || slices.Contains(c.Reasons, which.Reason)) && len(all) < limit {
			all = append(all, c)
		}
	}
	return all, d.away
}

func (d dirtyPort) Desk(by string) dirty.Desk {
	return dirty.Desk{Set: d, Book: d.world, Now: func() time.Time { return d.now }, By: by}
}

func (d dirtyPort) Get(_ context.Context, ref push.Ref) (dirty.Seen, bool, error) {
	for _, c := range d.dirty {
		if c.Ref == ref {
			return dirty.Seen{Ref: ref, About: "blocked: 45009"}, true, nil
		}
	}
	return dirty.Seen{}, false, nil
}

func (d dirtyPort) OfCode(context.Context, string) ([]dirty.Seen, error) { return nil, nil }

func (d dirtyPort) OfReason(_ context.Context, tenant string, _ reason.Reason, _ int) ([]dirty.Seen, error) {
	return []dirty.Seen{{Ref: push.Ref{Tenant: tenant, Code: "code-1"}}}, nil
}
func (d dirtyPort) DueNow(context.Context, dirty.Seen, time.Time) (bool, error) { return true, nil }
func (d dirtyPort) Drop(context.Context, dirty.Seen) (bool, error)              { return true, nil }

func (l lettersPort) Waiting(context.Context, int) iter.Seq2[letters.Letter, error] {
	return func(yield func(letters.Letter, error) bool) {
		if l.unset {
			yield(letters.Letter{}, ErrUnset)
			return
		}
		for _, one := range l.letters {
			if !yield(one, nil) {
				return
			}
		}
	}
}

func (l lettersPort) Letter(_ context.Context, id string) (letters.Letter, error) {
	for _, one := range l.letters {
		if one.ID == id {
			return one, nil
		}
	}
	return letters.Letter{}, letters.ErrUnknown
}

func (l lettersPort) AtDesk(_ context.Context, by string, do func(letters.Desk) error) error {
	return do(letters.Desk{Box: l, Topic: l, Read: func([]byte) (letters.Event, error) {
		return letters.Event{Ref: push.Ref{Tenant: "acme", Code: "code-1"}}, nil
	}, Book: l.world, Now: func() time.Time { return l.now }, By: by})
}

func (l lettersPort) Get(ctx context.Context, id string) (letters.Letter, error) {
	return l.Letter(ctx, id)
}
func (l lettersPort) Settle(context.Context, string) error         { return nil }
func (l lettersPort) Name() string                                 { return "refresh" }
func (l lettersPort) Publish(context.Context, letters.Event) error { return nil }

func (f fanOutsPort) List(_ context.Context, tenant, _ string, limit int) ([]fanout.Job, error) {
	var all []fanout.Job
	for _, job := range f.jobs {
		if (tenant == "" || tenant == job.Tenant) && len(all) < limit {
			all = append(all, job)
		}
	}
	return all, f.away
}

func (d decisionsPort) List(_ context.Context, tenant string, limit int) ([]decision.Decision, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var all []decision.Decision
	for _, one := range slices.Backward(d.decisions) {
		if (tenant == "" || tenant == one.Tenant) && len(all) < limit {
			all = append(all, one)
		}
	}
	return all, d.away
}

func (w *world) Begin(_ context.Context, d decision.Decision) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.decisions = append(w.decisions, d)
	return nil
}

func (w *world) End(_ context.Context, id string, state decision.State, failure string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range w.decisions {
		if w.decisions[i].ID == id {
			w.decisions[i].State, w.decisions[i].Failure = state, failure
		}
	}
	return nil
}

func (w *world) Weigh(_ context.Context, o intervene.Order) (intervene.Weighed, error) {
	if o.Action == decision.Release {
		return intervene.Weighed{}, intervene.ErrNothing
	}
	return intervene.Weighed{Effect: []intervene.Point{{What: intervene.Recomputes, Count: 1}}, Harm: w.harm}, nil
}

func (w *world) Carry(ctx context.Context, o intervene.Order) (intervene.Done, error) {
	if len(w.harm) > 0 && !o.Insist {
		return intervene.Done{}, &intervene.HarmError{Harm: w.harm}
	}
	w.mu.Lock()
	w.ordered = append(w.ordered, o)
	w.mu.Unlock()
	taken := decision.New(o.By, o.Action, o.String(), w.now)
	taken.Tenant, taken.Reason = o.Tenant, o.Why
	return intervene.Done{Published: registry.OnBroker}, decision.Take(ctx, w, taken, func(context.Context) error { return w.broken })
}

// desk is a console on a world, and a browser that keeps its cookies.
type desk struct {
	*world
	console *Console
	handler http.Handler
	cookies map[string]string
	form    string // the token of the last page's forms
	header  http.Header
}

func (w *world) ports() Ports {
	return Ports{
		Verifier: w, SignOuts: signOuts{w}, Board: w, Explainer: w, Facts: w, Directory: w, Dirty: dirtyPort{w}, Letters: lettersPort{w}, FanOuts: fanOutsPort{w},
		Decisions: decisionsPort{w}, Orders: w,
	}
}

func ring(t testing.TB) *seal.Keyring {
	t.Helper()
	keys, err := seal.ParseKeys(seal.Generate("k1"))
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func (w *world) options(t testing.TB) Options {
	return Options{
		Keys: ring(t), Life: 8 * time.Hour, Idle: time.Hour, SignIns: ratelimit.Limit{PerSecond: .01, Burst: 10},
		ClientOf: func(*http.Request) netip.Prefix { return netip.Prefix{} },
		Live:     10 * time.Millisecond, Streams: 3, EachStreams: 2, Version: "1.4.0",
		Now:    func() time.Time { w.mu.Lock(); defer w.mu.Unlock(); return w.now },
		Logger: slog.New(slog.DiscardHandler),
	}
}

func newDesk(t testing.TB, change ...func(*world, *Options)) *desk {
	t.Helper()
	w := newWorld()
	opts := w.options(t)
	for _, one := range change {
		one(w, &opts)
	}
	c, err := New(w.ports(), opts)
	if err != nil {
		t.Fatal(err)
	}
	return &desk{world: w, console: c, handler: c.Handler(), cookies: map[string]string{}, header: http.Header{}}
}

func (d *desk) later(by time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.now = d.now.Add(by)
}

var formToken = regexp.MustCompile(`name="form" value="([^"]+)"`)

func (d *desk) send(t testing.TB, r *http.Request) *http.Response {
	t.Helper()
	for name, values := range d.header {
		r.Header[name] = values
	}
	for name, value := range d.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	recorder := httptest.NewRecorder()
	d.handler.ServeHTTP(recorder, r)
	answer := recorder.Result()
	for _, cookie := range answer.Cookies() {
		if cookie.MaxAge < 0 {
			delete(d.cookies, cookie.Name)
		} else {
			d.cookies[cookie.Name] = cookie.Value
		}
	}
	return answer
}

func (d *desk) get(t testing.TB, path string) (int, string) {
	t.Helper()
	answer := d.send(t, httptest.NewRequest(http.MethodGet, "https://rollcall.example"+path, http.NoBody))
	body := text(t, answer)
	if found := formToken.FindStringSubmatch(body); found != nil {
		d.form = found[1]
	}
	return answer.StatusCode, body
}

func (d *desk) post(t testing.TB, path string, values ...string) *http.Response {
	t.Helper()
	form := url.Values{}
	if d.form != "" {
		form.Set("form", d.form)
	}
	for i := 0; i+1 < len(values); i += 2 {
		form.Set(values[i], values[i+1])
	}
	r := httptest.NewRequest(http.MethodPost, "https://rollcall.example"+path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return d.send(t, r)
}

func text(t testing.TB, answer *http.Response) string {
	t.Helper()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// as signs in with a token of the world.
func (d *desk) as(t testing.TB, token string) *desk {
	t.Helper()
	answer := d.post(t, "/console/signin", "token", token, "name", "Li Na")
	if answer.StatusCode != http.StatusSeeOther {
		t.Fatalf("signing in as %s: %s", token, answer.Status)
	}
	d.get(t, "/console/decisions") // has a form
	return d
}
