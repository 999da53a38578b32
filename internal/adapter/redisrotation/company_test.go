package redisrotation

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/draw"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// Each line is one step on a code: "set" replaces its set by seats
// name:headroom:counted[:today/total], where today are the additions over all
// codes (headroom -1: only the company has a ceiling); "draw" says whom the
// draws give; "wait" lets time pass. It is nine in the morning.
func TestTheCompanysCeilingIsSharedByAllCodes(t *testing.T) {
	tests := map[string]string{
		"draws of all codes count": `
			set A li:-1:0:0/3
			set B li:-1:0:0/3
			draw A li
			draw B li
			draw A li
			draw B -
			draw A -`,
		"others are drawn instead": `
			set A li:-1:0:0/1 wang:-1:0
			set B li:-1:0:0/1
			draw B li
			draw A wang wang wang`,
		"who is passed over is put aside until the next refresh": `
			set A li:-1:0:0/1 wang:-1:0
			set B li:-1:0:0/1
			draw B li
			draw A wang
			set B li:-1:0:0/9
			draw B li
			draw A wang wang
			set A li:-1:0:0/9 wang:-1:0
			draw A li li wang`,
		"or for a second": `
			set A li:-1:0:0/1 wang:-1:0
			set B li:-1:0:0/1
			draw B li
			draw A wang wang
			set B li:-1:0:0/9
			draw B li
			wait 999ms
			draw A wang
			wait 1ms
			draw A wang wang`,
		"and then has his turn again": `
			set A li:-1:0:0/1 wang:-1:0
			set B li:-1:0:0/1
			draw B li
			draw A wang wang
			wait 60s
			draw A li wang`,
		"each comes back in his time": `
			set A li:-1:0:0/1 wang:-1:0:0/2 ann:-1:0
			set B li:-1:0:0/1 wang:-1:0:0/2
			draw B li
			wait 59200ms
			draw B wang
			draw A wang ann
			wait 500ms
			draw A ann
			wait 600ms
			draw A li
			wait 64s
			draw A li wang ann`,
		"who has left does not come back": `
			set A li:-1:0:0/1 ann:-1:0
			set B li:-1:0:0/1
			draw B li
			draw A ann
			set A ann:-1:0
			wait 61s
			draw A ann ann`,
		"who comes back does so once": `
			set A li:1:0:0/2 ann:-1:0
			set B li:-1:0:0/2
			draw B li li
			draw A ann
			wait 60s
			draw A li ann ann`,
		"nobody else is free, for a second": `
			set A li:-1:0:0/1
			set B li:-1:0:0/1
			draw B li
			draw A - -
			wait 60s
			draw A li -`,
		"a refused turn takes no headroom": `
			set A li:2:0:0/1
			set B li:-1:0:0/1
			draw B li
			draw A - -
			set A li:2:0:0/9
			draw A li li -`,
		"a refused turn leaves the others theirs": `
			set A ann:-1:0 li:-1:0:0/1 wang:-1:0
			set B li:-1:0:0/1
			draw B li
			draw A ann wang ann wang`,
		"a member without a total is asked nothing": `
			set A li:-1:0
			set B li:-1:0:0/1
			draw A li li li
			draw B li -`,
		"what is counted is not outstanding any more": `
			set A li:-1:0:0/3
			draw A li li
			set A li:-1:2:2/3
			draw A li -`,
		"a code whose facts are older knows from the others": `
			set A li:-1:0:0/4
			set B li:-1:0:0/4
			draw A li li
			set A li:-1:2:2/4
			draw A li
			draw B li -`,
		"additions that nobody drew take their place and free none": `
			set A li:-1:0:0/9
			draw A li li li
			set A li:-1:0:5/9
			draw A li -`,
		"a set that is written tells what nobody drew": `
			set A li:-1:0:0/9
			set B li:-1:0:0/9
			draw A li
			set A li:-1:0:7/9
			draw B li -`,
		"also when all that was drawn is counted": `
			set A li:-1:0:0/9
			set B li:-1:0:0/9
			draw A li
			set A li:-1:1:1/9
			set A li:-1:1:8/9
			draw B li -`,
		"draws that are counted when they were nearly forgotten": `
			set A li:-1:0:0/5
			set B li:-1:0:0/5
			draw A li li li li
			wait 61s
			set A li:-1:4:4/5
			draw B li -`,
		"more customers than were drawn free no more than was drawn": `
			set A li:-1:0:0/5
			draw A li
			set A li:-1:3:3/5
			draw A li li -`,
		"additions of one code free none of another": `
			set A li:-1:0:0/9
			set B li:-1:0:0/9
			draw A li li li
			set B li:-1:5:5/9
			draw B li -`,
		"counted draws are not forgotten with those that never became customers": `
			set A li:-1:0:0/5
			set B li:-1:0:0/5
			draw B li li li li
			set B li:-1:4:4/5
			wait 61s
			draw A li -`,
		"scans that never became customers are forgotten": `
			set A li:-1:0:0/1
			set B li:-1:0:0/1
			draw A li
			wait 59s
			draw B -
			set B li:-1:0:0/1
			wait 1s
			draw B li`,
		"forgotten code by code": `
			set A li:-1:0:0/3
			set B li:-1:0:0/3
			draw A li
			wait 30s
			draw B li li
			wait 30s
			set A li:-1:0:0/3
			draw A li -`,
		"a count that went back frees nothing": `
			set A li:-1:2:2/3
			draw A li
			set A li:-1:1:1/3
			draw A -`,
		"midnight begins a new count": `
			set A li:-1:3:3/3
			set B li:-1:0:0/3
			draw A -
			draw B -
			set B li:-1:0:0/3
			wait 14h59m59s
			draw B -
			set B li:-1:0:0/3
			wait 1s
			draw B li li li -`,
		"yesterday's count says nothing today": `
			set A li:-1:3:3/3
			wait 15h
			draw A li
			set B li:-1:0:1/3
			draw B li
			draw A -`,
		"draws of before midnight are still to be counted": `
			set A li:-1:0:0/2
			wait 14h59m30s
			draw A li
			wait 30s
			draw A li -`,
		"counted before midnight, found after it": `
			set A li:-1:0:0/2
			wait 14h59m30s
			draw A li li
			wait 30s
			set A li:-1:2:0/2
			draw A li li -`,
		"a lower total holds at once, code by code": `
			set A li:-1:0:0/9
			set B li:-1:0:0/9
			draw A li li li
			set B li:-1:0:0/3
			draw B -
			draw A li`,
	}
	for name, script := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFirm(t)
			for line := range strings.Lines(script) {
				if fields := strings.Fields(line); len(fields) > 0 {
					f.step(fields[0], fields[1:])
				}
			}
		})
	}
}

