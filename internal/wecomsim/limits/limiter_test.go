package limits

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var epoch = time.Unix(1_700_000_000, 0) // 20 s into a minute

func TestWindows(t *testing.T) {
	minute := Window{Calls: 3, Length: time.Minute, Block: 60 * time.Second}
	hour := Window{Calls: 5, Length: time.Hour, Block: 60 * time.Minute}
	for name, tc := range map[string]struct {
		config Config
		at     string // seconds of the calls
		want   string // + admitted, - refused
	}{
		"no windows":                              {Config{}, "0 0 0 0 0 0 0 0", "++++++++"},
		"sliding: full, then blocked for 60 s":    {Config{Corp: []Window{minute}}, "0 1 2 3 62 63", "+++--+"},
		"sliding: a call falls out after Length":  {Config{Corp: []Window{minute}}, "0 1 59 60", "++++"},
		"sliding: not a moment earlier":           {Config{Corp: []Window{minute}}, "0 1 2 59.999", "+++-"},
		"sliding: block outlives the window":      {Config{Corp: []Window{minute}}, "0 1 2 50 100 110", "+++--+"},
		"fixed: a new window is empty":            {Config{Kind: Fixed, Corp: []Window{minute}}, "38 39 39.9 40 41 42 43", "++++++-"},
		"fixed: breach blocks beyond the window":  {Config{Kind: Fixed, Corp: []Window{minute}}, "36 37 38 39 41 98 99", "+++---+"},
		"hour: minute calm, hour full":            {Config{Corp: []Window{minute, hour}}, "0 60 120 180 240 300 3899 3900", "+++++--+"},
		"hour breach wins over minute breach":     {Config{Corp: []Window{minute, hour}}, "0 60 120 121 122 123 200 3722 3723", "+++++---+"},
		"ip refuses as the corp does":             {Config{IP: []Window{minute}}, "0 1 2 3 63", "+++-+"},
		"corp admits what the ip refuses":         {Config{Corp: []Window{hour}, IP: []Window{minute}}, "0 1 2 3 63 64 65", "+++-++-"},
		"time that goes back does not widen":      {Config{Corp: []Window{minute}}, "10 10 0 0 69 70", "+++--+"},
		"a zero block ends with the window":       {Config{Corp: []Window{{Calls: 1, Length: time.Second}}}, "0 0.5 1 1.5 2", "+-+-+"},
		"a sparse caller is never refused":        {Config{Corp: []Window{minute, hour}}, "0 720 1440 2160 2880 3600 4320 5040", "++++++++"},
		"fixed: the hour counts across minutes":   {Config{Kind: Fixed, Corp: []Window{minute, hour}}, "0 60 120 180 240 300", "+++++-"},
		"sliding: refused calls are not counted":  {Config{Corp: []Window{{Calls: 1, Length: 10 * time.Second}}}, "0 5 9 10", "+--+"},
		"both scopes full: refused once, not two": {Config{Corp: []Window{minute}, IP: []Window{minute}}, "0 1 2 3 63", "+++-+"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLimiter(t, tc.config)
			var got strings.Builder
			for _, s := range strings.Fields(tc.at) {
				_, ok := l.Admit(after(t, s), Call{"corp", "ip", "api"})
				got.WriteByte(map[bool]byte{true: '+', false: '-'}[ok])
			}
			if diff := cmp.Diff(tc.want, got.String()); diff != "" {
				t.Errorf("calls at %s (-want +got):\n%s", tc.at, diff)
			}
		})
	}
}

func TestOwnersAndAPIsAreCountedApart(t *testing.T) {
	l := newLimiter(t, Config{Corp: []Window{{1, time.Minute, time.Minute}}, IP: []Window{{2, time.Minute, time.Minute}}})
	for i, step := range []struct {
		call Call
		want Scope // "" is admitted
	}{
		{Call{"c1", "i1", "update"}, ""},
		{Call{"c1", "i2", "update"}, Corp},
		{Call{"c1", "i1", "get"}, ""},
		{Call{"c2", "i1", "update"}, ""},
		{Call{"c3", "i1", "update"}, IP},
		{Call{"c3", "i2", "update"}, ""},
		{Call{"", "i3", "update"}, ""},
		{Call{"", "i3", "update"}, ""},
		{Call{"", "i3", "update"}, IP},
		{Call{"", "", "update"}, ""},
	} {
		b, ok := l.Admit(epoch, step.call)
		if ok != (step.want == "") || b.Scope != step.want {
			t.Errorf("step %d %+v: scope %q, admitted %v; want %q", i, step.call, b.Scope, ok, step.want)
		}
	}
}

func TestBreachNamesWindowAndEnd(t *testing.T) {
	minute, hour := Window{1, time.Minute, 60 * time.Second}, Window{1, time.Hour, time.Hour}
	l := newLimiter(t, Config{Corp: []Window{minute, hour}})
	l.Admit(epoch, Call{"c", "i", "a"})
	for range 2 { // the breach and a call during the block
		got, _ := l.Admit(epoch.Add(time.Second), Call{"c", "i", "a"})
		want := Breach{Scope: Corp, Window: hour, Until: epoch.Add(time.Hour + time.Second)}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("breach (-want +got):\n%s", diff)
		}
	}
}

func TestForgetAndConfigureLiftBlocks(t *testing.T) {
	one := Config{Corp: []Window{{1, time.Minute, time.Hour}}}
	l := newLimiter(t, one)
	call := Call{"c", "i", "a"}
	for name, lift := range map[string]func(){
		"Forget":    l.Forget,
		"Configure": func() { _ = l.Configure(one) },
	} {
		l.Admit(epoch, call)
		if _, ok := l.Admit(epoch, call); ok {
			t.Fatalf("%s: not blocked before", name)
		}
		lift()
		if _, ok := l.Admit(epoch, call); !ok {
			t.Errorf("%s: still blocked", name)
		}
	}
}

