package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/fanout"
)

func TestASwitchTellsHowFarItsCodesAre(t *testing.T) {
	var out strings.Builder
	tell := progressTo(&out)
	for _, job := range []fanout.Job{
		{State: fanout.Pending},
		{State: fanout.Pending, Total: 500},
		{State: fanout.InProgress, Total: 1200, Released: 100},
		{State: fanout.InProgress, Total: 1200, Released: 100},
		{State: fanout.Done, Total: 1200, Released: 1200},
	} {
		tell(job)
	}
	want := "codes given to the refreshers: 100 of 1200\ncodes given to the refreshers: 1200 of 1200\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCodesThatDoNotFollowAreNamed(t *testing.T) {
	if got := exceptions(nil, 0); got != "" {
		t.Errorf("%q; want nothing", got)
	}
	got := exceptions([]string{"a", "b"}, 12)
	for _, want := range []string{"Except for 12 codes", "a, b, …", `{"mode":"auto"}`} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %q", want, got)
		}
	}
}
