package observability

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"go.yaml.in/yaml/v4"
)

// RuleFile is a Prometheus rule file.
type RuleFile struct {
	Groups []Group `json:"groups" yaml:"groups"`
}

// Group is rules that are evaluated one after the other.
type Group struct {
	Name     string `json:"name"               yaml:"name"`
	Interval string `json:"interval,omitempty" yaml:"interval"`
	Rules    []Rule `json:"rules"              yaml:"rules"`
}

// Rule records a series or alerts.
type Rule struct {
	Record      string            `json:"record,omitempty"      yaml:"record"`
	Alert       string            `json:"alert,omitempty"       yaml:"alert"`
	Expr        string            `json:"expr"                  yaml:"expr"`
	For         string            `json:"for,omitempty"         yaml:"for"`
	Labels      map[string]string `json:"labels,omitempty"      yaml:"labels"`
	Annotations map[string]string `json:"annotations,omitempty" yaml:"annotations"`
}

// Name is that of the alert or of the series.
func (r Rule) Name() string {
	if r.Alert != "" {
		return r.Alert
	}
	return r.Record
}

var errNoRules = errors.New("no rule files")

// ReadRules reads the rule files of a folder, *.yaml. A field it does not know
// is an error: scaling would lose it.
func ReadRules(dir string) ([]RuleFile, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("%s: %w", dir, errNoRules)
	}
	files := make([]RuleFile, 0, len(paths))
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		file, err := ParseRules(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		files = append(files, file)
	}
	return files, nil
}

// ParseRules reads a rule file.
func ParseRules(text []byte) (file RuleFile, err error) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	err = decoder.Decode(&file)
	return file, err
}

// Rules returns the file with every duration divided: intervals, the time that
// an alert waits, and those in expressions.
func (s Scale) Rules(file RuleFile) RuleFile {
	out := RuleFile{Groups: make([]Group, len(file.Groups))}
	for i, group := range file.Groups {
		group.Interval = s.Duration(group.Interval)
		rules := make([]Rule, len(group.Rules))
		for j, rule := range group.Rules {
			rule.Expr, rule.For = s.Expression(rule.Expr), s.Duration(rule.For)
			rules[j] = rule
		}
		group.Rules = rules
		out.Groups[i] = group
	}
	return out
}

// WriteRules writes the files into a folder and returns their paths. They are
// JSON, which is YAML.
func WriteRules(dir string, files []RuleFile) ([]string, error) {
	paths := make([]string, len(files))
	for i, file := range files {
		text, err := json.MarshalIndent(file, "", "  ")
		if err != nil {
			return nil, err
		}
		paths[i] = filepath.Join(dir, fmt.Sprintf("rules-%d.yaml", i+1))
		if err := os.WriteFile(paths[i], text, 0o600); err != nil {
			return nil, err
		}
	}
	return paths, nil
}
