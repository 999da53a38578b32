package rules

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/rollcall-dev/rollcall/internal/telemetry/metrics"
)

// target are the labels that Prometheus and its discovery put on every series.
var target = []string{"namespace", "job", "instance"}

// beside are the series that are not the catalog's: Prometheus' own, and those
// of the libraries in each process. Their labels are those in use here.
var beside = map[string][]string{
	"up":                            nil,
	"ALERTS":                        {"alertname", "alertstate", "severity"},
	"target_info":                   {"service_name", "service_namespace"},
	"process_cpu_seconds_total":     nil,
	"process_resident_memory_bytes": nil,
	"go_goroutines":                 nil,
	"pulsar_client_connections_establishment_errors": nil,
}

// Pieces of PromQL. The queries here are plain enough to be taken apart without
// a parser: no comments, no braces or brackets in strings.
var (
	quoted     = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'`)
	selector   = regexp.MustCompile(`([a-zA-Z_:][a-zA-Z0-9_:]*)\s*\{([^}]*)\}`)
	matcher    = regexp.MustCompile(`([a-z_]+)\s*(=~|!~|!=|=)\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')`)
	braces     = regexp.MustCompile(`\{[^}]*\}`)
	span       = regexp.MustCompile(`\[[^\]]*\]`)
	grouping   = regexp.MustCompile(`\b(by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)`)
	identifier = regexp.MustCompile(`[a-zA-Z_:][a-zA-Z0-9_:]*`)
	function   = regexp.MustCompile(`^(sum|max|min|avg|count|topk|rate|increase|deriv|absent|round|ceil|vector|clamp_min|histogram_quantile|label_replace|sort_desc|(min|max|sum|avg|last)_over_time|and|or|unless|offset|bool|(\d+)?[smhd])$`)
)

// series is what is known of one series' name.
type series struct {
	labels map[string][]string // with their values; nil values are any
}

// vocabulary is every series that a query may name.
type vocabulary map[string]series

// newVocabulary takes the catalog, what is beside it, and what the rules record.
func newVocabulary(recorded []string) vocabulary {
	v := vocabulary{}
	for _, i := range metrics.Catalog() {
		labels := map[string][]string{}
		for _, l := range i.Labels {
			labels[l.Key] = l.Values
		}
		if i.Kind != metrics.Histogram {
			v[i.Prometheus] = series{labels}
			continue
		}
		v[i.Prometheus+"_sum"], v[i.Prometheus+"_count"] = series{labels}, series{labels}
		bucket := maps.Clone(labels)
		bucket["le"] = edges(i.Buckets)
		v[i.Prometheus+"_bucket"] = series{bucket}
	}
	for name, labels := range beside {
		known := map[string][]string{}
		for _, l := range labels {
			known[l] = nil
		}
		v[name] = series{known}
	}
	for _, name := range recorded {
		v[name] = series{}
	}
	return v
}

// edges writes buckets as the two formats do: 5 and 5.0.
func edges(buckets []float64) []string {
	var out []string
	for _, b := range buckets {
		text := strconv.FormatFloat(b, 'f', -1, 64)
		out = append(out, text)
		if !strings.Contains(text, ".") {
			out = append(out, text+".0")
		}
	}
	return append(out, "+Inf")
}

// faults are what a query names and nobody has.
func (v vocabulary) faults(query string) []string {
	var out []string
	used := map[string]bool{}
	for _, found := range selector.FindAllStringSubmatch(query, -1) {
		name, matchers := found[1], found[2]
		known, ok := v[name]
		if !ok {
			continue // reported below
		}
		for _, m := range matcher.FindAllStringSubmatch(matchers, -1) {
			if fault := known.fault(m[1], m[2], m[3][1:len(m[3])-1]); fault != "" {
				out = append(out, name+": "+fault)
			}
		}
	}
	plain := span.ReplaceAllString(braces.ReplaceAllString(quoted.ReplaceAllString(query, ""), ""), "")
	for _, name := range identifier.FindAllString(grouping.ReplaceAllString(plain, ""), -1) {
		switch _, known := v[name]; {
		case known:
			used[name] = true
		case !function.MatchString(name):
			out = append(out, "no series "+name)
		}
	}
	return append(out, v.ungrouped(plain, used)...)
}

// ungrouped are labels that a query groups by and no series in it has.
func (v vocabulary) ungrouped(plain string, used map[string]bool) []string {
	allowed := slices.Clone(target)
	for name := range used {
		allowed = slices.AppendSeq(allowed, maps.Keys(v[name].labels))
	}
	var out []string
	for _, g := range grouping.FindAllStringSubmatch(plain, -1) {
		for _, l := range identifier.FindAllString(g[2], -1) {
			if !slices.Contains(allowed, l) {
				out = append(out, "grouped by "+l+", which no series in it has")
			}
		}
	}
	return out
}

// fault says what is wrong with one matcher.
func (s series) fault(label, operator, value string) string {
	values, known := s.labels[label]
	switch {
	case slices.Contains(target, label):
		return ""
	case !known:
		return "no label " + label
	case values == nil:
		return ""
	case operator == "=" || operator == "!=":
		if !slices.Contains(values, value) {
			return fmt.Sprintf("%s has no value %q", label, value)
		}
		return ""
	}
	for _, part := range alternatives(value) {
		whole, err := regexp.Compile("^(?:" + part + ")$")
		if err != nil {
			return fmt.Sprintf("%s: %v", label, err)
		}
		if !slices.ContainsFunc(values, whole.MatchString) {
			return fmt.Sprintf("%s has no value that is %q", label, part)
		}
	}
	return ""
}

// alternatives splits a|b, so that each of them has to be a value.
func alternatives(pattern string) []string {
	pattern = strings.ReplaceAll(pattern, `\\`, `\`)
	if strings.ContainsAny(pattern, "()") {
		return []string{pattern}
	}
	return strings.Split(pattern, "|")
}
