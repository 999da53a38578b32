package roster_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the same zones on every machine

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// The scenarios in testdata are the specification of Decide, to be read in
// the order of their names. testdata/README.md explains their few words.
//
// After a change of the rules, -rewrite writes what is decided now; read the
// difference before keeping it.
var rewrite = flag.Bool("rewrite", false, "write the scenarios' answers anew")

func TestScenarios(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := play(t, string(text))
			if *rewrite {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(strings.Split(string(text), "\n"), strings.Split(got, "\n")); diff != "" {
				t.Errorf("scenario differs (-written +decided):\n%s", diff)
			}
		})
	}
}

const answerMark = "----"

// play runs a scenario and returns its text with the answers as decided. An
// answer begins after a line of four hyphens and ends at an empty line.
func play(t *testing.T, text string) string {
	t.Helper()
	var out bytes.Buffer
	stage := newStage()
	answer := ""
	inAnswer := false
	for number, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		switch {
		case inAnswer:
			inAnswer = line != ""
			if inAnswer {
				continue
			}
		case line == answerMark:
			out.WriteString(line + "\n" + answer)
			inAnswer = true
			continue
		case line != "" && !strings.HasPrefix(line, "#"):
			said, err := stage.do(line)
			if err != nil {
				t.Fatalf("line %d: %q: %v", number+1, line, err)
			}
			answer = said
		}
		out.WriteString(line + "\n")
	}
	return out.String()
}

// stage is the state that the lines of a scenario build up.
type stage struct {
	facts roster.Facts
	last  roster.Last
	rules roster.LaneRules
	now   time.Time
}

func newStage() *stage {
	return &stage{facts: roster.Facts{
		Code:   roster.Code{ID: "code", Tenant: "tenant", Family: roster.Native, Revision: 1},
		Tenant: roster.Tenant{ID: "tenant"},
		Staff:  map[string]roster.Staff{},
		Counters: roster.Counters{
			Total: map[string]int{}, Days: map[roster.Day]map[string]int{}, InRound: map[string]int{},
		},
	}}
}

func (s *stage) do(line string) (string, error) {
	words := strings.Fields(line)
	name, rest := words[0], words[1:]
	verbs := map[string]func([]string) error{
		"code": s.code, "tenant": s.tenant, "member": s.member, "backup": s.backup, "staff": s.staff,
		"gone": s.gone, "works": s.works, "special": s.special, "count": s.count, "last": s.lastList,
		"lanes": s.lanes, "at": s.at,
	}
	if verb, ok := verbs[name]; ok {
		return "", verb(rest)
	}
	switch name {
	case "decide":
		return s.decide(), nil
	case "commit":
		return s.commit(), nil
	}
	return "", fmt.Errorf("unknown word %q", name)
}

// decide returns what is decided of the facts so far, for people.
func (s *stage) decide() string {
	v, err := roster.Decide(s.facts, s.last, s.rules, s.now)
	if err != nil {
		return "error: " + err.Error() + "\n"
	}
	return s.show(v)
}

// commit does the same and takes the verdict as the last push.
func (s *stage) commit() string {
	said := s.decide()
	if v, err := roster.Decide(s.facts, s.last, s.rules, s.now); err == nil {
		s.last = asLast(v, s.facts, s.now)
	}
	return said
}

// asLast is the record that a push of the verdict leaves.
func asLast(v roster.Verdict, f roster.Facts, now time.Time) roster.Last {
	return roster.Last{
		Members: v.Members, Revision: f.Code.Revision, At: now,
		Kept: slices.Contains(v.Notes, reason.NobodyLeft),
	}
}

// show prints a verdict for people: the list, then everybody with his reason.
func (s *stage) show(v roster.Verdict) string {
	var b strings.Builder
	fmt.Fprintf(&b, "list: %s\n", orNone(strings.Join(v.Members, " ")))
	showJudgements(&b, v.PerStaff)
	for _, n := range v.Notes {
		fmt.Fprintf(&b, "note: %s\n", n)
	}
	if len(v.Rotation) > 0 {
		fmt.Fprintf(&b, "round %d:", v.Round)
		for _, seat := range v.Rotation {
			room := "any"
			if seat.Headroom >= 0 {
				room = strconv.Itoa(seat.Headroom)
			}
			fmt.Fprintf(&b, " %s(%s more after %d%s)", seat.Staff, room, seat.Counted, s.showCompany(seat.Company))
		}
		b.WriteString("\n")
	}
	if v.Lane.Slow() {
		fmt.Fprintf(&b, "slow lane: %v\n", v.Lane.Interval)
	}
	if !v.NextChange.IsZero() {
		fmt.Fprintf(&b, "next change: %s\n", v.NextChange.In(s.now.Location()).Format(stamp))
	}
	return b.String()
}

// showJudgements gives everybody a line; more than three in a row that are
// judged alike share one.
func showJudgements(b *strings.Builder, all []roster.Judgement) {
	for len(all) > 0 {
		like := 1
		for like < len(all) && sameBut(all[0], all[like]) {
			like++
		}
		if like <= 3 {
			like = 1
		}
		mark, names := "-", all[0].Staff
		if all[0].Included {
			mark = "+"
		}
		if like > 1 {
			names = fmt.Sprintf("%s to %s (%d)", names, all[like-1].Staff, like)
		}
		fmt.Fprintf(b, "  %s %s %s", mark, names, all[0].Reason)
		if all[0].Despite != "" {
			fmt.Fprintf(b, " despite %s", all[0].Despite)
		}
		b.WriteString("\n")
		all = all[like:]
	}
}

// sameBut reports whether two people are judged alike.
func sameBut(a, b roster.Judgement) bool {
	a.Staff, b.Staff = "", ""
	return a == b
}

func orNone(s string) string {
	if s == "" {
		return "nobody"
	}
	return s
}

// stamp is how scenarios write an instant, in the zone of the line "at".
const stamp = "2006-01-02 15:04:05 -0700"

// showCompany prints what a seat says of the company's daily total.
func (s *stage) showCompany(day roster.CompanyDay) string {
	switch {
	case day.Total == 0:
		return ""
	case day.Counted == 0:
		return fmt.Sprintf("; 0 of %d", day.Total)
	}
	until := time.Unix(day.Until, 0).In(s.now.Location()).Format(stamp)
	return fmt.Sprintf("; %d of %d until %s", day.Counted, day.Total, until)
}
