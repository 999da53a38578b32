package redisbudget

import (
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/reason"
)

func throttled(t *testing.T, b *Budget, errcode int) float64 {
	t.Helper()
	until, err := b.Throttled(t.Context(), "corp", errcode)
	if err != nil {
		t.Fatal(err)
	}
	return seconds(until)
}

func TestABlockHoldsForAllInstancesAndIsLongerOnRepetition(t *testing.T) {
	client, _ := miniClient(t)
	clock := newTestClock()
	one, two := newBudget(t, client, tight().fixed(clock)), newBudget(t, client, tight().fixed(clock))
	steps := []struct {
		what string
		at   float64
		want float64
	}{
		{"the first answer", 0, 60},
		{"a call that was under way", 3, 60},
		{"soon after the end", 70, 70 + 3600},
		{"long after the end", 70 + 3600 + 301, 70 + 3600 + 301 + 60},
	}
	for i, s := range steps {
		clock.set(epoch.Add(time.Duration(s.at * float64(time.Second))))
		b := one
		if i%2 == 1 {
			b = two
		}
		if got := throttled(t, b, ErrCodeFrequency); got != s.want {
			t.Errorf("%s: blocked until second %v, want %v", s.what, got, s.want)
		}
		a := ask(t, two, "corp", "x", removal)
		if a.Granted || a.Cause != reason.Blocked {
			t.Errorf("%s: another instance got %+v, want a block", s.what, a)
		}
		if a := ask(t, two, "another", codeName(i), addition); !a.Granted {
			t.Errorf("%s: another tenant got %+v, want a grant", s.what, a)
		}
	}
}

func TestTheEndOfABlockIsNoStampede(t *testing.T) {
	client, _ := miniClient(t)
	clock := newTestClock()
	o := tight()
	o.TenantBurst, o.TenantWindows = 20, []Window{{20 + 1 + 2*62, time.Minute}}
	b := newBudget(t, client, o.fixed(clock))
	throttled(t, b, ErrCodeFrequency)
	if a := ask(t, b, "corp", "early", addition); a.Booked || seconds(a.At) != 60 || a.Cause != reason.Blocked {
		t.Fatalf("%+v, want no slot so far ahead, and second 60", a)
	}
	clock.set(epoch.Add(55 * time.Second))
	for i := range 5 {
		a := ask(t, b, "corp", codeName(i), addition)
		if want := float64(60 + i); !a.Booked || seconds(a.At) != want || a.Cause != reason.Blocked {
			t.Errorf("ask %d: %+v at second %v, want a slot at %v", i, a, seconds(a.At), want)
		}
	}
	clock.set(epoch.Add(60 * time.Second))
	if a := ask(t, b, "corp", codeName(0), addition); !a.Granted {
		t.Errorf("at the end of the block: %+v, want a grant by the slot", a)
	}
	if a := ask(t, b, "corp", "fresh", addition); a.Granted {
		t.Error("a fresh code went at the end of the block, past those that wait")
	}
}

// Nobody asks while the block lasts; the bucket is empty at its end all the same.
func TestABlockEmptiesTheBuckets(t *testing.T) {
	client, _ := miniClient(t)
	clock := newTestClock()
	o := tight()
	o.TenantBurst, o.TenantWindows = 20, []Window{{20 + 1 + 2*62, time.Minute}}
	b := newBudget(t, client, o.fixed(clock))
	throttled(t, b, ErrCodeFrequency)
	clock.set(epoch.Add(60 * time.Second))
	if got := granted(t, b, "corp", "x", 5, addition); got != 1 {
		t.Errorf("%d of 5 calls went at the end of the block, want 1", got)
	}
}

func TestABlockVoidsTheSlotsBeforeItsEnd(t *testing.T) {
	client, _ := miniClient(t)
	clock := newTestClock()
	o := tight()
	o.ParkAfter = 2 * time.Minute
	b := newBudget(t, client, o.fixed(clock))
	drain(t, b)
	if a := ask(t, b, "corp", "x", addition); seconds(a.At) != 1 {
		t.Fatalf("%+v, want second 1", a)
	}
	throttled(t, b, ErrCodeFrequency)
	clock.set(epoch.Add(time.Second))
	a := ask(t, b, "corp", "x", addition)
	if a.Granted || !a.Booked || seconds(a.At) != 60 || a.Cause != reason.Blocked {
		t.Errorf("%+v at second %v, want a slot at second 60", a, seconds(a.At))
	}
}

func TestTooManyInFlightIsAShortWaitForNobodyElse(t *testing.T) {
	client, _ := miniClient(t)
	b := newBudget(t, client, tight().fixed(newTestClock()))
	if got := throttled(t, b, 45033); got != 1 {
		t.Errorf("wait until second %v, want 1", got)
	}
	if a := ask(t, b, "corp", "x", addition); !a.Granted {
		t.Errorf("%+v, want a grant", a)
	}
}
