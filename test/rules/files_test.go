package rules

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

// Where the files are, from here.
const (
	ruleDir      = "../../charts/rollcall/files/rules"
	dashboardDir = "../../charts/rollcall/files/dashboards"
	runbookDir   = "../../docs/runbooks"
)

// rule is one of Prometheus' rules.
type rule struct {
	Alert       string            `yaml:"alert"`
	Record      string            `yaml:"record"`
	Expr        string            `yaml:"expr"`
	For         string            `yaml:"for"`
	Labels      map[string]string `yaml:"labels"`
	Annotations map[string]string `yaml:"annotations"`
}

func readRules(t *testing.T) []rule {
	t.Helper()
	var all []rule
	for _, text := range readAll(t, ruleDir, "*.yaml") {
		var file struct {
			Groups []struct {
				Rules []rule `yaml:"rules"`
			} `yaml:"groups"`
		}
		if err := yaml.Unmarshal([]byte(text), &file); err != nil {
			t.Fatal(err)
		}
		for _, g := range file.Groups {
			all = append(all, g.Rules...)
		}
	}
	return all
}

// alerts are the severities of the alerts by name.
func alerts(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, r := range readRules(t) {
		if r.Alert != "" {
			out[r.Alert] = r.Labels["severity"]
		}
	}
	if len(out) == 0 {
		t.Fatal("no alerts")
	}
	return out
}

// readAll reads the files of a folder by their names.
func readAll(t *testing.T, dir, pattern string) map[string]string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no files in %s (%v)", dir, err)
	}
	out := map[string]string{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		out[filepath.Base(path)] = string(text)
	}
	return out
}

// inhibition is one of Alertmanager's rules, with the names that it is about.
type inhibition struct {
	sources, targets *regexp.Regexp
	equal            []string
}

var named = regexp.MustCompile(`^alertname (=|=~) "?([^"]+)"?$`)

func readInhibitions(t *testing.T) []inhibition {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(runbookDir, "alertmanager-inhibition.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Rules []struct {
			Sources []string `yaml:"source_matchers"`
			Targets []string `yaml:"target_matchers"`
			Equal   []string `yaml:"equal"`
		} `yaml:"inhibit_rules"`
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	var out []inhibition
	for _, r := range file.Rules {
		out = append(out, inhibition{about(t, r.Sources), about(t, r.Targets), r.Equal})
	}
	return out
}

func about(t *testing.T, matchers []string) *regexp.Regexp {
	t.Helper()
	if len(matchers) != 1 || !named.MatchString(matchers[0]) {
		t.Fatalf("%q is not one matcher of an alert's name", matchers)
	}
	return regexp.MustCompile("^(?:" + named.FindStringSubmatch(matchers[0])[2] + ")$")
}

// mutes are the alerts that each alert mutes.
func mutes(t *testing.T) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for _, i := range readInhibitions(t) {
		for source := range alerts(t) {
			if !i.sources.MatchString(source) {
				continue
			}
			for muted := range alerts(t) {
				if i.targets.MatchString(muted) {
					out[source] = append(out[source], muted)
				}
			}
		}
	}
	return out
}

// board is what is read of a dashboard.
type board struct {
	UID    string `json:"uid"`
	Schema int    `json:"schemaVersion"`
	Panels []pane `json:"panels"`
}

type pane struct {
	ID          int     `json:"id"`
	Type        string  `json:"type"`
	Title       string  `json:"title"`
	Description string  `json:"description"`
	Place       place   `json:"gridPos"`
	Source      source  `json:"datasource"`
	Targets     []asked `json:"targets"`
}

type place struct{ X, Y, W, H int }

type source struct {
	UID string `json:"uid"`
}

type asked struct {
	Ref    string `json:"refId"`
	Expr   string `json:"expr"`
	Source source `json:"datasource"`
}

func readBoards(t *testing.T) map[string]board {
	t.Helper()
	out := map[string]board{}
	for name, text := range readAll(t, dashboardDir, "*.json") {
		var b board
		decoder := json.NewDecoder(strings.NewReader(text))
		if err := decoder.Decode(&b); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out[name] = b
	}
	return out
}
