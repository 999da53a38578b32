package wecom_test

import (
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/rollcall-dev/rollcall/internal/adapter/wecom"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/wecomsim"
	"github.com/rollcall-dev/rollcall/internal/wecomsim/fault"
	"github.com/rollcall-dev/rollcall/internal/wecomsim/limits"
)

func TestSimRoundTrip(t *testing.T) {
	s := newSimBench(t, wecomsim.Options{})
	ctx := t.Context()
	added, err := s.client.AddContactWay(ctx, tenant, wecom.AddContactWayRequest{
		Type: wecom.Multi, Scene: wecom.QRCode, Remark: "desk", State: "s1", User: []string{"amy"}, Party: []int64{1},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.wantWay(t, added.ConfigID, wecom.ContactWay{Remark: "desk", State: "s1", User: []string{"amy"}, Party: []int64{1}})

	call := pushCall(time.Now().Add(time.Minute))
	call.ConfigID, call.Members = added.ConfigID, []string{"bob", "amy"}
	if err := s.vendor.Update(ctx, call); err != nil {
		t.Fatal(err)
	}
	s.wantWay(t, added.ConfigID, wecom.ContactWay{Remark: "r", State: "s", SkipVerify: true, User: []string{"bob", "amy"}})
	s.wantExists(t, added.ConfigID, true)

	if err := s.client.DelContactWay(ctx, tenant, added.ConfigID); err != nil {
		t.Fatal(err)
	}
	s.wantExists(t, added.ConfigID, false)
	if got := callError(t, s.vendor.Update(ctx, call)); push.Classify(got) != reason.Gone || got.Unknown {
		t.Errorf("update of what is gone: %v", got)
	}
}

func TestSimList(t *testing.T) {
	s := newSimBench(t, wecomsim.Options{})
	var want, got []string
	for range 25 {
		want = append(want, s.sim.AddWay(corpID, wecomsim.Way{Users: []string{"amy"}}))
	}
	for id, err := range s.client.ListContactWays(t.Context(), tenant, wecom.ListContactWaysRequest{PageSize: 10}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, id)
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("listed (-want +got):\n%s", diff)
	}
	if calls := s.sim.Counters().Of(wecom.OpList, 0); calls != 3 {
		t.Errorf("%d pages", calls)
	}
}

// A token that ends early costs one refused call; one that ends in time none.
func TestSimTokens(t *testing.T) {
	s := newSimBench(t, wecomsim.Options{})
	config := s.sim.AddWay(corpID, wecomsim.Way{Users: []string{"amy"}})
	for range 3 {
		s.wantExists(t, config, true)
		s.sim.InvalidateTokens(corpID)
	}
	s.wantExists(t, config, true)
	counters := s.sim.Counters()
	if fetched, refused := counters.Of("gettoken", 0), counters.Of(wecom.OpGet, 40014); fetched != 4 || refused != 3 {
		t.Errorf("%d tokens fetched, %d calls refused for theirs; want 4 and 3", fetched, refused)
	}

	for _, code := range []int{42001, 40014} {
		synctest.Test(t, func(t *testing.T) {
			s := newSimBench(t, wecomsim.Options{Quirks: wecomsim.Quirks{TokenTTL: time.Hour, ExpiredCode: code}})
			config := s.sim.AddWay(corpID, wecomsim.Way{Users: []string{"amy"}})
			for range 100 {
				s.wantExists(t, config, true)
				elapse(7 * time.Minute)
			}
			if refused := s.sim.Counters().Of(wecom.OpGet, code); refused != 0 {
				t.Errorf("%d calls with a token beyond its end", refused)
			}
		})
	}
}

func TestSimRefusals(t *testing.T) {
	for _, test := range []struct {
		name    string
		members []string
		options wecomsim.Options
		errcode int
		class   reason.Reason
	}{
		{name: "a bad member", members: []string{"amy", "nobody"}, errcode: 40003, class: reason.BadMember},
		{name: "a member who is not activated", members: []string{"new"}, errcode: 41054, class: reason.BadMember},
		{
			name: "frequency", members: []string{"amy"}, errcode: 45009, class: reason.Throttled,
			options: wecomsim.Options{Limits: &limits.Config{Corp: []limits.Window{{Calls: 1, Length: time.Minute, Block: time.Minute}}}},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newSimBench(t, test.options)
			call := pushCall(time.Now().Add(time.Minute))
			call.ConfigID = s.sim.AddWay(corpID, wecomsim.Way{Users: []string{"bob"}})
			call.Members = []string{"amy"}
			if err := s.vendor.Update(t.Context(), call); err != nil {
				t.Fatal(err)
			}
			call.Members = test.members
			got := callError(t, s.vendor.Update(t.Context(), call))
			if got.ErrCode != test.errcode || push.Classify(got) != test.class || got.Unknown || got.Message == "" {
				t.Errorf("got %+v", got)
			}
			if way, _ := s.sim.Way(corpID, call.ConfigID); !slices.Equal(way.Users, []string{"amy"}) {
				t.Errorf("WeCom holds %v", way.Users)
			}
		})
	}
}

