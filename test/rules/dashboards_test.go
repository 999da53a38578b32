package rules

import (
	"regexp"
	"strings"
	"testing"
)

// chosen replaces what Grafana fills in.
var chosen = strings.NewReplacer("$__rate_interval", "5m", "$__range", "3h", "$namespace", ".*", "$job", ".*")

func TestDashboardsNameWhatExists(t *testing.T) {
	known := newVocabulary(recorded(t))
	for name, b := range readBoards(t) {
		for _, p := range b.Panels {
			for _, q := range p.Targets {
				for _, fault := range known.faults(chosen.Replace(q.Expr)) {
					t.Errorf("%s, %s: %s", name, p.Title, fault)
				}
				if strings.Contains(chosen.Replace(q.Expr), "$") {
					t.Errorf("%s, %s: a variable that nobody fills in: %s", name, p.Title, q.Expr)
				}
			}
		}
	}
}

// A panel says what good looks like, and which page helps when it does not.
func TestPanelsExplainThemselves(t *testing.T) {
	severity := alerts(t)
	runbook := regexp.MustCompile(`Runbook: docs/runbooks/(\w+)\.md$`)
	for name, b := range readBoards(t) {
		for _, p := range b.Panels {
			if p.Type == "row" {
				continue
			}
			if p.Title == "" || p.Description == "" || len(p.Targets) == 0 {
				t.Errorf("%s, panel %d (%s): no title, description or query", name, p.ID, p.Title)
			}
			if found := runbook.FindStringSubmatch(p.Description); len(found) > 0 && severity[found[1]] == "" {
				t.Errorf("%s, %s: no alert %s", name, p.Title, found[1])
			}
			for _, from := range append(sources(p.Targets), p.Source) {
				if from.UID != "${datasource}" {
					t.Errorf("%s, %s: data source %q", name, p.Title, from.UID)
				}
			}
		}
	}
}

func sources(targets []asked) []source {
	var out []source
	for _, q := range targets {
		out = append(out, q.Source)
	}
	return out
}

func TestDashboardsAreWellFormed(t *testing.T) {
	uids := map[string]bool{}
	for name, b := range readBoards(t) {
		if b.UID == "" || uids[b.UID] || b.Schema < 39 {
			t.Errorf("%s: uid %q, schema %d", name, b.UID, b.Schema)
		}
		uids[b.UID] = true
		ids := map[int]bool{}
		taken := map[[2]int]string{}
		for _, p := range b.Panels {
			if p.ID == 0 || ids[p.ID] {
				t.Errorf("%s: the number %d of %s is another's", name, p.ID, p.Title)
			}
			ids[p.ID] = true
			if p.Place.W < 1 || p.Place.H < 1 || p.Place.X+p.Place.W > 24 {
				t.Errorf("%s, %s: at %+v", name, p.Title, p.Place)
			}
			for x := p.Place.X; x < p.Place.X+p.Place.W; x++ {
				for y := p.Place.Y; y < p.Place.Y+p.Place.H; y++ {
					if other, is := taken[[2]int{x, y}]; is {
						t.Fatalf("%s: %s lies on %s", name, p.Title, other)
					}
					taken[[2]int{x, y}] = p.Title
				}
			}
		}
	}
}
