package config

import (
	"regexp"
	"strings"
	"testing"
)

// The reference is only as good as its tags: every variable has all it needs.
func TestEveryVariableIsDescribed(t *testing.T) {
	wellFormed := regexp.MustCompile(`^ROLLCALL(_[A-Z0-9]+)+$`)
	seen := map[string]bool{}
	for _, section := range Reference() {
		if section.About == "" {
			t.Errorf("%s says nothing about itself", section.Concern)
		}
		for _, v := range section.Variables {
			switch {
			case !wellFormed.MatchString(v.Name):
				t.Errorf("%s: not a name", v.Name)
			case seen[v.Name]:
				t.Errorf("%s: twice", v.Name)
			case !strings.HasSuffix(v.What, "."):
				t.Errorf("%s: %q is not a sentence", v.Name, v.What)
			case v.Accepted == "" || v.Type == "":
				t.Errorf("%s: accepted %q, type %q", v.Name, v.Accepted, v.Type)
			case v.Required && v.Default != "":
				t.Errorf("%s: required and with a default", v.Name)
			}
			seen[v.Name] = true
		}
	}
	if len(seen) < 50 {
		t.Errorf("%d variables, want all", len(seen))
	}
}

func TestReferenceOfOneVariable(t *testing.T) {
	want := Variable{
		Name:     "ROLLCALL_REFRESHER_INSTANCE",
		Type:     "text",
		Default:  "host name and process ID",
		Computed: true,
		Accepted: "letters, digits, '.', '_', '-'; at most 100",
		What:     "A name for this process in announcements of pushes and in logs; unique among the instances.",
	}
	for _, section := range Reference() {
		for _, v := range section.Variables {
			if v.Name == want.Name && v != want {
				t.Errorf("%+v, want %+v", v, want)
			}
		}
	}
}

func TestTypesInTheOperatorsWords(t *testing.T) {
	want := map[string]string{
		"ROLLCALL_PULSAR_URL":           "URL",
		"ROLLCALL_PULSAR_TOKEN":         "secret",
		"ROLLCALL_WECOM_TOKEN_KEY":      "secret",
		"ROLLCALL_MONGODB_URI":          "secret URL",
		"ROLLCALL_REFRESHER_WORKERS":    "integer",
		"ROLLCALL_BUDGET_REMOVAL_SHARE": "number",
		"ROLLCALL_BUDGET_DELAY":         "duration",
		"ROLLCALL_LANE_FAST_TIERS":      "list",
		"ROLLCALL_LOG_LEVEL":            "text",
	}
	for _, section := range Reference() {
		for _, v := range section.Variables {
			if w, ok := want[v.Name]; ok && v.Type != w {
				t.Errorf("%s is %q, want %q", v.Name, v.Type, w)
			}
		}
	}
}