// Whatever goes wrong, a call that is said to be surely not applied was not.
func TestSimFaults(t *testing.T) {
	for _, test := range []struct {
		rule    fault.Rule
		applied bool
		unknown bool
	}{
		{rule: fault.Rule{Action: fault.Reset, Phase: fault.Before}, unknown: true},
		{rule: fault.Rule{Action: fault.Reset, Phase: fault.After}, unknown: true, applied: true},
		{rule: fault.Rule{Action: fault.Status, Status: 502, Phase: fault.Before}, unknown: true},
		{rule: fault.Rule{Action: fault.Status, Status: 502, Phase: fault.After}, unknown: true, applied: true},
		{rule: fault.Rule{Action: fault.ErrCode, ErrCode: -1, Phase: fault.Before}, unknown: true},
		{rule: fault.Rule{Action: fault.ErrCode, ErrCode: -1, Phase: fault.After}, unknown: true, applied: true},
		{rule: fault.Rule{Action: fault.ErrCode, ErrCode: 45033, Phase: fault.Before}},
		{rule: fault.Rule{Action: fault.Timeout, Phase: fault.Before, Hang: time.Minute}, unknown: true},
		{rule: fault.Rule{Action: fault.Timeout, Phase: fault.After, Hang: time.Minute}, unknown: true, applied: true},
	} {
		t.Run(test.rule.Name(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSimBench(t, wecomsim.Options{})
				test.rule.API = wecom.OpUpdate
				if _, err := s.sim.AddFault(test.rule); err != nil {
					t.Fatal(err)
				}
				call := pushCall(time.Now().Add(2 * time.Second))
				call.ConfigID = s.sim.AddWay(corpID, wecomsim.Way{Users: []string{"bob"}})
				began := time.Now()
				got := callError(t, s.vendor.Update(t.Context(), call))
				way, _ := s.sim.Way(corpID, call.ConfigID)
				if applied := slices.Equal(way.Users, call.Members); got.Unknown != test.unknown || applied != test.applied {
					t.Errorf("unknown %t, applied %t: %v", got.Unknown, applied, got)
				}
				if waited := time.Since(began); waited > 7*time.Second {
					t.Errorf("waited %v, beyond the deadline and its grace", waited)
				}
			})
		})
	}
}

// simBench is a vendor on a simulated WeCom.
type simBench struct {
	sim    *wecomsim.Sim
	client *wecom.Client
	vendor *wecom.Vendor
}

func newSimBench(t *testing.T, options wecomsim.Options) *simBench {
	t.Helper()
	sim := wecomsim.New(options)
	t.Cleanup(sim.Close)
	if err := sim.SetCorp(wecomsim.Corp{ID: corpID, Apps: []wecomsim.App{{Secret: secret}}}); err != nil {
		t.Fatal(err)
	}
	staff := []wecomsim.Staff{{UserID: "amy", Departments: []int{1}}, {UserID: "bob"}, {UserID: "new", NotActivated: true}}
	if err := sim.SetStaff(corpID, staff...); err != nil {
		t.Fatal(err)
	}
	http := &http.Client{Transport: sim.Client("192.0.2.1").Transport}
	endpoint := newEndpoint(t, wecom.EndpointOptions{HTTP: http})
	tokens := wecom.NewTokens(endpoint, goodCredentials(), wecom.TokensOptions{})
	t.Cleanup(tokens.Close)
	client := wecom.NewClient(endpoint, tokens)
	return &simBench{sim: sim, client: client, vendor: wecom.NewVendor(client, wecom.VendorOptions{})}
}

// wantWay compares what WeCom tells of a contact way, without what is the same
// in every test.
func (s *simBench) wantWay(t *testing.T, configID string, want wecom.ContactWay) {
	t.Helper()
	got, err := s.client.GetContactWay(t.Context(), tenant, configID)
	if err != nil {
		t.Fatal(err)
	}
	want.ConfigID, want.Type, want.Scene = configID, wecom.Multi, wecom.QRCode
	ignored := cmpopts.IgnoreFields(wecom.ContactWay{}, "QRCode", "Style", "Conclusions")
	if diff := cmp.Diff(want, got, ignored, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("contact way (-want +got):\n%s", diff)
	}
	if got.QRCode == "" {
		t.Error("no QR code")
	}
}

func (s *simBench) wantExists(t *testing.T, configID string, want bool) {
	t.Helper()
	got, err := s.vendor.Exists(t.Context(), push.Ref{Tenant: tenant}, configID)
	if err != nil || got != want {
		t.Errorf("exists %t (%v), want %t", got, err, want)
	}
}
