package registry_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/fanout"
	"github.com/rollcall-dev/rollcall/internal/publish"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/registry"
	"github.com/rollcall-dev/rollcall/internal/registry/registrytest"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

var errAway = errors.New("away")

// Every write stores first and announces after; a write that changes nothing
// announces a code again and a fan-out not.
func TestEveryWriteIsAnnounced(t *testing.T) {
	tests := map[string]struct {
		write func(r *rig) (registry.Outcome, error)
		why   string // as announced
		again string // what a repeat announces; "" is nothing
	}{
		"a new tenant": {func(r *rig) (registry.Outcome, error) {
			return r.PutTenant(r.ctx, registry.TenantEdit{Tenant: "initech", DailyTotal: registry.To(5)}, "why")
		}, "fan-out initech/", ""},
		"a tenant": {func(r *rig) (registry.Outcome, error) {
			return r.PutTenant(r.ctx, registry.TenantEdit{Tenant: "acme", DailyTotal: registry.To(5)}, "why")
		}, "fan-out acme/", ""},
		"a tenant's lane": {func(r *rig) (registry.Outcome, error) {
			return r.ChangeTenant(r.ctx, registry.TenantEdit{Tenant: "acme", Lane: registry.To(roster.LaneSlow)}, "why")
		}, "fan-out acme/", ""},
		"a new staff member": {func(r *rig) (registry.Outcome, error) {
			return r.PutStaff(r.ctx, "acme", registry.StaffEdit{Staff: "wang"}, "why")
		}, "fan-out acme/wang", ""},
		"a resignation": {func(r *rig) (registry.Outcome, error) {
			return r.ChangeStaff(r.ctx, "acme", registry.StaffEdit{Staff: "li.na", Resigned: registry.To(true)}, "why")
		}, "fan-out acme/li.na", ""},
		"a schedule": {func(r *rig) (registry.Outcome, error) {
			hours := &roster.Schedule{Special: map[roster.Day][]roster.Shift{"20261001": {{From: 1, To: 2}}}}
			return r.ChangeStaff(r.ctx, "acme", registry.StaffEdit{Staff: "li.na", Schedule: registry.To(hours)}, "why")
		}, "fan-out acme/li.na", ""},
		"a new code": {func(r *rig) (registry.Outcome, error) {
			return r.PutCode(r.ctx, "acme", native("new"), registry.Way{Adopt: "cfg"}, "why")
		}, "event acme/new", "event acme/new"},
		"a code's switches": {func(r *rig) (registry.Outcome, error) {
			edit := registry.CodeEdit{Code: "c", Switches: registry.To(roster.Switches{AddLimit: true})}
			return r.ChangeCode(r.ctx, "acme", edit, "why")
		}, "event acme/c", "event acme/c"},
		"a retirement": {func(r *rig) (registry.Outcome, error) {
			return r.ChangeCode(r.ctx, "acme", registry.CodeEdit{Code: "c", Deleted: registry.To(true)}, "why")
		}, "event acme/c", "event acme/c"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			out, err := test.write(r)
			if err != nil || !out.Changed {
				t.Fatalf("%+v, %v", out, err)
			}
			r.wantAnnounced(t, test.why+" why")
			again, err := test.write(r)
			if err != nil || again.Changed || again.Created {
				t.Errorf("the repeat: %+v, %v", again, err)
			}
			want := []string{}
			if test.again != "" {
				want = append(want, test.again+" why")
			}
			r.wantAnnounced(t, want...)
		})
	}
}

// What is stored and could not be announced is announced by the repeat,
// although the facts are the same by then.
func TestARepeatAnnouncesWhatWasNot(t *testing.T) {
	writes := map[string]func(r *rig) (registry.Outcome, error){
		"fan-out acme/ why": func(r *rig) (registry.Outcome, error) {
			return r.PutTenant(r.ctx, registry.TenantEdit{Tenant: "acme", DailyTotal: registry.To(5)}, "why")
		},
		"fan-out acme/li.na why": func(r *rig) (registry.Outcome, error) {
			return r.ChangeStaff(r.ctx, "acme", registry.StaffEdit{Staff: "li.na", Resigned: registry.To(true)}, "why")
		},
		"event acme/c why": func(r *rig) (registry.Outcome, error) {
			return r.ChangeCode(r.ctx, "acme", registry.CodeEdit{Code: "c", Remark: registry.To("x")}, "why")
		},
	}
	for want, write := range writes {
		t.Run(want, func(t *testing.T) {
			r := newRig(t)
			r.announced.err = errAway
			_, err := write(r)
			if _, unannounced := errors.AsType[*registry.UnannouncedError](err); !unannounced || !errors.Is(err, errAway) {
				t.Fatalf("without a broker: %v", err)
			}
			r.announced.err = nil
			out, err := write(r)
			if err != nil || out.Changed {
				t.Errorf("the repeat: %+v, %v; want no change", out, err)
			}
			r.wantAnnounced(t, want)
		})
	}
}

