package plan

import (
	"testing"
	"time"
)

func TestTheReserveIsForRemovals(t *testing.T) {
	till := newTill(Budget{
		Tenant: []Window{{Calls: 1000, Per: time.Minute}}, TenantBurst: 100,
		Address: []Window{{Calls: 10_000, Per: time.Minute}}, AddressBurst: 1000,
		Delay: time.Second, RemovalShare: 0.2,
	}, Refreshing{InFlight: 1000, PushTime: time.Second})
	count := func(pay func() answer) (n int) {
		for pay() == paid {
			n++
		}
		return n
	}
	if others := count(till.other); others != 80+11 {
		t.Errorf("%d calls that remove nobody; want the common 80 and the upper half of the reserve", others)
	}
	if removals := count(till.removal); removals != 9 {
		t.Errorf("%d calls that remove somebody; want what is left of the reserve", removals)
	}
	till.fill(2 * time.Second)
	if more := count(till.removal); more < 28 || more > 30 {
		t.Errorf("%d calls after two seconds at 14.8 a second", more)
	}
}

func TestTheAddressAndThePlacesInFlightAreInTheWayToo(t *testing.T) {
	budget := Budget{
		Tenant: []Window{{Calls: 1000, Per: time.Minute}}, TenantBurst: 100,
		Address: []Window{{Calls: 1000, Per: time.Minute}}, AddressBurst: 7, Delay: time.Second, RemovalShare: 0.2,
	}
	for name, tc := range map[string]struct {
		inFlight, calls int
		want            answer
	}{"the address": {1000, 7, throttle}, "flight": {3, 3, crowded}} {
		till := newTill(budget, Refreshing{InFlight: tc.inFlight, PushTime: time.Second})
		for range tc.calls {
			if got := till.removal(); got != paid {
				t.Fatalf("%s: %v too early", name, got)
			}
		}
		if got := till.removal(); got != tc.want {
			t.Errorf("%s: %v; want %v", name, got, tc.want)
		}
	}
}
