package redisbudget

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

// tight is a tenant with two calls at once, one of them in reserve, and one
// more a second from the common bucket.
func tight() Options {
	return Options{
		TenantWindows: []Window{{3 + 2*62, time.Minute}}, TenantBurst: 2, RemovalShare: 0.5,
		ParkAfter: 10 * time.Second,
	}
}

// seconds since the epoch of the test's clock.
func seconds(t time.Time) float64 { return t.Sub(epoch).Seconds() }

func TestLifeOfASlot(t *testing.T) {
	type want struct {
		Granted, Booked bool
		At, Expires     float64 // seconds
	}
	expires := func(charged float64) float64 { return charged + 1.7 } // Delay less WireTime
	tests := map[string]struct {
		at   float64 // when code "x", booked for second 1, is asked for again
		want want
	}{
		"before it: the same slot":               {0.4, want{Booked: true, At: 1}},
		"at it: admitted":                        {1, want{Granted: true, Expires: expires(1)}},
		"within the delay: what is left of it":   {2.4, want{Granted: true, Expires: expires(1)}},
		"with less than MinUse left: anew, free": {2.6, want{Granted: true, Expires: expires(2.6)}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			client, _ := miniClient(t)
			clock := newTestClock()
			b := newBudget(t, client, tight().fixed(clock))
			drain(t, b)
			if a := ask(t, b, "corp", "x", addition); !a.Booked || seconds(a.At) != 1 {
				t.Fatalf("first ask: %+v, want a slot at second 1", a)
			}
			clock.set(epoch.Add(time.Duration(test.at * float64(time.Second))))
			a := ask(t, b, "corp", "x", addition)
			got := want{Granted: a.Granted, Booked: a.Booked}
			if a.Granted {
				got.Expires = seconds(a.Expires)
			} else {
				got.At = seconds(a.At)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("second ask (-want +got):\n%s", diff)
			}
			clock.advance(time.Millisecond)
			if again := ask(t, b, "corp", "x", addition); a.Granted && again.Expires.Equal(a.Expires) {
				t.Error("one slot admitted two calls")
			}
		})
	}
}

// drain takes both buckets' calls: an addition each from the common bucket and
// from the full reserve.
func drain(t *testing.T, b *Budget) {
	t.Helper()
	for _, code := range []string{"drain-1", "drain-2"} {
		if a := ask(t, b, "corp", code, addition); !a.Granted {
			t.Fatalf("%s: %+v, want a grant", code, a)
		}
	}
}

func TestSlotsFollowEachOtherUpToTheHorizon(t *testing.T) {
	client, _ := miniClient(t)
	clock := newTestClock()
	b := newBudget(t, client, tight().fixed(clock))
	drain(t, b)
	for i := 1; i <= 10; i++ {
		a := ask(t, b, "corp", codeName(i), addition)
		if !a.Booked || seconds(a.At) != float64(i) || a.Cause != reason.Throttled {
			t.Fatalf("ask %d: %+v, want a slot at second %d", i, a, i)
		}
	}
	for range 2 {
		a := ask(t, b, "corp", "beyond", addition)
		if a.Booked || a.Granted || seconds(a.At) != 11 {
			t.Fatalf("beyond the horizon: %+v, want nothing booked and second 11", a)
		}
	}
}

func TestGiveBackHandsTheSlotOn(t *testing.T) {
	client, _ := miniClient(t)
	clock := newTestClock()
	b := newBudget(t, client, tight().fixed(clock))
	drain(t, b)
	for i := 1; i <= 3; i++ {
		ask(t, b, "corp", codeName(i), addition)
	}
	for range 2 { // the second finds nothing
		if err := b.GiveBack(t.Context(), push.Ref{Tenant: "corp", Code: codeName(1)}); err != nil {
			t.Fatal(err)
		}
	}
	var got []float64
	for _, code := range []string{"heir", "last"} {
		got = append(got, seconds(ask(t, b, "corp", code, addition).At))
	}
	if diff := cmp.Diff([]float64{1, 4}, got); diff != "" {
		t.Errorf("slots of the next two codes (-want +got):\n%s", diff)
	}
}