// A switch to the mode that a tenant has is none, also when it announces what an
// earlier write did not: the term stays, and with it what is known of WeCom.
func TestASwitchIsOneOnce(t *testing.T) {
	r := newRig(t)
	to := func(mode roster.Mode) registry.TenantEdit {
		return registry.TenantEdit{Tenant: "acme", Mode: registry.To(mode)}
	}
	wantTerm := func(want int64) {
		t.Helper()
		if got, err := r.facts.Tenant(r.ctx, "acme"); err != nil || got.Term != want {
			t.Errorf("%+v, %v; want term %d", got, err, want)
		}
	}
	if out, err := r.ChangeTenant(r.ctx, to(roster.Live), "why"); err != nil || out.Changed {
		t.Errorf("to the mode of a tenant that never had another: %+v, %v", out, err)
	}
	wantTerm(0)
	r.announced.err = errAway
	if _, err := r.ChangeTenant(r.ctx, to(roster.Shadow), "why"); err == nil {
		t.Error("a switch that could not be announced is done")
	}
	r.announced.err = nil
	if out, err := r.ChangeTenant(r.ctx, to(roster.Shadow), "why"); err != nil || out.Changed || out.Published != registry.ByFanOut {
		t.Errorf("the repeat: %+v, %v; want it announced", out, err)
	}
	wantTerm(1)
}

// A fact that cannot be stored is announced to nobody.
func TestNothingIsAnnouncedThatIsNotStored(t *testing.T) {
	for calls := range 4 {
		r := newRig(t)
		left := calls
		r.facts.Fail = func() error {
			if left--; left < 0 {
				return errAway
			}
			return nil
		}
		_, errTenant := r.PutTenant(r.ctx, registry.TenantEdit{Tenant: "acme", DailyTotal: registry.To(calls + 1)}, "why")
		stored := calls > 1
		if (errTenant == nil) != stored {
			t.Errorf("after %d calls: %v", calls, errTenant)
		}
		if got := len(r.announced.taken()) > 0; got != stored {
			t.Errorf("after %d calls announced: %v", calls, got)
		}
	}
}

func TestTheDirtySetIsSaid(t *testing.T) {
	r := newRig(t)
	r.announced.place = publish.DirtySet
	out, err := r.ChangeCode(r.ctx, "acme", registry.CodeEdit{Code: "c", Remark: registry.To("x")}, "why")
	if err != nil || out.Published != registry.InDirtySet {
		t.Errorf("%+v, %v", out, err)
	}
}

func TestUnknownsAreToldApart(t *testing.T) {
	r := newRig(t)
	for name, test := range map[string]struct {
		err  error
		want error
	}{
		"staff of no tenant": {second(r.PutStaff(r.ctx, "nobody", registry.StaffEdit{Staff: "li.na"}, "")), registry.ErrUnknownTenant},
		"a code of no tenant": {
			second(r.PutCode(r.ctx, "nobody", native("new"), registry.Way{Adopt: "x"}, "")), registry.ErrUnknownTenant,
		},
		"the lane of no tenant":   {second(r.ChangeTenant(r.ctx, registry.TenantEdit{Tenant: "nobody"}, "")), registry.ErrUnknownTenant},
		"a tenant that is no ID":  {second(r.ChangeTenant(r.ctx, registry.TenantEdit{Tenant: "a/b"}, "")), registry.ErrUnknownTenant},
		"an unknown staff member": {second(r.ChangeStaff(r.ctx, "acme", registry.StaffEdit{Staff: "nobody"}, "")), registry.ErrUnknownStaff},
		"an unknown code":         {second(r.ChangeCode(r.ctx, "acme", registry.CodeEdit{Code: "none"}, "")), registry.ErrUnknownCode},
		"another tenant's code":   {second(r.ChangeCode(r.ctx, "globex", registry.CodeEdit{Code: "c"}, "")), registry.ErrUnknownCode},
		"another tenant's ID": {
			second(r.PutCode(r.ctx, "globex", native("c"), registry.Way{Adopt: "x"}, "")), registry.ErrTaken,
		},
	} {
		if !errors.Is(test.err, test.want) {
			t.Errorf("%s: %v, want %v", name, test.err, test.want)
		}
	}
	r.wantAnnounced(t)
}

