package rules

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

func recorded(t *testing.T) []string {
	t.Helper()
	var names []string
	for _, r := range readRules(t) {
		if r.Record != "" {
			names = append(names, r.Record)
		}
	}
	return names
}

// A query that names what does not exist gives nothing, and an alert on nothing
// never fires.
func TestRulesNameWhatExists(t *testing.T) {
	known := newVocabulary(recorded(t))
	for _, r := range readRules(t) {
		for _, fault := range known.faults(r.Expr) {
			t.Errorf("%s%s: %s", r.Alert, r.Record, fault)
		}
		for _, text := range r.Annotations {
			for _, asked := range regexp.MustCompile(`printf "([^"]*)"`).FindAllStringSubmatch(text, -1) {
				for _, fault := range known.faults(strings.ReplaceAll(asked[1], "%s", "x")) {
					t.Errorf("%s, in its text: %s", r.Alert, fault)
				}
			}
		}
	}
}

// The check above has to see what it is for.
func TestFaultsAreSeen(t *testing.T) {
	known := newVocabulary([]string{"namespace:recorded:sum"})
	for query, want := range map[string]string{
		`sum by (namespace) (rate(rollcall_outcomes_total{outcome="done"}[5m]))`: "",
		`namespace:recorded:sum - namespace:recorded:sum offset 30m > 100`:       "",
		`rollcall_refresh_freshness_seconds_bucket{le=~"5(\\.0)?"}`:              "",
		`rollcall_outcome_total`:                                                      "no series rollcall_outcome_total",
		`rate(rollcall_outcomes_total{tenant="a"}[5m])`:                               "rollcall_outcomes_total: no label tenant",
		`rollcall_outcomes_total{outcome="finished"}`:                                 `rollcall_outcomes_total: outcome has no value "finished"`,
		`rollcall_outcomes_total{reason=~"pushed|pusht"}`:                             `rollcall_outcomes_total: reason has no value that is "pusht"`,
		`rollcall_refresh_freshness_seconds_bucket{le="4"}`:                           `rollcall_refresh_freshness_seconds_bucket: le has no value "4"`,
		`rollcall_refresh_freshness_seconds`:                                          "no series rollcall_refresh_freshness_seconds",
		`sum by (tenant) (rollcall_backlog)`:                                          "grouped by tenant, which no series in it has",
		`rollcall_keeper_lease == 0 and on (code) rollcall_backlog{state="held"} > 0`: "grouped by code, which no series in it has",
	} {
		if got := strings.Join(known.faults(query), "; "); got != want {
			t.Errorf("%s:\n got %q\nwant %q", query, got, want)
		}
	}
}

func TestAlertsSayWhatAPersonNeeds(t *testing.T) {
	for _, r := range readRules(t) {
		if r.Alert == "" {
			continue
		}
		summary, description := r.Annotations["summary"], r.Annotations["description"]
		switch {
		case !regexp.MustCompile(`^Rollcall[A-Z][A-Za-z]+$`).MatchString(r.Alert):
			t.Errorf("%s is not a name", r.Alert)
		case !slices.Contains([]string{"page", "ticket"}, r.Labels["severity"]):
			t.Errorf("%s: severity %q", r.Alert, r.Labels["severity"])
		case summary == "" || strings.ContainsAny(summary, "{}") || strings.HasSuffix(summary, "."):
			t.Errorf("%s: the summary %q is not one plain line", r.Alert, summary)
		case !strings.HasSuffix(description, "."):
			t.Errorf("%s: the description is not sentences: %q", r.Alert, description)
		case len(r.Annotations) != 2:
			t.Errorf("%s: annotations %v; the runbook's link is the chart's", r.Alert, r.Annotations)
		}
		for _, used := range regexp.MustCompile(`\$labels\.(\w+)`).FindAllStringSubmatch(description, -1) {
			if !strings.Contains(r.Expr, used[1]) {
				t.Errorf("%s: its text has the label %s, its expression has not", r.Alert, used[1])
			}
		}
	}
}

// An alert that no test has seen firing, or clear, may do neither.
func TestEachAlertHasAUnitTest(t *testing.T) {
	files := readAll(t, ".", "*.yaml")
	for name := range alerts(t) {
		seen := false
		for _, text := range files {
			seen = seen || strings.Contains(text, `alertname="`+name+`"`)
		}
		if !seen {
			t.Errorf("no test expects %s", name)
		}
	}
}

func TestInhibitionsAreSound(t *testing.T) {
	severity := alerts(t)
	for _, i := range readInhibitions(t) {
		if !slices.Equal(i.equal, []string{"namespace"}) {
			t.Errorf("%s mutes beyond its namespace: %v", i.sources, i.equal)
		}
		for _, names := range []*regexp.Regexp{i.sources, i.targets} {
			for _, name := range spelled(names) {
				if severity[name] == "" {
					t.Errorf("no alert %s", name)
				}
			}
		}
	}
	for source, muted := range mutes(t) {
		for _, name := range muted {
			if severity[source] == "ticket" && severity[name] == "page" {
				t.Errorf("the ticket %s mutes the page %s", source, name)
			}
		}
	}
}

// Two alerts that mute each other would both be silent.
func TestNoAlertMutesItself(t *testing.T) {
	all := mutes(t)
	var walk func(from, at string, depth int)
	walk = func(from, at string, depth int) {
		for _, next := range all[at] {
			if next == from {
				t.Errorf("%s is muted by what it mutes, by way of %s", from, at)
			} else if depth < len(all) {
				walk(from, next, depth+1)
			}
		}
	}
	for name := range all {
		walk(name, name, 0)
	}
}

// spelled are the names that a pattern of plain alternatives matches.
func spelled(names *regexp.Regexp) []string {
	text := strings.TrimSuffix(strings.TrimPrefix(names.String(), "^(?:"), ")$")
	text = strings.ReplaceAll(text, "RollcallFreshnessBurn(Fast|Slow)", "RollcallFreshnessBurnFast|RollcallFreshnessBurnSlow")
	return strings.Split(text, "|")
}
