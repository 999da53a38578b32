package observability

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestSubstitute(t *testing.T) {
	values := map[string]string{"job": "a|b", "__rate_interval": "15s"}
	for expr, want := range map[string]string{
		`rate(x{job=~"$job"}[$__rate_interval])`:           `rate(x{job=~"a|b"}[15s])`,
		`rate(x{job=~"${job:regex}"}[${__rate_interval}])`: `rate(x{job=~"a|b"}[15s])`,
		`x{job=~"[[job]]"}`:                                `x{job=~"a|b"}`,
		`x{a=~".*$"}`:                                      `x{a=~".*$"}`,
	} {
		if got, err := Substitute(expr, values); err != nil || got != want {
			t.Errorf("Substitute(%s) = %s, %v; want %s", expr, got, err, want)
		}
	}
	if _, err := Substitute(`x{a="$b"}`, values); err == nil {
		t.Error("no error for a variable without a value")
	}
}

func TestFiguresOfADashboard(t *testing.T) {
	folded := Panel{Type: "row", Panels: []Panel{{ID: 3}}}
	board := Dashboard{Panels: []Panel{{Type: "row"}, {ID: 2, Type: "stat"}, folded}}
	figures := board.Figures()
	if len(figures) != 2 || figures[0].ID != 2 || figures[1].ID != 3 {
		t.Errorf("Figures() = %+v; want those with the IDs 2 and 3", figures)
	}
}

func TestQueryOfAVariable(t *testing.T) {
	for _, query := range []string{`"label_values(up, job)"`, `{"query":"label_values(up, job)","refId":"A"}`} {
		if got := (Variable{Query: []byte(query)}).QueryText(); got != "label_values(up, job)" {
			t.Errorf("QueryText() of %s = %q", query, got)
		}
	}
}

// known are the values of labels, by the selector and the label.
type known map[string][]string

func (k known) LabelValues(_ context.Context, selector, label string) ([]string, error) {
	return k[selector+" "+label], nil
}

func TestValuesOfVariables(t *testing.T) {
	var board Dashboard
	err := json.Unmarshal([]byte(`{"templating": {"list": [
		{"name": "datasource", "type": "datasource", "query": "prometheus", "current": {"value": "main"}},
		{"name": "namespace", "type": "query", "query": "label_values(up, namespace)", "includeAll": true, "allValue": ".*"},
		{"name": "job", "type": "query", "query": {"query": "label_values(up{namespace=~\"$namespace\"}, job)"}, "includeAll": true},
		{"name": "instance", "type": "query", "query": "label_values(instance)"},
		{"name": "zone", "type": "query", "query": "label_values(zone)"}
	]}}`), &board)
	if err != nil {
		t.Fatal(err)
	}
	got, err := board.Values(t.Context(), known{`up{namespace=~".*"} job`: {"a", "b"}, " instance": {"i", "j"}}, 15*time.Second, time.Minute)
	want := map[string]string{
		"datasource": "main", "namespace": ".*", "job": "(a|b)", "instance": "i", "zone": "",
		"__rate_interval": "15000ms", "__interval": "3750ms", "__range": "60000ms", "__range_s": "60",
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	board.Templating.List[1] = Variable{Name: "x", Type: "query", Query: []byte(`"query_result(up)"`)}
	if _, err := board.Values(t.Context(), known{}, time.Second, time.Minute); err == nil {
		t.Error("no error for a variable that asks for no label's values")
	}
}