func TestContactWays(t *testing.T) {
	pending, refused := registry.ErrWayPending, &registry.WayError{Field: "members", Detail: "40031"}
	tests := map[string]struct {
		code     string
		way      registry.Way
		vendor   error
		want     registry.Place
		pending  bool
		configID string // afterwards
		err      error
	}{
		"made":                            {"new", registry.Way{Create: true}, nil, registry.OnBroker, false, "made", nil},
		"adopted":                         {"new", registry.Way{Adopt: "cfg-9"}, nil, registry.OnBroker, false, "cfg-9", nil},
		"being made":                      {"new", registry.Way{Create: true}, pending, registry.Nowhere, true, "", nil},
		"refused":                         {"new", registry.Way{Create: true}, refused, "", false, "", refused},
		"kept":                            {"c", registry.Way{}, nil, registry.OnBroker, false, "cfg", nil},
		"there already":                   {"c", registry.Way{Create: true}, nil, registry.OnBroker, false, "cfg", nil},
		"the same":                        {"c", registry.Way{Adopt: "cfg"}, nil, registry.OnBroker, false, "cfg", nil},
		"another":                         {"c", registry.Way{Adopt: "cfg-9"}, nil, "", false, "cfg", roster.ErrInvalid},
		"none for a new code":             {"new", registry.Way{}, nil, "", false, "", roster.ErrInvalid},
		"both":                            {"new", registry.Way{Adopt: "cfg", Create: true}, nil, "", false, "", roster.ErrInvalid},
		"none for a code without one":     {"bare", registry.Way{}, nil, registry.Nowhere, false, "", nil},
		"made for a code without one":     {"bare", registry.Way{Create: true}, nil, registry.OnBroker, false, "made", nil},
		"a retired code without a way":    {"retired", registry.Way{}, nil, "", false, "old", roster.ErrInvalid},
		"a retired code with a new way":   {"retired", registry.Way{Create: true}, nil, registry.OnBroker, false, "made", nil},
		"a retired code with another's":   {"retired", registry.Way{Adopt: "cfg-9"}, nil, registry.OnBroker, false, "cfg-9", nil},
		"a retired code with its old one": {"retired", registry.Way{Adopt: "old"}, nil, registry.OnBroker, false, "old", nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.ways.err = test.vendor
			out, err := r.PutCode(r.ctx, "acme", native(test.code), test.way, "why")
			if !errors.Is(err, test.err) || out.Published != test.want && err == nil || out.WayPending != test.pending {
				t.Errorf("%+v, %v", out, err)
			}
			known, _ := r.facts.CodesOf(r.ctx, "acme", []string{test.code})
			if got := known[test.code].ConfigID; got != test.configID {
				t.Errorf("config_id %q, want %q", got, test.configID)
			}
			if err == nil && known[test.code].Deleted {
				t.Error("it is retired still")
			}
		})
	}
}

