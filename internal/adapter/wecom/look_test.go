package wecom_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/adapter/wecom"
	"github.com/rollcall-dev/rollcall/internal/backstop/spot"
	"github.com/rollcall-dev/rollcall/internal/wecomsim"
)

func TestALookShowsWhatWeComHolds(t *testing.T) {
	s := newSimBench(t, wecomsim.Options{})
	ctx := t.Context()
	added, err := s.client.AddContactWay(ctx, tenant, wecom.AddContactWayRequest{
		Type: wecom.Multi, Scene: wecom.QRCode, Remark: "desk", State: "s1", SkipVerify: true,
		User: []string{"bob", "amy"}, Party: []int64{1},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := spot.Way{Users: []string{"amy", "bob"}, Departments: []int64{1}, Remark: "desk", State: "s1", SkipVerify: true}
	wantLook(t, s, added.ConfigID, want, true)

	call := pushCall(time.Now().Add(time.Minute))
	call.ConfigID, call.Members = added.ConfigID, []string{"amy"}
	if err := s.vendor.Update(ctx, call); err != nil {
		t.Fatal(err)
	}
	wantLook(t, s, added.ConfigID, spot.Way{Users: []string{"amy"}, Remark: "r", State: "s", SkipVerify: true}, true)

	if err := s.client.DelContactWay(ctx, tenant, added.ConfigID); err != nil {
		t.Fatal(err)
	}
	wantLook(t, s, added.ConfigID, spot.Way{}, false)
}

func wantLook(t *testing.T, s *simBench, configID string, want spot.Way, known bool) {
	t.Helper()
	got, there, err := s.vendor.Way(t.Context(), tenant, configID)
	if err != nil || there != known {
		t.Errorf("Way = %v, %v; want %v", there, err, known)
	}
	if len(got.Departments) == 0 {
		got.Departments = nil
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("way (-want +got):\n%s", diff)
	}
}