// A request that is repeated takes one of the company's total, whether or not
// the first attempt lived to take it.
func TestARepeatTakesOneOfTheTotal(t *testing.T) {
	f := newFirm(t)
	f.step("set", []string{"A", "li:-1:0:0/2", "wang:-1:0"})
	f.ref = f.code("A")
	if got := f.takes("k1", "k1", "k1"); got != "li li* li*" {
		t.Errorf("draws: %s", got)
	}
	if got := f.takes("k2"); got != "wang" {
		t.Errorf("wang's turn: %s", got)
	}
	if got, err := f.rotation.next(t.Context(), f.rotation.keysOf(f.ref), "k3"); got.turn.Staff != "li" || err != nil {
		t.Errorf("an attempt that dies before it has asked the ledger: %+v, %v", got, err)
	}
	if got := f.takes("k3", "k3", "k1"); got != "li* li* li*" {
		t.Errorf("its repeats: %s", got)
	}
	f.step("draw", []string{"A", "wang", "wang"})
}

// A draw asks the ledger after a Replace that it did not see has told it more:
// what is counted already must not free another draw.
func TestADrawThatReachesTheLedgerLate(t *testing.T) {
	f := newFirm(t)
	f.step("set", []string{"A", "li:-1:0:0/4"})
	f.step("draw", []string{"A", "li", "li"})
	late, err := f.rotation.next(t.Context(), f.rotation.keysOf(f.code("A")), "")
	if err != nil {
		t.Fatal(err)
	}
	f.step("set", []string{"A", "li:-1:2:2/4"})
	if granted, err := f.rotation.take(t.Context(), f.code("A"), late.seat, ""); !granted || err != nil {
		t.Fatalf("the third of four: %v, %v", granted, err)
	}
	f.step("draw", []string{"A", "li", "-"})
}

