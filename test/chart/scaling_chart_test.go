//go:build chart

package chart

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// promtool is the machine's own, as for the rules of alerts.
var promtool = program{name: "promtool"}

// Two refreshers, fifteen minutes of metrics, and what an autoscaler is told.
// KEDA compares the sum with threshold × pods, the HPA the average of the pods
// with its target: 4 of two pods and 2 of each are the same wish.
var scalings = []struct {
	name        string
	load        string // of each refresher; "" for a refresher that is not scraped
	late        bool   // every push takes longer than the objective of 5 s
	quiet       bool   // there are no pushes
	keda, pods  map[string]float64
	withoutKEDA []string // queries without an answer
}{
	{
		name: "busy and late: more, at most twice as many", load: "0.9", late: true,
		keda: map[string]float64{"load": 1.8, "freshness": 4},
		pods: map[string]float64{"load": 0.9, "freshness": 2},
	},
	{
		name: "busy and in time: by the load alone", load: "0.9",
		keda: map[string]float64{"load": 1.8, "freshness": 0.38},
		pods: map[string]float64{"load": 0.9, "freshness": 0.19},
	},
	{
		name: "late in front of idle workers: WeCom or MongoDB is slow", load: "0.3", late: true,
		keda: map[string]float64{"load": 0.6, "freshness": 0},
		pods: map[string]float64{"load": 0.3, "freshness": 0},
	},
	{
		name: "no push at all", load: "0.9", quiet: true,
		keda: map[string]float64{"load": 1.8, "freshness": 0},
		pods: map[string]float64{"load": 0.9, "freshness": 0},
	},
	{
		name: "nobody is scraped: no answer, and the number of pods stays", late: true,
		keda: map[string]float64{"freshness": 0}, withoutKEDA: []string{"load"},
	},
}

func TestAutoscalersAskForWhatHelps(t *testing.T) {
	queries := kedaQueries(t)
	for metric, query := range adapterQueries(t) {
		queries["pods:"+metric] = query
	}
	dir := t.TempDir()
	var rules []map[string]any
	for name, query := range queries {
		rules = append(rules, map[string]any{"record": "scaling:" + name, "expr": query})
	}
	writeYAML(t, filepath.Join(dir, "rules.yaml"), map[string]any{"groups": []any{map[string]any{"name": "scaling", "rules": rules}}})
	var tests []any
	for _, s := range scalings {
		var expected []any
		for metric, value := range s.keda {
			name := "scaling:keda:" + metric
			expected = append(expected, sampled(name, map[string]any{"labels": name, "value": value}))
		}
		for _, metric := range s.withoutKEDA {
			expected = append(expected, sampled("scaling:keda:"+metric))
		}
		for metric, value := range s.pods {
			name := "scaling:pods:" + metric
			expected = append(expected, sampled(name,
				map[string]any{"labels": fmt.Sprintf("%s{pod=%q}", name, refresherPods[0]), "value": value},
				map[string]any{"labels": fmt.Sprintf("%s{pod=%q}", name, refresherPods[1]), "value": value}))
		}
		tests = append(tests, map[string]any{
			"name": s.name, "interval": "1m", "input_series": metricsOf(s.load, s.late, s.quiet), "promql_expr_test": expected,
		})
	}
	writeYAML(t, filepath.Join(dir, "test.yaml"), map[string]any{"rule_files": []string{"rules.yaml"}, "evaluation_interval": "1m", "tests": tests})
	if out, complaint, err := promtool.both(t.Context(), "", "test", "rules", filepath.Join(dir, "test.yaml")); err != nil {
		t.Errorf("%v\n%s%s", err, out, complaint)
	}
	t.Logf("%d queries in %d situations", len(queries), len(scalings))
}

var refresherPods = []string{release + "-refresher-a", release + "-refresher-b"}

func sampled(expression string, samples ...any) map[string]any {
	return map[string]any{"expr": expression, "eval_time": "15m", "exp_samples": samples}
}

// metricsOf are what two refreshers say for twenty minutes: a load, and one
// push a second that takes up to a second, or half a minute.
func metricsOf(load string, late, quiet bool) []any {
	var series []any
	add := func(name, values string) {
		series = append(series, map[string]any{"series": name, "values": values})
	}
	for _, pod := range refresherPods {
		labels := fmt.Sprintf("namespace=%q,pod=%q", namespace, pod)
		if load != "" {
			add("rollcall_refresher_load{"+labels+"}", load+"x20")
		}
		for _, edge := range []string{"1", "5", "30", "+Inf"} {
			pushes := 60
			if quiet || late && (edge == "1" || edge == "5") {
				pushes = 0
			}
			add(fmt.Sprintf(`rollcall_refresh_freshness_seconds_bucket{%s,lane="fast",throttled="false",le=%q}`, labels, edge),
				fmt.Sprintf("0+%dx20", pushes))
		}
	}
	return series
}

// kedaQueries are those of the ScaledObject, by "keda:" and the trigger's name.
func kedaQueries(t *testing.T) map[string]string {
	t.Helper()
	var scaled struct {
		Spec struct {
			Triggers []struct {
				Name     string
				Metadata map[string]string
			}
		}
	}
	for _, r := range current(t) {
		if r.name() != "keda" {
			continue
		}
		for _, m := range r.of("ScaledObject") {
			m.as(t, &scaled)
		}
	}
	queries := map[string]string{}
	for _, trigger := range scaled.Spec.Triggers {
		queries["keda:"+trigger.Name] = trigger.Metadata["query"]
	}
	if len(queries) != 2 {
		t.Fatalf("ci/keda.yaml has %d queries, want load and freshness", len(queries))
	}
	return queries
}

// adapterQueries are those of the example for prometheus-adapter as it would
// fill them in.
func adapterQueries(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(chartPath + "/examples/prometheus-adapter.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var example struct {
		Rules struct {
			Custom []struct {
				Name         struct{ As string }
				MetricsQuery string
			}
		}
	}
	if err := yaml.Unmarshal(text, &example); err != nil {
		t.Fatal(err)
	}
	fill := strings.NewReplacer("<<.Series>>", "rollcall_refresher_load", "<<.GroupBy>>", "pod",
		"<<.LabelMatchers>>", fmt.Sprintf("namespace=%q,pod=~%q", namespace, strings.Join(refresherPods, "|")))
	names := map[string]string{"rollcall_refresher_load": "load", "rollcall_refresher_freshness_ratio": "freshness"}
	queries := map[string]string{}
	for _, rule := range example.Rules.Custom {
		queries[names[rule.Name.As]] = fill.Replace(rule.MetricsQuery)
	}
	if queries["load"] == "" || queries["freshness"] == "" {
		t.Fatalf("the example lacks a metric that the chart asks for: %v", queries)
	}
	return queries
}

func writeYAML(tb testing.TB, path string, content any) {
	tb.Helper()
	text, err := yaml.Marshal(content)
	if err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		tb.Fatal(err)
	}
}