// What Decide would refuse is refused at the door, in the request's words.
func TestWhatDecideRefusesIsRefused(t *testing.T) {
	r := newRig(t)
	long := strings.Repeat("长", 31)
	for want, err := range map[string]error{
		"time_zone":              second(r.PutTenant(r.ctx, registry.TenantEdit{Tenant: "acme", TimeZone: registry.To("Mars")}, "")),
		"daily_total":            second(r.PutTenant(r.ctx, registry.TenantEdit{Tenant: "acme", DailyTotal: registry.To(-1)}, "")),
		"max_removal_share":      second(r.PutTenant(r.ctx, registry.TenantEdit{Tenant: "acme", MaxRemovalShare: registry.To(1.5)}, "")),
		"lane":                   second(r.PutTenant(r.ctx, registry.TenantEdit{Tenant: "acme", Lane: registry.To(roster.LaneSwitch("x"))}, "")),
		"fallback[1]":            second(r.PutTenant(r.ctx, registry.TenantEdit{Tenant: "acme", Fallback: registry.To([]string{"a", ""})}, "")),
		"fallback":               second(r.PutTenant(r.ctx, registry.TenantEdit{Tenant: "acme", Fallback: registry.To(many(101))}, "")),
		"tier":                   second(r.PutTenant(r.ctx, registry.TenantEdit{Tenant: "acme", Tier: registry.To(strings.Repeat("x", 65))}, "")),
		"tenant":                 second(r.PutTenant(r.ctx, registry.TenantEdit{Tenant: "a/b"}, "")),
		"staff":                  second(r.PutStaff(r.ctx, "acme", registry.StaffEdit{Staff: strings.Repeat("x", 65)}, "")),
		"presence":               second(r.PutStaff(r.ctx, "acme", registry.StaffEdit{Staff: "x", Presence: registry.To(roster.Presence("x"))}, "")),
		"schedule.time_zone":     second(r.PutStaff(r.ctx, "acme", staffWith(&roster.Schedule{TimeZone: "Local"}), "")),
		"schedule[2]":            second(r.PutStaff(r.ctx, "acme", staffWith(weekly(2, roster.Shift{From: 1, To: 1})), "")),
		"schedule.weekly[3]":     second(r.PutStaff(r.ctx, "acme", staffWith(weekly(3, make([]roster.Shift, 25)...)), "")),
		"schedule.special":       second(r.PutStaff(r.ctx, "acme", staffWith(special("20260231")), "")),
		"code":                   second(r.PutCode(r.ctx, "acme", native("a b"), registry.Way{Create: true}, "")),
		"family":                 second(r.PutCode(r.ctx, "acme", registry.CodeEdit{Code: "new"}, registry.Way{Create: true}, "")),
		"members[1].daily_limit": second(r.ChangeCode(r.ctx, "acme", withMembers(roster.Member{Staff: "a"}, roster.Member{Staff: "b", DailyLimit: -1}), "")),
		"members[0].staff":       second(r.ChangeCode(r.ctx, "acme", withMembers(roster.Member{}), "")),
		"members":                second(r.ChangeCode(r.ctx, "acme", withMembers(make([]roster.Member, 1001)...), "")),
		"backups":                second(r.ChangeCode(r.ctx, "acme", registry.CodeEdit{Code: "c", Backups: registry.To(many(101))}, "")),
		"remark":                 second(r.ChangeCode(r.ctx, "acme", registry.CodeEdit{Code: "c", Remark: registry.To(long)}, "")),
		"state":                  second(r.ChangeCode(r.ctx, "acme", registry.CodeEdit{Code: "c", State: registry.To(long)}, "")),
		"on_empty":               second(r.ChangeCode(r.ctx, "acme", registry.CodeEdit{Code: "c", OnEmpty: registry.To(roster.EmptyPolicy("x"))}, "")),
		"config_id":              second(r.PutCode(r.ctx, "acme", native("new"), registry.Way{}, "")),
	} {
		bad, ok := errors.AsType[*roster.InvalidError](err)
		if !ok || bad.Field != want {
			t.Errorf("%s: %v", want, err)
		}
	}
	r.wantAnnounced(t)
}

// A proxy that tidies paths would make another request of these.
func TestNoIDIsAStepInAPath(t *testing.T) {
	for _, id := range []string{".", ".."} {
		for name, err := range map[string]error{
			"tenant": registry.CheckTenantID(id), "code": registry.CheckCodeID(id), "staff": registry.CheckStaffID(id),
		} {
			if !errors.Is(err, roster.ErrInvalid) {
				t.Errorf("%q is a %s: %v", id, name, err)
			}
		}
	}
	if err := errors.Join(registry.CheckCodeID("..."), registry.CheckStaffID("a.b")); err != nil {
		t.Error(err)
	}
}

