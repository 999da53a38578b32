package wecom_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/adapter/wecom"
	"github.com/rollcall-dev/rollcall/internal/contactway"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/wecomsim"
	"github.com/rollcall-dev/rollcall/internal/wecomsim/fault"
)

func TestContactWayOnTheSim(t *testing.T) {
	s := newSimBench(t, wecomsim.Options{})
	id := s.sim.AddWay(corpID, wecomsim.Way{
		Users: []string{"zoe", "amy"}, Parties: []int{7}, Remark: "r", State: "s", SkipVerify: true,
	})
	want := contactway.Way{
		ConfigID: id, Kind: contactway.Multi, Remark: "r", State: "s", SkipVerify: true,
		Users: []string{"amy", "zoe"}, Departments: []int64{7},
	}
	wantWay(t, s, want)
	other := s.sim.AddWay(corpID, wecomsim.Way{
		Type: wecomsim.SingleUser, Scene: wecomsim.MiniProgram, Users: []string{"amy"}, Extras: &wecomsim.Extras{IsTemp: true},
	})
	wantWay(t, s, contactway.Way{ConfigID: other, Kind: contactway.Single, Users: []string{"amy"}, Button: true, Temporary: true})
	if _, known, err := s.vendor.ContactWay(t.Context(), tenant, "none"); known || err != nil {
		t.Errorf("one that is not there: %v, %v", known, err)
	}
}

func wantWay(t *testing.T, s *simBench, want contactway.Way) {
	t.Helper()
	got, known, err := s.vendor.ContactWay(t.Context(), tenant, want.ConfigID)
	if got.QRCode == "" {
		t.Error("it has no QR code")
	}
	got.QRCode = ""
	if diff := cmp.Diff(want, got); diff != "" || !known || err != nil {
		t.Errorf("way: %v, %v (-want +got):\n%s", known, err, diff)
	}
}

// Reading is behind the breakers: what WeCom's side fails at opens them.
func TestContactWayBehindTheBreakers(t *testing.T) {
	s := newSimBench(t, wecomsim.Options{})
	if _, err := s.sim.AddFault(fault.Rule{API: wecom.OpGet, Action: fault.ErrCode, ErrCode: -1}); err != nil {
		t.Fatal(err)
	}
	var err error
	for range 6 {
		_, _, err = s.vendor.ContactWay(t.Context(), tenant, "any")
	}
	call, ok := errors.AsType[*push.CallError](err)
	if !ok || call.Class != reason.BreakerOpen {
		t.Errorf("the sixth call: %v, want it held back", err)
	}
	if _, _, err := s.vendor.WayIDs(t.Context(), tenant, contactway.Window{}, ""); !errors.As(err, &call) || call.Class != reason.BreakerOpen {
		t.Errorf("a listing: %v, want it held back", err)
	}
}

func TestWayIDsPageByPage(t *testing.T) {
	s := newSimBench(t, wecomsim.Options{})
	made := time.Now().AddDate(-2, 0, 0).Truncate(time.Second)
	want := s.sim.AddWays(corpID, 2*wecom.MaxPageSize+5, func(i int) wecomsim.Way {
		return wecomsim.Way{Users: []string{"amy"}, State: fmt.Sprint(i), CreatedAt: made}
	})
	var got, sizes []string
	for cursor := ""; ; {
		ids, next, err := s.vendor.WayIDs(t.Context(), tenant, contactway.Window{From: made, To: made.Add(time.Millisecond)}, cursor)
		if err != nil {
			t.Fatal(err)
		}
		got, sizes = append(got, ids...), append(sizes, fmt.Sprint(len(ids)))
		if cursor = next; cursor == "" {
			break
		}
	}
	if !slices.Equal(got, want) || !slices.Equal(sizes, []string{"1000", "1000", "5"}) {
		t.Errorf("%d listed in pages of %v", len(got), sizes)
	}
	before := contactway.Window{From: made.Add(-time.Hour), To: made.Add(-time.Second)}
	if ids, next, err := s.vendor.WayIDs(t.Context(), tenant, before, ""); len(ids) != 0 || next != "" || err != nil {
		t.Errorf("of another time: %v, %q, %v", ids, next, err)
	}
}
