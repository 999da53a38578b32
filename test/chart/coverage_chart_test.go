//go:build chart

package chart

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// A template that no value file renders is one that nobody has looked at.
func TestEveryTemplateIsRendered(t *testing.T) {
	rendered := map[string]bool{}
	manifests := 0
	for _, r := range current(t) {
		for _, m := range r.manifests {
			rendered[m.template] = true
			manifests++
		}
	}
	templates := 0
	err := filepath.WalkDir(chartPath+"/templates", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasPrefix(entry.Name(), "_") || filepath.Ext(path) != ".yaml" {
			return err
		}
		name, err := filepath.Rel(chartPath, path)
		if !rendered[name] {
			t.Errorf("%s is rendered by no value file", name)
		}
		templates++
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d templates, %d manifests of %d value files", templates, manifests, len(current(t)))
}

// A switch that neither a value file nor a unit test turns is one that nobody
// has looked at.
func TestEverySwitchIsTurned(t *testing.T) {
	defaults := readValues(t, chartPath+"/values.yaml")
	switches := map[string]any{}
	leaves(defaults, "", func(path string, value any) {
		// Security contexts are handed on as they are: no template asks them.
		if _, ok := value.(bool); ok && !strings.Contains(path, "ecurityContext.") {
			switches[path] = value
		}
	})
	turned := map[string]bool{}
	turn := func(path string, value any) {
		if was, ok := switches[path]; ok && value != was {
			turned[path] = true
		}
	}
	for _, file := range valueFiles(t) {
		leaves(readValues(t, file), "", turn)
	}
	for _, file := range unitSuites(t) {
		suiteValues(t, file, turn)
	}
	for _, path := range slices.Sorted(maps.Keys(switches)) {
		if !turned[path] {
			t.Errorf("%s is %v everywhere", path, switches[path])
		}
	}
	t.Logf("%d switches, all turned by a value file or a unit test", len(switches))
}

func unitSuites(t *testing.T) []string {
	t.Helper()
	suites, err := filepath.Glob(chartPath + "/tests/*_test.yaml")
	if err != nil || len(suites) == 0 {
		t.Fatalf("no unit suites (%v)", err)
	}
	return suites
}

// suiteValues calls turn for each value that a suite or a test of it sets.
func suiteValues(t *testing.T, file string, turn func(path string, value any)) {
	t.Helper()
	type setter struct {
		Set    map[string]any
		Values []string
	}
	var suite struct {
		setter
		Tests []setter
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &suite); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	for _, s := range append(suite.Tests, suite.setter) {
		leaves(s.Set, "", turn)
		for _, values := range s.Values {
			leaves(readValues(t, filepath.Join(filepath.Dir(file), values)), "", turn)
		}
	}
}

func readValues(tb testing.TB, file string) map[string]any {
	tb.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		tb.Fatal(err)
	}
	var values map[string]any
	if err := yaml.Unmarshal(content, &values); err != nil {
		tb.Fatalf("%s: %v", file, err)
	}
	return values
}

// leaves calls visit for each value that is no map, by its path with dots; keys
// may hold dots themselves, as in what a unit test sets.
func leaves(values map[string]any, prefix string, visit func(path string, value any)) {
	for name, value := range values {
		path := strings.TrimPrefix(prefix+"."+name, ".")
		if inner, ok := value.(map[string]any); ok {
			leaves(inner, path, visit)
			continue
		}
		visit(path, value)
	}
}
