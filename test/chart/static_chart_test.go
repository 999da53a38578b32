//go:build chart

package chart

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestChartLints(t *testing.T) {
	for _, values := range valueFiles(t) {
		t.Run(nameOf(values), func(t *testing.T) {
			helm.must(t, "lint", "--strict", "--quiet", "--values", values, chartPath)
		})
	}
}

func TestReadmeIsGenerated(t *testing.T) {
	want := helmDocs.must(t, "--dry-run", "--log-level=warning", "--sort-values-order=file", "--chart-search-root", chartPath)
	got, err := os.ReadFile(chartPath + "/README.md")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.TrimSpace(want), strings.TrimSpace(string(got))); diff != "" {
		t.Errorf("charts/rollcall/README.md is out of date: run make generate (-want +got)\n%s", diff)
	}
}

// The suites that the chart keeps beside its templates, obsolete snapshots
// included.
func TestUnitSuites(t *testing.T) {
	out, err := helmUnittest.run(t.Context(), "", "--strict", "--with-subchart=false", chartPath)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	counts := regexp.MustCompile(`(?m)^(Charts|Test Suites|Tests|Snapshot):.*$`).FindAllString(out, -1)
	if !regexp.MustCompile(`Tests:\s+[1-9]\d* passed`).MatchString(out) {
		t.Errorf("no unit test ran:\n%s", out)
	}
	if strings.Contains(out, "obsolete") {
		t.Errorf("a snapshot belongs to no test any more:\n%s", out)
	}
	t.Log(strings.Join(counts, "; "))
}

// A schema node, as far as closedness needs it.
type schemaNode struct {
	Ref                  string                `json:"$ref"`
	Type                 any                   `json:"type"`
	Properties           map[string]schemaNode `json:"properties"`
	AdditionalProperties json.RawMessage       `json:"additionalProperties"`
	Items                *schemaNode           `json:"items"`
	Definitions          map[string]schemaNode `json:"definitions"`
	Defs                 map[string]schemaNode `json:"$defs"`
}

// Every object with named values refuses other names, so that a typo is said
// and not ignored.
func TestValuesSchemaIsClosed(t *testing.T) {
	text, err := os.ReadFile(chartPath + "/values.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var schema schemaNode
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	closed := 0
	var visit func(path string, node schemaNode)
	visit = func(path string, node schemaNode) {
		if len(node.Properties) > 0 {
			if string(node.AdditionalProperties) != "false" {
				t.Errorf("%s takes names that nobody knows: additionalProperties is not false", path)
			}
			closed++
		}
		for name, property := range node.Properties {
			visit(path+"."+name, property)
		}
		if node.Items != nil {
			visit(path+"[]", *node.Items)
		}
		for _, named := range []map[string]schemaNode{node.Definitions, node.Defs} {
			for name, definition := range named {
				visit("definitions."+name, definition)
			}
		}
	}
	visit("values", schema)
	t.Logf("%d objects with named values, all closed", closed)
}
