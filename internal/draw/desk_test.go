package draw_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/rollcall-dev/rollcall/internal/access"
	"github.com/rollcall-dev/rollcall/internal/draw"
	"github.com/rollcall-dev/rollcall/internal/publish"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

var hot = push.Ref{Tenant: "acme", Code: "hot"}

// What a draw gives, whom it asks, and what is said of it, by the state that it
// meets.
func TestDraw(t *testing.T) {
	tests := map[string]struct {
		given  func(w *world)
		grant  *access.Grant
		code   string // "" is hot
		staff  string
		err    error
		calls  string
		ending draw.Ending
	}{
		"a set": {
			given: func(w *world) { w.set(seats("li.na", "wang")) },
			staff: "li.na", calls: "tenant draw", ending: draw.Drawn,
		},
		"a set, for a token of its tenant": {
			given: func(w *world) { w.set(seats("li.na")) },
			grant: &access.Grant{Tenant: "acme"},
			staff: "li.na", calls: "tenant draw", ending: draw.Drawn,
		},
		"a token of another tenant learns nothing": {
			given: func(w *world) { w.set(seats("li.na")) },
			grant: &access.Grant{Tenant: "globex"},
			err:   draw.ErrUnknown, calls: "tenant", ending: draw.Unknown,
		},
		"no such code": {
			given: func(w *world) { delete(w.facts, "hot") },
			err:   draw.ErrUnknown, calls: "tenant", ending: draw.Unknown,
		},
		"what cannot be a code is not looked up": {
			code: "hot?{$ne:1}", err: draw.ErrUnknown, ending: draw.Unknown,
		},
		"nobody with headroom": {
			given: func(w *world) { w.set(push.Set{}) },
			err:   draw.ErrExhausted, calls: "tenant draw refresh:rotation_set_exhausted", ending: draw.NobodyFree,
		},
		"no set yet: it is made from the facts": {
			staff: "li.na", calls: "tenant draw version load replace refresh:rotation_set_rebuilt draw", ending: draw.Drawn,
		},
		"no set, and the round is over: the next one begins first": {
			given: func(w *world) {
				f := w.facts["hot"]
				f.Code.Switches.RoundLimit = true
				f.Code.Members = []roster.Member{{Staff: "li.na", RoundLimit: 1}, {Staff: "wang", RoundLimit: 1}}
				f.Counters.InRound = map[string]int{"li.na": 1, "wang": 1}
				w.facts["hot"] = f
			},
			staff: "li.na", calls: "tenant draw version load advance version load replace refresh:rotation_set_rebuilt draw", ending: draw.Drawn,
		},
		"no set, and nobody who could be in it": {
			given: func(w *world) { w.resign("li.na", "wang") },
			err:   draw.ErrExhausted, calls: "tenant draw version load replace refresh:rotation_set_rebuilt draw", ending: draw.NobodyFree,
		},
		"somebody else makes the missing set meanwhile": {
			given: func(w *world) { w.before["replace"] = func() { w.set(seats("wang")) } },
			staff: "wang", calls: "tenant draw version load replace refresh:rotation_set_rebuilt draw", ending: draw.Drawn,
		},
		"somebody else has made it already": {
			given: func(w *world) { w.before["version"] = func() { w.set(seats("wang")) } },
			staff: "wang", calls: "tenant draw version refresh:rotation_set_rebuilt draw", ending: draw.Drawn,
		},
		"WeCom picks": {
			given: func(w *world) { w.family(roster.Native) },
			err:   draw.ErrNative, calls: "tenant draw version load", ending: draw.Native,
		},
		"deleted": {
			given: func(w *world) { f := w.facts["hot"]; f.Code.Deleted = true; w.facts["hot"] = f },
			err:   draw.ErrDeleted, calls: "tenant draw version load", ending: draw.Deleted,
		},
		"facts that contradict themselves": {
			given: func(w *world) { f := w.facts["hot"]; f.Tenant.TimeZone = "Nowhere"; w.facts["hot"] = f },
			err:   draw.ErrInvalid, calls: "tenant draw version load", ending: draw.Invalid,
		},
		"Redis gone": {
			given: func(w *world) { w.fail("draw") },
			err:   draw.ErrUnavailable, calls: "tenant draw", ending: draw.Unavailable,
		},
		"Redis gone on the way": {
			given: func(w *world) { w.fail("replace") },
			err:   draw.ErrUnavailable, calls: "tenant draw version load replace", ending: draw.Unavailable,
		},
		"MongoDB gone, code unknown": {
			given: func(w *world) { w.fail("tenant") },
			err:   draw.ErrUnavailable, calls: "tenant", ending: draw.Unavailable,
		},
		"MongoDB gone, set missing": {
			given: func(w *world) { w.fail("load") },
			err:   draw.ErrUnavailable, calls: "tenant draw version load", ending: draw.Unavailable,
		},
		"the broker gone: the customer is served": {
			given: func(w *world) { w.fail("refresh") },
			staff: "li.na", calls: "tenant draw version load replace refresh:rotation_set_rebuilt draw", ending: draw.Drawn,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			if tt.given != nil {
				tt.given(w)
			}
			code := "hot"
			if tt.code != "" {
				code = tt.code
			}
			got, err := w.desk.Draw(t.Context(), draw.Request{Code: code, Grant: tt.grant, Surface: draw.API})
			if !errors.Is(err, tt.err) || got.Staff != tt.staff {
				t.Errorf("drew %q, %v; want %q, %v", got.Staff, err, tt.staff, tt.err)
			}
			if diff := cmp.Diff(strings.Fields(tt.calls), w.took(), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]draw.Ending{tt.ending}, w.endings); diff != "" {
				t.Errorf("endings (-want +got):\n%s", diff)
			}
		})
	}
}