func TestImportStaff(t *testing.T) {
	r := newRig(t)
	r.facts.Seed(registry.Tenant{Tenant: roster.Tenant{ID: "acme"}}, []registry.Staff{
		{Staff: roster.Staff{ID: "same"}}, {Staff: roster.Staff{ID: "left-behind"}, Unannounced: "an import that died"},
	}, nil)
	in, err := r.ImportStaff(r.ctx, "acme", []registry.StaffEdit{
		{Staff: "same"},
		{Staff: "new"},
		{Staff: ""},
		{Staff: "left-behind"},
		{Staff: "li.na", Presence: registry.To(roster.OfflineNow)},
	}, "why")
	if err != nil {
		t.Fatalf("ImportStaff: %v", err)
	}
	if in.Stored != 3 || in.Unchanged != 1 || len(in.Refused) != 1 || in.Refused[0].Entry != 2 {
		t.Errorf("%+v", in)
	}
	r.wantAnnounced(t, "fan-out acme/left-behind why", "fan-out acme/li.na why", "fan-out acme/new why")
	if _, err := r.ImportStaff(r.ctx, "acme", []registry.StaffEdit{{Staff: "left-behind"}, {Staff: "new"}}, "why"); err != nil {
		t.Fatalf("ImportStaff: %v", err)
	}
	r.wantAnnounced(t)
}

// Many changed staff members are one fan-out over the tenant.
func TestALargeImportOfStaffIsOneFanOut(t *testing.T) {
	r := newRig(t)
	var edits []registry.StaffEdit
	for _, id := range many(51) {
		edits = append(edits, registry.StaffEdit{Staff: id})
	}
	if _, err := r.ImportStaff(r.ctx, "acme", edits, "why"); err != nil {
		t.Fatalf("ImportStaff: %v", err)
	}
	r.wantAnnounced(t, "fan-out acme/ why")
}

// Who wrote a fact died before anybody was told: the sweep tells, once the
// writer is surely dead.
func TestSweepAnnouncesWhatWasLeftBehind(t *testing.T) {
	r := newRig(t)
	r.announced.err = errAway
	_, _ = r.PutTenant(r.ctx, registry.TenantEdit{Tenant: "acme", DailyTotal: registry.To(5)}, "why")
	_, _ = r.ChangeStaff(r.ctx, "acme", registry.StaffEdit{Staff: "li.na", Resigned: registry.To(true)}, "why")
	r.announced.err = nil
	sweep := func(want int) {
		t.Helper()
		if got, err := r.Sweep(r.ctx); err != nil || got != want {
			t.Errorf("Sweep: %d, %v; want %d", got, err, want)
		}
	}
	sweep(0)
	r.wantAnnounced(t)
	r.now = r.now.Add(2*time.Minute + time.Second)
	r.announced.err = errAway
	if _, err := r.Sweep(r.ctx); !errors.Is(err, errAway) {
		t.Errorf("Sweep without a store of fan-outs: %v", err)
	}
	r.announced.err = nil
	sweep(2)
	r.wantAnnounced(t, "fan-out acme/ left_unannounced", "fan-out acme/li.na left_unannounced")
	sweep(0)
	r.wantAnnounced(t)
}

func TestImportCodes(t *testing.T) {
	r := newRig(t)
	with := func(id, configID string) registry.CodeEdit {
		e := native(id)
		if configID != "" {
			e.ConfigID = registry.To(configID)
		}
		return e
	}
	edits := []registry.CodeEdit{
		with("new", "cfg-9"), with("c", ""), with("bare-new", ""), with("theirs", "cfg-8"), with("c2", "cfg-7"),
	}
	in, err := r.ImportCodes(r.ctx, "acme", edits, "why")
	if err != nil {
		t.Fatalf("ImportCodes: %v", err)
	}
	refused := []int{}
	for _, one := range in.Refused {
		refused = append(refused, one.Entry)
	}
	slices.Sort(refused)
	if in.Stored != 2 || in.Unchanged != 1 || !slices.Equal(refused, []int{2, 3}) {
		t.Errorf("%+v", in)
	}
	r.wantAnnounced(t, "event acme/c why", "event acme/c2 why", "event acme/new why")
	if r.ways.made > 0 {
		t.Error("an import has made a contact way")
	}
}

// The broker is away in the middle of an import: the whole chunk is repeated,
// and what was stored is announced.
func TestAnImportThatCouldNotAnnounce(t *testing.T) {
	r := newRig(t)
	edits := []registry.CodeEdit{native("c"), native("bare")}
	edits[0].Remark, edits[1].ConfigID = registry.To("x"), registry.To("cfg-5")
	r.announced.err = errAway
	_, err := r.ImportCodes(r.ctx, "acme", edits, "why")
	if _, unannounced := errors.AsType[*registry.UnannouncedError](err); !unannounced {
		t.Fatalf("without a broker: %v", err)
	}
	r.announced.err, r.announced.place = nil, publish.DirtySet
	in, err := r.ImportCodes(r.ctx, "acme", edits, "why")
	if err != nil || in.Unchanged != 2 || in.InDirty != 2 {
		t.Errorf("%+v, %v", in, err)
	}
	r.wantAnnounced(t, "event acme/bare why", "event acme/c why")
}

