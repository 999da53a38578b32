// Package tools owns the versions of everything Rollcall is built, linted and
// tested with that is not a Go module.
//
// It refuses to install anything: tools.mk builds the tools, package stack
// fetches the servers. Both read versions.env, so a version is raised in one
// place.
package tools

import (
	_ "embed"
	"fmt"
	"strings"
)

//go:embed versions.env
var versionsFile string

// Version returns the value of a name in versions.env, such as
// PULSAR_VERSION. A name that is not there is an error.
func Version(name string) (string, error) {
	for line := range strings.Lines(versionsFile) {
		key, value, found := strings.Cut(strings.TrimSpace(line), "=")
		if found && key == name && value != "" {
			return value, nil
		}
	}
	return "", fmt.Errorf("tools/versions.env has no version named %s", name)
}