// The second draw asks the set and nobody else, also while MongoDB is away.
func TestOneRoundTripOnceTheCodeIsKnown(t *testing.T) {
	w := newWorld(t)
	w.set(seats("li.na", "wang"))
	w.draw("hot")
	w.fail("tenant", "load")
	w.took()
	if got, err := w.draw("hot"); got != "wang" || err != nil {
		t.Errorf("drew %q, %v", got, err)
	}
	if diff := cmp.Diff([]string{"draw"}, w.took()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

// What a stranger asks for in vain is not asked of the stores each time, and
// not for ever.
func TestRefusalsAreRememberedForSeconds(t *testing.T) {
	tests := map[string]struct {
		given func(*world)
		heal  func(*world)
		again string
	}{
		"no such code": {
			given: func(w *world) { delete(w.facts, "hot") },
			heal: func(w *world) {
				w.set(seats("li.na"))
				w.facts["hot"] = roster.Facts{Code: roster.Code{Tenant: "acme"}}
			},
			again: "tenant draw",
		},
		"WeCom picks": {
			given: func(w *world) { w.family(roster.Native) },
			heal:  func(w *world) { w.family(roster.Sequenced) },
			again: "draw version load replace refresh:rotation_set_rebuilt draw",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			tt.given(w)
			_, first := w.draw("hot")
			w.took()
			tt.heal(w)
			for range 3 {
				w.now = w.now.Add(1600 * time.Millisecond)
				if _, err := w.draw("hot"); draw.EndingOf(draw.Turn{}, err) != draw.EndingOf(draw.Turn{}, first) {
					t.Errorf("%v after %v", err, first)
				}
			}
			if calls := w.took(); len(calls) > 0 {
				t.Errorf("calls meanwhile: %v", calls)
			}
			w.now = w.now.Add(200 * time.Millisecond)
			if got, err := w.draw("hot"); got != "li.na" || err != nil {
				t.Errorf("then: %q, %v", got, err)
			}
			if diff := cmp.Diff(strings.Fields(tt.again), w.took()); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
		})
	}
}

// A code with nobody free is given to the refreshers once a second, however
// many customers find it so.
func TestAnExhaustedSetIsRefreshedOnceASecond(t *testing.T) {
	w := newWorld(t)
	w.set(push.Set{})
	refreshes := 0
	for range 100 {
		_, _ = w.draw("hot")
		w.now = w.now.Add(49 * time.Millisecond)
	}
	for _, call := range w.took() {
		if strings.HasPrefix(call, "refresh") {
			refreshes++
		}
	}
	if refreshes != 5 {
		t.Errorf("%d refreshes in 4.9 s, want 5", refreshes)
	}
}

// Many who miss the set at once have it made once, and all are served; that the
// first of them hangs up does not matter.
func TestAMissingSetIsMadeOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		_, _ = w.draw("hot") // the tenant is known
		w.lose()
		w.took()
		loading := make(chan struct{})
		w.before["load"] = func() { <-loading }
		impatient, hangUp := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		errs := make(chan error, 50)
		for i := range 50 {
			ctx := t.Context()
			if i == 0 {
				ctx = impatient
			}
			wg.Go(func() {
				_, err := w.desk.Draw(ctx, draw.Request{Code: "hot"})
				errs <- err
			})
			synctest.Wait()
		}
		hangUp()
		close(loading)
		wg.Wait()
		failed := 0
		for range 50 {
			if err := <-errs; err != nil {
				failed++
			}
		}
		loads := 0
		for _, call := range w.took() {
			if call == "load" {
				loads++
			}
		}
		if failed > 1 || loads != 1 {
			t.Errorf("%d draws failed, want that of the first at most; %d loads, want 1", failed, loads)
		}
	})
}

