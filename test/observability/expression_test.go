package observability

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestScaleOfAnExpression(t *testing.T) {
	scale := Scale{Factor: 60, Shortest: 2 * time.Second}
	for _, c := range []struct{ name, expr, want string }{
		{"a range", `rate(a_total[5m]) > 3`, `rate(a_total[5000ms]) > 3`},
		{"a range that would hold no two samples", `rate(a_total[1m])`, `rate(a_total[2000ms])`},
		{"several units", `a[1h30m]`, `a[90000ms]`},
		{"a subquery and its step", `max_over_time((a > 1)[1h:1m])`, `max_over_time((a > 1)[60000ms:1000ms])`},
		{"an offset", `a offset 1d - a`, `a offset 1440000ms - a`},
		{"names and texts with digits", `job:a:rate5m{le="5",w="5m"} > 0.5e-3`, `job:a:rate5m{le="5",w="5m"} > 0.5e-3`},
		{"a comment", "a[5m] # not [5m]\n> 1", "a[5000ms] # not [5m]\n> 1"},
		{"an age", `max(a_oldest_seconds{reason!="x"}) >= bool 120`, `max(a_oldest_seconds{reason!="x"}) >= bool 2`},
		{"an age in hours", `a_seconds > 6 * 3600`, `a_seconds > 0.1 * 3600`},
		{"an age since", `time() - process_start_time_seconds < 600`, `time() - process_start_time_seconds < 10`},
		{"an age beside a count", `a_codes > 600 and a_seconds > 600`, `a_codes > 600 and a_seconds > 10`},
		{"a bucket's bound is none", `histogram_quantile(0.99, rate(a_seconds_bucket[5m])) > 5`, `histogram_quantile(0.99, rate(a_seconds_bucket[5000ms])) > 5`},
		{"a slope is none", `deriv(a_seconds[10m]) > 0.5`, `deriv(a_seconds[10000ms]) > 0.5`},
		{"a label is none", `a_seconds{x="1"} / b{y!="600"}`, `a_seconds{x="1"} / b{y!="600"}`},
	} {
		if got := scale.Expression(c.expr); got != c.want {
			t.Errorf("%s: %s\n got %s\nwant %s", c.name, c.expr, got, c.want)
		}
	}
}

func TestScaleOfADuration(t *testing.T) {
	scale := Scale{Factor: 60}
	for text, want := range map[string]string{"": "", "1h": "60000ms", "1m": "1000ms", "30s": "500ms", "0s": "1ms"} {
		if got := scale.Duration(text); got != want {
			t.Errorf("Duration(%q) = %q; want %q", text, got, want)
		}
	}
}

func TestSelectors(t *testing.T) {
	for expr, want := range map[string][]string{
		`sum by (le, job) (rate(a_bucket{le="5"}[5m])) / ignoring(le) group_left sum(rate(a_count[5m]))`: {`a_bucket{le="5"}`, "a_count"},
		`absent(up{job="x"}) or vector(0)`:             {`up{job="x"}`},
		`a > on (x, y) b unless on () c offset 5m`:     {"a", "b", "c"},
		`label_replace(a, "x", "$1", "y", "(.*)") * a`: {"a"},
		`{__name__=~"rollcall_.*"}`:                    {`{__name__=~"rollcall_.*"}`},
		`topk(3, sum without (instance) (a:rate5m))`:   {"a:rate5m"},
		`a{x="}"} == bool 1 # and b`:                   {`a{x="}"}`},
		`max_over_time(a[1h:1m]) + time()`:             {"a"},
		`1 - (sum(a) / sum(b))`:                        {"a", "b"},
	} {
		if diff := cmp.Diff(want, Selectors(expr)); diff != "" {
			t.Errorf("%s\n%s", expr, diff)
		}
	}
}
