package fault

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestRuleHitsItsOwn(t *testing.T) {
	call := Call{API: "update_contact_way", Corp: "c1", ConfigID: "w1", Members: []string{"u1", "u2"}}
	for name, tc := range map[string]struct {
		rule Rule
		want bool
	}{
		"everybody":      {Rule{}, true},
		"its API":        {Rule{API: "update_contact_way"}, true},
		"another API":    {Rule{API: "get_contact_way"}, false},
		"its corp":       {Rule{Corp: "c1"}, true},
		"another corp":   {Rule{Corp: "c2"}, false},
		"its way":        {Rule{ConfigID: "w1"}, true},
		"another way":    {Rule{ConfigID: "w2"}, false},
		"its member":     {Rule{Member: "u2"}, true},
		"another member": {Rule{Member: "u3"}, false},
		"all but one":    {Rule{API: "update_contact_way", Corp: "c1", ConfigID: "w1", Member: "u9"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			tc.rule.Action = Reset
			s := script(t, tc.rule)
			if _, got := s.Match(call); got != tc.want {
				t.Errorf("hit %v, want %v", got, tc.want)
			}
		})
	}
}

func TestSkipAndCount(t *testing.T) {
	for name, tc := range map[string]struct {
		rule Rule
		want string
	}{
		"no end":         {Rule{}, "xxxxxx"},
		"twice":          {Rule{Count: 2}, "xx...."},
		"from the third": {Rule{Skip: 2}, "..xxxx"},
		"only the third": {Rule{Skip: 2, Count: 1}, "..x..."},
	} {
		t.Run(name, func(t *testing.T) {
			tc.rule.Action = Timeout
			if got := pattern(script(t, tc.rule), 6); got != tc.want {
				t.Errorf("hits %s, want %s", got, tc.want)
			}
		})
	}
}

func TestFirstRuleWins(t *testing.T) {
	s := script(t, Rule{Action: ErrCode, ErrCode: -1, Count: 1}, Rule{Action: Status, Status: 502, Phase: After})
	first, _ := s.Match(Call{})
	second, _ := s.Match(Call{})
	if diff := cmp.Diff([]string{"errcode_before", "status_after"}, []string{first.Name(), second.Name()}); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
	if first.Hang != DefaultHang {
		t.Errorf("hang %v, want the default", first.Hang)
	}
}

func TestProbabilityIsRepeatable(t *testing.T) {
	rule := Rule{Action: Reset, Probability: 0.3}
	a, b := pattern(script(t, rule), 2000), pattern(script(t, rule), 2000)
	if a != b {
		t.Error("the same seed gives different hits")
	}
	hits := 0
	for _, c := range a {
		if c == 'x' {
			hits++
		}
	}
	if hits < 520 || hits > 680 {
		t.Errorf("%d hits in 2000 at 30 %%", hits)
	}
}

func TestRulesRemoveClear(t *testing.T) {
	s := script(t, Rule{Action: Reset, Hits: 7, ID: "mine"}, Rule{Action: Timeout, Hang: time.Second})
	s.Match(Call{})
	want := []Rule{
		{ID: "fault-1", Action: Reset, Phase: Before, Hang: DefaultHang, Hits: 1},
		{ID: "fault-2", Action: Timeout, Phase: Before, Hang: time.Second},
	}
	if diff := cmp.Diff(want, s.Rules()); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
	if !s.Remove("fault-1") || s.Remove("fault-1") {
		t.Error("Remove does not report whether there was a rule")
	}
	if r, ok := s.Match(Call{}); !ok || r.ID != "fault-2" {
		t.Errorf("after Remove: %+v, %v", r, ok)
	}
	s.Clear()
	if _, ok := s.Match(Call{}); ok || len(s.Rules()) != 0 {
		t.Error("Clear left a rule")
	}
}

func TestAddRefuses(t *testing.T) {
	for name, rule := range map[string]Rule{
		"no action":            {},
		"unknown action":       {Action: "explode"},
		"unknown phase":        {Action: Reset, Phase: "during"},
		"errcode without code": {Action: ErrCode},
		"status without 5xx":   {Action: Status, Status: 404},
		"negative count":       {Action: Reset, Count: -1},
		"probability over 1":   {Action: Reset, Probability: 1.1},
	} {
		if _, err := NewScript(1).Add(rule); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func script(tb testing.TB, rules ...Rule) *Script {
	tb.Helper()
	s := NewScript(1)
	for _, r := range rules {
		if _, err := s.Add(r); err != nil {
			tb.Fatalf("Add: %v", err)
		}
	}
	return s
}

// pattern plays so many calls: x for a hit, a dot for none.
func pattern(s *Script, calls int) string {
	out := []byte(strings.Repeat(".", calls))
	for i := range out {
		if _, ok := s.Match(Call{}); ok {
			out[i] = 'x'
		}
	}
	return string(out)
}
