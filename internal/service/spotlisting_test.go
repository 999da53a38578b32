package service

import (
	"errors"
	"iter"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/backstop/spot"
)

func TestTalliesAddUpATenantsDays(t *testing.T) {
	days := func(last error) iter.Seq2[spot.TenantDay, error] {
		return func(yield func(spot.TenantDay, error) bool) {
			_ = yield(spot.TenantDay{Tenant: "acme", Day: "20261129", Tally: spot.Tally{Checked: 5, Differ: 1}}, nil) &&
				yield(spot.TenantDay{Tenant: "beta", Day: "20261130", Tally: spot.Tally{Skipped: 2}}, nil) &&
				yield(spot.TenantDay{Tenant: "acme", Day: "20261130", Tally: spot.Tally{Checked: 3, Unsettled: 4}}, last)
		}
	}
	got, err := tallied(days(nil))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]spot.Tally{"acme": {Checked: 8, Differ: 1, Unsettled: 4}, "beta": {Skipped: 2}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	broken := errors.New("connection reset")
	if _, err := tallied(days(broken)); !errors.Is(err, broken) {
		t.Errorf("tallied() = %v; want the cause", err)
	}
}
