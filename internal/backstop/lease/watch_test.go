package lease_test

import (
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/backstop/lease"
)

// look is one read of the lease by a candidate whose TTL is 6 s, and what it
// may conclude.
type look struct {
	at   time.Duration // when it was asked; the answer takes 100 ms
	seen lease.State
	want lease.Opening
}

func TestWhenACandidateMayTakeTheLease(t *testing.T) {
	held := lease.State{Token: 3, Renewals: 7, Holder: "a", TTL: 6 * time.Second}
	renewed := held
	renewed.Renewals++
	taken := lease.State{Token: 4, Holder: "b", TTL: 6 * time.Second}
	released := lease.State{Token: 3, Renewals: 7}
	alike := held
	alike.Token++
	patient, hasty := held, held
	patient.TTL, hasty.TTL = 10*time.Second, time.Second

	for name, looks := range map[string][]look{
		"nobody has ever held it":      {{0, lease.State{}, lease.Released}},
		"its holder gave it up":        {{0, held, lease.Held}, {time.Second, released, lease.Released}},
		"it was just looked at first":  {{time.Hour, held, lease.Held}},
		"one TTL since the first look": {{0, held, lease.Held}, {6 * time.Second, held, lease.Held}, {6100 * time.Millisecond, held, lease.Expired}},
		"it was renewed meanwhile": {
			{0, held, lease.Held},
			{5 * time.Second, renewed, lease.Held},
			{11 * time.Second, renewed, lease.Held},
			{11100 * time.Millisecond, renewed, lease.Expired},
		},
		"somebody else was faster": {
			{0, held, lease.Held}, {7 * time.Second, taken, lease.Held}, {13 * time.Second, taken, lease.Held}, {14 * time.Second, taken, lease.Expired},
		},
		"somebody else was faster and renewed as often": {
			{0, held, lease.Held}, {7 * time.Second, alike, lease.Held}, {13 * time.Second, alike, lease.Held}, {14 * time.Second, alike, lease.Expired},
		},
		"its holder is more hasty":   {{0, hasty, lease.Held}, {6 * time.Second, hasty, lease.Held}, {6100 * time.Millisecond, hasty, lease.Expired}},
		"its holder is more patient": {{0, patient, lease.Held}, {10 * time.Second, patient, lease.Held}, {10100 * time.Millisecond, patient, lease.Expired}},
	} {
		t.Run(name, func(t *testing.T) {
			watch := lease.NewWatch(6 * time.Second)
			for i, l := range looks {
				asked := start.Add(l.at)
				if got := watch.Observe(l.seen, asked, asked.Add(100*time.Millisecond)); got != l.want {
					t.Errorf("look %d after %v: %s, want %s", i+1, l.at, got, l.want)
				}
			}
		})
	}
}

var start = time.Date(2026, 11, 30, 2, 0, 0, 0, time.UTC)

// The holder has to have stopped by the earliest instant at which a candidate
// may take over: one that saw the last renewal as soon as it could have been
// written.
func TestTheHolderStopsBeforeAnybodyElseBegins(t *testing.T) {
	terms := lease.Terms{TTL: 6 * time.Second, RenewEvery: 2 * time.Second, PollEvery: 500 * time.Millisecond}
	tenure := lease.NewTenure(1, terms, start)
	for _, asked := range []time.Time{start, start.Add(2 * time.Second), start.Add(5 * time.Second)} {
		tenure.Renewed(asked)
		if got, want := tenure.RenewAt(), asked.Add(2*time.Second); !got.Equal(want) {
			t.Errorf("renews at %v, want %v", got, want)
		}
		watch := lease.NewWatch(terms.TTL)
		seen := lease.State{Token: 1, Renewals: 1, Holder: "a", TTL: terms.TTL}
		watch.Observe(seen, asked, asked) // written and read in no time
		spare := 2 * time.Second
		if got := watch.Observe(seen, tenure.Ends().Add(spare-1), tenure.Ends().Add(spare)); got != lease.Held {
			t.Errorf("a candidate may begin less than %v after the holder has to stop", spare)
		}
		if got := watch.Observe(seen, tenure.Ends().Add(spare), tenure.Ends().Add(spare)); got != lease.Expired {
			t.Errorf("a candidate waits longer than the TTL: %s", got)
		}
	}
}