// Those who did not make the set do not wait until the broker has the news of
// it.
func TestTheBrokerHoldsUpOneCustomer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		publishing := make(chan struct{})
		w.before["refresh"] = func() { <-publishing }
		served := make(chan error, 10)
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() {
				_, err := w.draw("hot")
				served <- err
			})
		}
		synctest.Wait()
		if len(served) != 9 {
			t.Errorf("%d of 10 customers are served while the broker hangs, want 9", len(served))
		}
		close(publishing)
		wg.Wait()
		for range 10 {
			if err := <-served; err != nil {
				t.Error(err)
			}
		}
	})
}

// The same when the one who works for all panics: the others are told, and the
// next one tries again.
func TestAPanicIsNotForEver(t *testing.T) {
	w := newWorld(t)
	w.before["load"] = func() { panic("broken") }
	func() {
		defer func() { _ = recover() }()
		_, _ = w.draw("hot")
	}()
	delete(w.before, "load")
	if got, err := w.draw("hot"); got != "li.na" || err != nil {
		t.Errorf("drew %q, %v", got, err)
	}
}

func TestADrawIsLogged(t *testing.T) {
	w := newWorld(t)
	w.set(seats("li.na"))
	_, err := w.desk.Draw(t.Context(), draw.Request{Code: "hot", Key: "k", Surface: draw.Page, From: "203.0.113.0/24"})
	if err != nil {
		t.Fatal(err)
	}
	want := "level=INFO msg=drawn tenant=acme code=hot staff=li.na round=0 lap=0 position=0 repeated=false surface=page from=203.0.113.0/24\n"
	if diff := cmp.Diff(want, w.log.String()); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
}

// While Redis is away, the log holds a line a second and not one a customer;
// a stranger's made-up names are not in it at all.
func TestTheLogIsNotFlooded(t *testing.T) {
	w := newWorld(t)
	w.fail("draw")
	for range 30 {
		_, _ = w.draw("hot")
		_, _ = w.draw("no-such-code")
		w.now = w.now.Add(99 * time.Millisecond)
	}
	if lines := strings.Count(w.log.String(), "draw failed"); lines != 3 {
		t.Errorf("%d lines in 2.9 s, want 3", lines)
	}
	if strings.Contains(w.log.String(), "no-such") {
		t.Errorf("a name somebody made up is in the log:\n%s", &w.log)
	}
}