// rig is a registry on stores in memory. Tenant acme has the staff member li.na
// and the codes c, bare (without a contact way) and retired; globex has theirs.
type rig struct {
	*registry.Registry
	ctx       context.Context
	now       time.Time
	facts     *registrytest.Memory
	announced *announced
	ways      *ways
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{ctx: t.Context(), now: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC), announced: &announced{}}
	now := func() time.Time { return r.now }
	r.facts = registrytest.NewMemory(now)
	r.ways = &ways{facts: r.facts}
	r.Registry = registry.New(registry.Options{
		Facts: r.facts, Publisher: r.announced, FanOuts: r.announced, Ways: r.ways, Now: now,
	})
	code := func(id, configID string) registry.Code {
		return registry.Code{Code: native(id).Of(roster.Code{ConfigID: configID, Revision: 1})}
	}
	retired := code("retired", "old")
	retired.Deleted = true
	r.facts.Seed(registry.Tenant{Tenant: roster.Tenant{ID: "acme"}}, []registry.Staff{{Staff: roster.Staff{ID: "li.na"}}},
		[]registry.Code{code("c", "cfg"), code("bare", ""), retired})
	r.facts.Seed(registry.Tenant{Tenant: roster.Tenant{ID: "globex"}}, nil, []registry.Code{code("theirs", "cfg-2")})
	return r
}

// wantAnnounced compares what was announced since the last call; the order does
// not matter.
func (r *rig) wantAnnounced(t *testing.T, want ...string) {
	t.Helper()
	got := r.announced.taken()
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" && len(want)+len(got) > 0 {
		t.Errorf("announced (-want +got):\n%s", diff)
	}
}

// announced is told of codes and of fan-outs.
type announced struct {
	mu    sync.Mutex
	err   error
	place publish.Place
	all   []string
}

func (a *announced) add(what string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.err == nil {
		a.all = append(a.all, what)
	}
	return a.err
}

func (a *announced) taken() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	all := a.all
	a.all = nil
	return all
}

func (a *announced) Refresh(_ context.Context, ref push.Ref, why string) (publish.Place, error) {
	err := a.add("event " + ref.Tenant + "/" + ref.Code + " " + why)
	if a.place != "" {
		return a.place, err
	}
	return publish.Broker, err
}

func (a *announced) Request(_ context.Context, r fanout.Request) (fanout.Ticket, error) {
	return fanout.Ticket{ID: r.Tenant + "/" + r.Staff, Epoch: 1}, a.add("fan-out " + r.Tenant + "/" + r.Staff + " " + r.Why)
}

// ways makes contact ways called "made".
type ways struct {
	facts *registrytest.Memory
	err   error
	made  int
}

func (w *ways) Create(ctx context.Context, ref push.Ref) error {
	w.made++
	return w.Adopt(ctx, ref, "made")
}

func (w *ways) Adopt(ctx context.Context, ref push.Ref, configID string) error {
	if w.err != nil {
		return w.err
	}
	return w.facts.ChangeCode(ctx, ref.Tenant, registry.CodeEdit{Code: ref.Code, ConfigID: registry.To(configID)})
}

func native(id string) registry.CodeEdit {
	return registry.CodeEdit{Code: id, Family: registry.To(roster.Native)}
}

func withMembers(members ...roster.Member) registry.CodeEdit {
	for i := range members {
		if len(members) > 2 {
			members[i].Staff = strconv.Itoa(i)
		}
	}
	return registry.CodeEdit{Code: "c", Members: registry.To(members)}
}

func staffWith(s *roster.Schedule) registry.StaffEdit {
	return registry.StaffEdit{Staff: "x", Schedule: registry.To(s)}
}

func weekly(day int, shifts ...roster.Shift) *roster.Schedule {
	s := &roster.Schedule{}
	s.Weekly[day] = shifts
	return s
}

func special(day roster.Day) *roster.Schedule {
	return &roster.Schedule{Special: map[roster.Day][]roster.Shift{day: nil}}
}

func many(n int) []string {
	var ids []string
	for i := range n {
		ids = append(ids, "s"+strconv.Itoa(i))
	}
	return ids
}

func second[T any](_ T, err error) error { return err }
