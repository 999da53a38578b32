package config

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

const prefix = "ROLLCALL_"

// serviceLink matches what Kubernetes puts into the environment of every
// container for a Service whose name begins with "rollcall". Nobody set these.
var serviceLink = regexp.MustCompile(`_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT|PORT_\d+_(TCP|UDP|SCTP)(_\w+)?)$`)

// Warnings names the ROLLCALL_ variables of an environment (os.Environ) that
// Rollcall does not know, each with the nearest name it does know. Values are
// never shown: an unknown variable may be a mistyped secret.
func Warnings(environ []string) []string {
	known := make([]string, 0, 64)
	for _, f := range fields(&Config{}) {
		known = append(known, f.Name)
	}
	var warnings []string
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, prefix) || slices.Contains(known, name) || serviceLink.MatchString(name) {
			continue
		}
		warning := name + " is not a variable of Rollcall"
		if near := Nearest(name, known); near != "" {
			warning += fmt.Sprintf("; did you mean %s?", near)
		}
		warnings = append(warnings, warning)
	}
	slices.Sort(warnings)
	return warnings
}