// Nor does one kind of failure bring back the line of the other.
func TestTheLogIsNotFloodedByTwoKinds(t *testing.T) {
	w := newWorld(t)
	broken := w.facts["hot"]
	broken.Tenant.TimeZone = "Nowhere"
	w.facts["hot"] = broken
	for range 10 {
		_, _ = w.draw("hot") // found out once, then remembered
		w.fail("tenant")
		_, _ = w.draw("other")
	}
	for _, kind := range []draw.Ending{draw.Invalid, draw.Unavailable} {
		if lines := strings.Count(w.log.String(), "ending="+string(kind)); lines != 1 {
			t.Errorf("%d lines say %s, want 1:\n%s", lines, kind, &w.log)
		}
	}
}

// A customer who hung up is no outage.
func TestHangingUpIsNoOutage(t *testing.T) {
	w := newWorld(t)
	w.set(seats("li.na"))
	ctx, cancel := context.WithCancel(t.Context())
	w.before["draw"] = cancel
	w.fail("draw")
	_, _ = w.desk.Draw(ctx, draw.Request{Code: "hot"})
	if diff := cmp.Diff([]draw.Ending{draw.Abandoned}, w.endings); diff != "" || w.log.Len() > 0 {
		t.Errorf("endings (-want +got):\n%s\nlog: %s", diff, &w.log)
	}
}

// He does not take the refresh with him that the code needs.
func TestHangingUpDoesNotEndARefresh(t *testing.T) {
	w := newWorld(t)
	w.set(push.Set{})
	ctx, cancel := context.WithCancel(t.Context())
	w.before["refresh"] = cancel
	_, _ = w.desk.Draw(ctx, draw.Request{Code: "hot"})
	if strings.Contains(w.log.String(), "could not be given") {
		t.Errorf("log: %s", &w.log)
	}
}

func TestTheLastDraws(t *testing.T) {
	w := newWorld(t)
	for name, tt := range map[string]struct {
		grant access.Grant
		err   error
	}{
		"own tenant":     {access.Grant{Tenant: "acme"}, nil},
		"all tenants":    {access.Grant{}, nil},
		"another tenant": {access.Grant{Tenant: "globex"}, draw.ErrUnknown},
	} {
		got, err := w.desk.Last(t.Context(), "hot", tt.grant)
		if !errors.Is(err, tt.err) || (err == nil) != (len(got) == 1) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	w.fail("trail")
	if _, err := w.desk.Last(t.Context(), "hot", access.Grant{}); !errors.Is(err, draw.ErrUnavailable) {
		t.Errorf("Redis gone: %v", err)
	}
}

// world is everything around a desk: one tenant's code with two members, and
// sets that hand out their seats in order.
type world struct {
	t     *testing.T
	desk  *draw.Desk
	now   time.Time
	log   bytes.Buffer
	facts map[string]roster.Facts

	mu      sync.Mutex
	version int64
	seats   []string
	next    int
	failing map[string]bool
	before  map[string]func()
	calls   []string
	endings []draw.Ending
}

var errGone = errors.New("gone")

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{
		t: t, now: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC),
		failing: map[string]bool{}, before: map[string]func(){},
	}
	w.facts = map[string]roster.Facts{"hot": {
		Code: roster.Code{
			ID: "hot", Tenant: "acme", ConfigID: "cfg", Family: roster.Sequenced,
			Members: []roster.Member{{Staff: "li.na"}, {Staff: "wang"}},
		},
		Tenant: roster.Tenant{ID: "acme"},
		Staff:  map[string]roster.Staff{"li.na": {ID: "li.na"}, "wang": {ID: "wang"}},
	}}
	log := slog.NewTextHandler(&w.log, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}})
	w.desk = draw.NewDesk(
		draw.Ports{Sets: w, Trail: w, Codes: w, Facts: w, Refresher: w, Observer: w},
		draw.Options{Now: func() time.Time { return w.now }, Logger: slog.New(log)},
	)
	return w
}

func (w *world) draw(code string) (string, error) {
	answer, err := w.desk.Draw(w.t.Context(), draw.Request{Code: code, Surface: draw.API})
	return answer.Staff, err
}