// The address refuses for a while: the tenant's slot serves another code, and
// the code finds its place at the address when it comes back.
func TestAddressRefuses(t *testing.T) {
	client, _ := miniClient(t)
	clock := newTestClock()
	o := tight()
	o.TenantBurst = 20
	o.TenantWindows = []Window{{20 + 1 + 62, time.Minute}}
	o.IPWindows = []Window{{3 + 62, time.Minute}}
	o.IPBurst, o.IPReserveShare = 2, 0.5
	b := newBudget(t, client, o.fixed(clock))
	for _, other := range []string{"one", "two"} {
		if a := ask(t, b, other, "x", addition); !a.Granted {
			t.Fatalf("%+v, want a grant", a)
		}
	}
	first := ask(t, b, "corp", "x", addition)
	if !first.Booked || seconds(first.At) != 2 {
		t.Fatalf("%+v, want a slot of the address at second 2", first)
	}
	clock.advance(time.Second)
	if again := ask(t, b, "corp", "x", addition); !again.Booked || seconds(again.At) != 2 {
		t.Fatalf("asked early: %+v, want the same slot", again)
	}
	clock.advance(1500 * time.Millisecond)
	if a := ask(t, b, "corp", "x", addition); !a.Granted || seconds(a.Expires) != 2+1.7 {
		t.Fatalf("half a second after the slot: %+v, want a grant for what is left of it", a)
	}

	for granted(t, b, "greedy", clock.now().String(), 1, addition) > 0 {
	}
	second := ask(t, b, "corp", "y", addition)
	if err := b.GiveBack(t.Context(), push.Ref{Tenant: "corp", Code: "y"}); err != nil {
		t.Fatal(err)
	}
	if heir := ask(t, b, "other", "z", addition); !heir.At.Equal(second.At) {
		t.Errorf("the address's slot at %v was not handed on: %v", seconds(second.At), seconds(heir.At))
	}
}

// A code that comes back from its wait for the address and finds its tenant
// blocked cannot use the address's slot; others can.
func TestAddressesSlotIsFreedWhenTheTenantRefuses(t *testing.T) {
	client, _ := miniClient(t)
	clock := newTestClock()
	o := tight()
	o.IPWindows, o.IPBurst, o.IPReserveShare = []Window{{3 + 62, time.Minute}}, 2, 0.5
	b := newBudget(t, client, o.fixed(clock))
	for granted(t, b, "greedy", "x", 1, addition)+granted(t, b, "greedier", "x", 1, addition) > 0 {
	}
	a := ask(t, b, "corp", "x", addition)
	if !a.Booked {
		t.Fatalf("%+v, want a slot of the address", a)
	}
	throttled(t, b, ErrCodeFrequency)
	if refused := ask(t, b, "corp", "x", addition); refused.Cause != reason.Blocked {
		t.Fatalf("%+v, want a block", refused)
	}
	if heir := ask(t, b, "other", "z", addition); !heir.At.Equal(a.At) {
		t.Errorf("the address's slot at %v was not handed on: %v", seconds(a.At), seconds(heir.At))
	}
}

func TestTenantsAndCodesDoNotShareKeys(t *testing.T) {
	client, server := miniClient(t)
	b := newBudget(t, client, tight().fixed(newTestClock()))
	tenants := []string{"a", "a}:b", "{a", "a:b", "a%7D"}
	for _, tenant := range tenants {
		if a := ask(t, b, tenant, "x", addition); !a.Granted {
			t.Errorf("tenant %q: %+v, want a grant of its own", tenant, a)
		}
	}
	for _, key := range server.Keys() {
		kind, end := hashTag(key)
		if kind != "t:" && kind != "ip:" {
			t.Errorf("key %q has no hash tag of a tenant or an address", key)
		}
		if end >= 0 && !strings.HasPrefix(key[end:], "}:update_contact_way:") {
			t.Errorf("the hash tag of key %q ends within the name", key)
		}
	}
}

// hashTag returns the kind in a key's hash tag and where the tag ends.
func hashTag(key string) (string, int) {
	from := -1
	for i, c := range key {
		switch {
		case c == '{' && from < 0:
			from = i + 1
		case c == '}' && from >= 0:
			for j := from; j < i; j++ {
				if key[j] == ':' {
					return key[from : j+1], i
				}
			}
			return "", i
		}
	}
	return "", -1
}
