//go:build integration

package observability

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/adapter/redisbudget"
	"github.com/rollcall-dev/rollcall/internal/wecomsim/fault"
	"github.com/rollcall-dev/rollcall/test/campaign"
)

// TestEveryQueryFindsData plays a demo with a storm and a kill, and walks every
// query of the dashboards and every expression of the rules: each is evaluated,
// and finds data unless a list says why it may not.
func TestEveryQueryFindsData(t *testing.T) {
	w := watch(t)
	w.options.StormCodes = 60
	w.options.Budget = campaign.Budget{Minute: 2 * time.Second, Hour: 20 * time.Second, PerMinute: 40, PerHour: 250, Burst: 15}
	w.options.Direct = w.lively
	began := time.Now()
	report, ended := w.play(), time.Now()
	t.Logf("%d pushes, %d scans in %v", report.Pushes, report.Scans, ended.Sub(began).Round(time.Second))
	s := span{w, began, ended}
	t.Run("dashboards", s.walkDashboards)
	t.Run("rules", s.walkRules)
}

// lively is a play in which everything of a good day happens: a storm, processes
// that are replaced, a company that somebody else's calls have blocked, and a few
// calls that WeCom does not take.
func (w *watched) lively(ctx context.Context, s campaign.Scene) error {
	pause(ctx, 8*time.Second)
	for _, role := range []string{"refresher", "ingress"} {
		if err := s.Fleet.Replace(ctx, role); err != nil {
			return err
		}
	}
	for _, rule := range []fault.Rule{
		{Corp: s.Corp(s.Tenants[0]), Action: fault.ErrCode, ErrCode: redisbudget.ErrCodeFrequency},
		{Action: fault.Status, Status: http.StatusBadGateway, Probability: 0.2},
	} {
		rule.API = updateAPI
		id, err := s.Sim.AddFault(rule)
		if err != nil {
			return err
		}
		pause(ctx, 4*time.Second)
		s.Sim.RemoveFault(id)
	}
	pause(ctx, 12*time.Second)
	return ctx.Err()
}

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// span is the time of a demo.
type span struct {
	*watched
	from, to time.Time
}

func (s span) walkDashboards(t *testing.T) {
	boards, err := ReadDashboards(*dashboardsDir)
	if err != nil {
		t.Fatal(err)
	}
	empty := newEmptyList(emptyPanels)
	queries := 0
	for name, board := range boards {
		values, err := board.Values(t.Context(), s.Prometheus, 10*time.Second, s.to.Sub(s.from))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, panel := range board.Figures() {
			for _, target := range panel.Targets {
				queries++
				key := fmt.Sprintf("%s: %s: %s", name, panel.Title, target.RefID)
				empty.check(t, key, s.hasData(t, key, target.Expr, values))
			}
		}
	}
	empty.finish(t)
	t.Logf("%d queries of %d dashboards", queries, len(boards))
}

func (s span) hasData(t *testing.T, key, expr string, values map[string]string) bool {
	text, err := Substitute(expr, values)
	if err != nil {
		t.Errorf("%s: %v", key, err)
		return true
	}
	series, err := s.Range(t.Context(), text, s.from, s.to, time.Second)
	if err != nil {
		t.Errorf("%s: %v: %s", key, err, text)
		return true
	}
	return slices.ContainsFunc(series, func(one Series) bool {
		return slices.ContainsFunc(one.Points, func(p Point) bool { return !math.IsNaN(p.Value) })
	})
}

// walkRules evaluates each rule. An alert that does not fire has no data, so it
// is each of its selectors that has to find something.
func (s span) walkRules(t *testing.T) {
	failing, err := s.Failing(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for name, why := range failing {
		t.Errorf("%s fails: %s", name, why)
	}
	files, err := ReadRules(*rulesDir)
	if err != nil {
		t.Fatal(err)
	}
	empty := newEmptyList(emptySelectors)
	rules, seen := 0, map[string]bool{}
	for _, file := range files {
		for _, group := range file.Groups {
			for _, rule := range group.Rules {
				rules++
				for _, expr := range append([]string{rule.Expr}, templateQueries(rule)...) {
					if _, err := s.Query(t.Context(), expr, s.to); err != nil {
						t.Errorf("%s: %v: %s", rule.Name(), err, expr)
						continue
					}
					for _, selector := range Selectors(expr) {
						if seen[selector] {
							continue
						}
						seen[selector] = true
						found, err := s.Selected(t.Context(), selector, s.from, s.to)
						if err != nil {
							t.Errorf("%s: %v", rule.Name(), err)
						}
						empty.check(t, selector, found > 0)
					}
				}
			}
		}
	}
	empty.finish(t)
	t.Logf("%d rules with %d selectors", rules, len(seen))
}

var templateQuery = regexp.MustCompile(`(?:query|printf) "((?:[^"\\]|\\.)*)"`)

// unnamed takes the namespace out of a query; the series of this demo have none.
var unnamed = strings.NewReplacer(`,namespace='%s'`, ``, `{namespace='%s'}`, ``, `namespace='%s',`, ``, `'`, `"`)

// templateQueries are what a rule's annotations ask.
func templateQueries(rule Rule) (found []string) {
	for _, text := range rule.Annotations {
		for _, match := range templateQuery.FindAllStringSubmatch(text, -1) {
			found = append(found, unnamed.Replace(match[1]))
		}
	}
	return found
}

// emptyList is what may find nothing.
type emptyList struct {
	absences map[string]absence
	needed   map[string]bool
}

func newEmptyList(absences map[string]absence) *emptyList {
	return &emptyList{absences, map[string]bool{}}
}

// check reports what finds nothing and is not on the list.
func (l *emptyList) check(t *testing.T, key string, found bool) {
	listed, ok := l.absences[key]
	switch {
	case ok && (!found || listed.rare):
		l.needed[key] = true
	case !found:
		t.Errorf("finds nothing: %s", key)
	}
}

// finish reports what is on the list in vain: it finds data though it could not,
// or is not asked any more.
func (l *emptyList) finish(t *testing.T) {
	for key, listed := range l.absences {
		if !l.needed[key] {
			t.Errorf("on the list of those that find nothing (%s), and not needed there: %s", listed.why, key)
		}
	}
}