func seats(staff ...string) push.Set {
	var set push.Set
	for _, s := range staff {
		set.Seats = append(set.Seats, roster.Seat{Staff: s, Headroom: -1})
	}
	return set
}

func (w *world) set(set push.Set) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.version, w.seats, w.next = w.version+1, nil, 0
	for _, s := range set.Seats {
		w.seats = append(w.seats, s.Staff)
	}
}

func (w *world) lose() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.version, w.seats = 0, nil
}

func (w *world) family(family roster.Family) {
	f := w.facts["hot"]
	f.Code.Family = family
	w.facts["hot"] = f
}

func (w *world) resign(staff ...string) {
	for _, s := range staff {
		w.facts["hot"].Staff[s] = roster.Staff{ID: s, Resigned: true}
	}
}

func (w *world) fail(calls ...string) {
	for _, c := range calls {
		w.failing[c] = true
	}
}

// took returns the calls since it was last asked.
func (w *world) took() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	calls := w.calls
	w.calls = nil
	return calls
}

func (w *world) called(ctx context.Context, call string) error {
	name, _, _ := strings.Cut(call, ":")
	w.mu.Lock()
	w.calls = append(w.calls, call)
	before, failing := w.before[name], w.failing[name]
	w.mu.Unlock()
	if before != nil {
		before()
	}
	if failing {
		return errGone
	}
	return ctx.Err() // nobody answers whoever does not wait
}

func (w *world) Draw(ctx context.Context, ref push.Ref, _ string) (draw.Turn, error) {
	if err := w.called(ctx, "draw"); err != nil {
		return draw.Turn{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case ref != hot:
		w.t.Errorf("draw from %v", ref)
	case w.version == 0:
		return draw.Turn{}, draw.ErrNoSet
	case len(w.seats) == 0:
		return draw.Turn{}, draw.ErrExhausted
	}
	at := w.next % len(w.seats)
	turn := draw.Turn{Staff: w.seats[at], Lap: int64(w.next / len(w.seats)), Position: at}
	w.next++
	return turn, nil
}

func (w *world) Version(ctx context.Context, _ push.Ref) (int64, error) {
	err := w.called(ctx, "version")
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.version, err
}

func (w *world) Replace(ctx context.Context, _ push.Ref, seen int64, set push.Set) (int64, bool, error) {
	if err := w.called(ctx, "replace"); err != nil {
		return 0, false, err
	}
	w.mu.Lock()
	is := w.version
	w.mu.Unlock()
	if is != seen {
		return is, false, nil
	}
	w.set(set)
	return is + 1, true, nil
}

func (w *world) TenantOf(ctx context.Context, code string) (string, error) {
	if err := w.called(ctx, "tenant"); err != nil {
		return "", err
	}
	facts, ok := w.facts[code]
	if !ok {
		return "", push.ErrUnknownCode
	}
	return facts.Code.Tenant, nil
}

func (w *world) Load(ctx context.Context, ref push.Ref) (roster.Facts, push.Record, error) {
	if err := w.called(ctx, "load"); err != nil {
		return roster.Facts{}, push.Record{}, err
	}
	return w.facts[ref.Code], push.Record{}, nil
}

func (w *world) AdvanceRound(ctx context.Context, ref push.Ref, from int64) (bool, error) {
	if err := w.called(ctx, "advance"); err != nil {
		return false, err
	}
	f := w.facts[ref.Code]
	f.Counters.Round, f.Counters.InRound = from+1, nil
	w.facts[ref.Code] = f
	return true, nil
}

func (w *world) Refresh(ctx context.Context, _ push.Ref, why string) (publish.Place, error) {
	return publish.Broker, w.called(ctx, "refresh:"+why)
}

func (w *world) Trail(ctx context.Context, _ push.Ref) ([]draw.Past, error) {
	return []draw.Past{{Turn: draw.Turn{Staff: "li.na"}, At: w.now}}, w.called(ctx, "trail")
}

func (w *world) Ended(_ context.Context, _ draw.Surface, ending draw.Ending, _ time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.endings = append(w.endings, ending)
}

func (w *world) Rebuilt(context.Context, bool) {}