// What the company counts through a code that nobody draws from ends the draws
// of the others at once, before their sets are written again.
func TestWhatIsCountedElsewhereIsTold(t *testing.T) {
	f := newFirm(t)
	f.step("set", []string{"A", "li:-1:0:0/3", "wang:-1:0"})
	f.step("draw", []string{"A", "li"})
	until := f.now.Add(12 * time.Hour).Unix()
	counted := roster.Seat{Staff: "li", Counted: 2, Company: roster.CompanyDay{Total: 3, Counted: 2, Until: until}}
	if err := f.rotation.Tell(t.Context(), f.code("N"), counted); err != nil {
		t.Fatal(err)
	}
	f.step("draw", []string{"A", "wang", "wang"}) // li: two counted, one drawn
	if err := f.rotation.Tell(t.Context(), f.code("N"), roster.Seat{Staff: "wang"}); err != nil {
		t.Errorf("a company without a total: %v", err)
	}
}

func TestLedgersBelongToTheirTenantAndAreForgotten(t *testing.T) {
	f := newFirm(t)
	f.step("set", []string{"A", "li:-1:0:0/1"})
	f.step("draw", []string{"A", "li"})
	other := f.code("A")
	other.Tenant = "globex"
	set := push.Set{Seats: []roster.Seat{{Staff: "li", Headroom: -1, Company: roster.CompanyDay{Total: 1}}}}
	if _, _, err := f.rotation.Replace(t.Context(), other, 0, set); err != nil {
		t.Fatal(err)
	}
	if turn, err := f.rotation.Draw(t.Context(), other, ""); turn.Staff != "li" || err != nil {
		t.Errorf("another company's member of the same name: %+v, %v", turn, err)
	}
	f.server.FastForward(48 * time.Hour)
	if l := f.rotation.ledgerOf("corp", "li"); f.server.Exists(l.key) {
		t.Errorf("%s is still there", l.key)
	}
}

func TestALedgerThatCannotBeAskedGivesNobody(t *testing.T) {
	f := newFirm(t)
	f.step("set", []string{"A", "li:-1:0:0/9"})
	f.step("draw", []string{"A", "li"})
	l := f.rotation.ledgerOf("corp", "li")
	f.server.Del(l.key)
	if err := f.server.Set(l.key, "not a ledger"); err != nil {
		t.Fatal(err)
	}
	_, err := f.rotation.Draw(t.Context(), f.code("A"), "")
	if err == nil || errors.Is(err, draw.ErrExhausted) || !strings.Contains(err.Error(), "A") {
		t.Errorf("Draw: %v, want an error that names the code", err)
	}
	set := push.Set{Seats: []roster.Seat{{Staff: "li", Headroom: -1, Counted: 1, Company: roster.CompanyDay{Total: 9}}}}
	if _, _, err := f.rotation.Replace(t.Context(), f.code("A"), f.versions["A"], set); err == nil {
		t.Errorf("Replace: no error")
	}
}

// firm is a company with several codes.
type firm struct {
	*harness
	versions map[string]int64
}

func newFirm(t *testing.T) *firm {
	t.Helper()
	return &firm{harness: newHarness(t), versions: map[string]int64{}}
}

func (f *firm) code(id string) push.Ref { return push.Ref{Tenant: "corp", Code: id} }

func (f *firm) step(verb string, args []string) {
	f.t.Helper()
	if verb == "wait" {
		f.harness.step(verb, args)
		return
	}
	f.ref = f.code(args[0])
	switch verb {
	case "set":
		f.versions[args[0]] = f.replace(f.versions[args[0]], push.Set{Seats: f.seats(args[1:])}, true)
	case "draw":
		f.harness.step(verb, args[1:])
	default:
		f.t.Fatalf("unknown step %q", verb)
	}
}

// seats reads name:headroom:counted[:today/total].
func (f *firm) seats(args []string) []roster.Seat {
	f.t.Helper()
	var out []roster.Seat
	for _, arg := range args {
		var s roster.Seat
		name, rest, _ := strings.Cut(arg, ":")
		s.Staff = name
		_, err := fmt.Sscanf(rest, "%d:%d:%d/%d", &s.Headroom, &s.Counted, &s.Company.Counted, &s.Company.Total)
		if err != nil && strings.Count(rest, ":") != 1 {
			f.t.Fatalf("seat %q: %v", arg, err)
		}
		if s.Company.Counted != 0 {
			s.Company.Until = f.now.Truncate(24 * time.Hour).Add(24 * time.Hour).Unix()
		}
		out = append(out, s)
	}
	return out
}
