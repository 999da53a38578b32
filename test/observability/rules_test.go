package observability

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const someRules = `
groups:
  - name: some
    interval: 30s
    rules:
      - record: a:rate5m
        expr: rate(a_total[5m])
      - alert: ATooOften
        expr: a:rate5m > 3
        for: 10m
        labels: {severity: page}
        annotations: {summary: "{{ $value }} in 5m"}
`

func TestScaleOfRules(t *testing.T) {
	file, err := ParseRules([]byte(someRules))
	if err != nil {
		t.Fatal(err)
	}
	want := RuleFile{[]Group{{Name: "some", Interval: "500ms", Rules: []Rule{
		{Record: "a:rate5m", Expr: "rate(a_total[5000ms])"},
		{
			Alert: "ATooOften", Expr: "a:rate5m > 3", For: "10000ms", Labels: map[string]string{"severity": "page"},
			Annotations: map[string]string{"summary": "{{ $value }} in 5m"},
		},
	}}}}
	if diff := cmp.Diff(want, Scale{Factor: 60, Shortest: time.Second}.Rules(file)); diff != "" {
		t.Error(diff)
	}
	if file.Groups[0].Interval != "30s" || file.Groups[0].Rules[1].For != "10m" {
		t.Error("the rules that were scaled have changed")
	}
}

func TestAFieldThatScalingWouldLoseIsAnError(t *testing.T) {
	if _, err := ParseRules([]byte(strings.Replace(someRules, "for: 10m", "for: 10m\n        keep_firing_for: 5m", 1))); err == nil {
		t.Error("no error for keep_firing_for")
	}
}

func TestWrittenRulesAreReadTheSame(t *testing.T) {
	file, err := ParseRules([]byte(someRules))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if _, err := WriteRules(dir, []RuleFile{file}); err != nil {
		t.Fatal(err)
	}
	again, err := ReadRules(dir)
	if diff := cmp.Diff([]RuleFile{file}, again); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
}