func TestConfigureRefuses(t *testing.T) {
	good := Documented()
	l := newLimiter(t, good)
	for name, bad := range map[string]Config{
		"unknown kind":         {Kind: "tumbling"},
		"no calls":             {Corp: []Window{{0, time.Minute, 0}}},
		"no length":            {IP: []Window{{1, 0, 0}}},
		"negative block":       {IP: []Window{{1, time.Minute, -1}}},
		"negative concurrency": {Concurrency: -1},
	} {
		if err := l.Configure(bad); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if diff := cmp.Diff(good, l.Config()); diff != "" {
		t.Errorf("a refused configuration left traces (-want +got):\n%s", diff)
	}
}

func TestDocumentedLimits(t *testing.T) {
	show := func(c Config) (out []string) {
		for _, w := range append(append([]Window{}, c.Corp...), c.IP...) {
			out = append(out, fmt.Sprintf("%d/%v block %v", w.Calls, w.Length, w.Block))
		}
		return out
	}
	corp := []string{"10000/1m0s block 1m0s", "150000/1h0m0s block 1h0m0s"}
	if diff := cmp.Diff(append(corp, "20000/1m0s block 1m0s", "600000/1h0m0s block 1h0m0s"), show(Documented())); diff != "" {
		t.Errorf("own app (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(append(corp, "40000/1m0s block 1m0s", "1200000/1h0m0s block 1h0m0s"), show(Provider())); diff != "" {
		t.Errorf("provider (-want +got):\n%s", diff)
	}
}

// The meter's running counts against a count over the plain list of admitted
// calls, for random calls and both kinds.
func TestMeterAgreesWithAPlainCount(t *testing.T) {
	for _, kind := range []Kind{Sliding, Fixed} {
		for seed := range uint64(200) {
			rng := rand.New(rand.NewPCG(seed, 1))
			windows := []Window{
				{Calls: 1 + rng.IntN(4), Length: time.Duration(1+rng.IntN(5)) * time.Second},
				{Calls: 1 + rng.IntN(9), Length: time.Duration(5+rng.IntN(20)) * time.Second},
			}
			l := newLimiter(t, Config{Kind: kind, Corp: windows})
			now, admitted := epoch, []time.Time(nil)
			for range 200 {
				now = now.Add(time.Duration(rng.IntN(1500)) * time.Millisecond)
				want := room(kind, windows, admitted, now)
				if _, got := l.Admit(now, Call{Corp: "c", API: "a"}); got != want {
					t.Fatalf("%s seed %d at %v: admitted %v, want %v", kind, seed, now.Sub(epoch), got, want)
				}
				if want {
					admitted = append(admitted, now)
				}
			}
		}
	}
}

func TestAdmitCountsExactlyUnderConcurrency(t *testing.T) {
	l := newLimiter(t, Config{Corp: []Window{{500, time.Minute, time.Minute}}, IP: []Window{{700, time.Minute, time.Minute}}})
	var admitted atomic.Int64
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 200 {
				if _, ok := l.Admit(epoch, Call{fmt.Sprint("c", i%2), "ip", "a"}); ok {
					admitted.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if got := admitted.Load(); got != 700 {
		t.Errorf("%d calls admitted, want 700", got)
	}
}

func TestInFlight(t *testing.T) {
	var f InFlight[string]
	leave1, ok1 := f.Enter("a", 2)
	_, ok2 := f.Enter("a", 2)
	_, ok3 := f.Enter("a", 2)
	_, other := f.Enter("b", 1)
	_, unlimited := f.Enter("a", 0)
	if diff := cmp.Diff([]bool{true, true, false, true, true}, []bool{ok1, ok2, ok3, other, unlimited}); diff != "" {
		t.Errorf("entered (-want +got):\n%s", diff)
	}
	leave1()
	if _, ok := f.Enter("a", 3); !ok {
		t.Error("a place that was left is not free")
	}
	if _, ok := f.Enter("a", 3); ok {
		t.Error("more places than allowed")
	}
}

func TestInFlightForgetsIdleKeys(t *testing.T) {
	var f InFlight[int]
	for key := range 100 {
		leave, _ := f.Enter(key, 1)
		leave()
	}
	if len(f.n) != 0 {
		t.Errorf("%d keys remembered, want none", len(f.n))
	}
}

func BenchmarkAdmit(b *testing.B) {
	l := newLimiter(b, Documented())
	now := epoch
	for b.Loop() {
		now = now.Add(25 * time.Millisecond)
		l.Admit(now, Call{"c", "i", "a"})
	}
}

// room is the definition: fewer than Calls admitted calls in every window that
// ends at now.
func room(kind Kind, windows []Window, admitted []time.Time, now time.Time) bool {
	for _, w := range windows {
		n := 0
		for _, at := range admitted {
			same := at.UnixNano()/int64(w.Length) == now.UnixNano()/int64(w.Length)
			if kind == Fixed && same || kind == Sliding && at.After(now.Add(-w.Length)) {
				n++
			}
		}
		if n >= w.Calls {
			return false
		}
	}
	return true
}

func newLimiter(tb testing.TB, config Config) *Limiter {
	tb.Helper()
	l, err := New(config)
	if err != nil {
		tb.Fatalf("New: %v", err)
	}
	return l
}

func after(tb testing.TB, seconds string) time.Time {
	tb.Helper()
	d, err := time.ParseDuration(seconds + "s")
	if err != nil {
		tb.Fatal(err)
	}
	return epoch.Add(d)
}
