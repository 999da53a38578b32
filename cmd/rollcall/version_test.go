package main

import (
	"regexp"
	"testing"
)

func TestBuildNamesItself(t *testing.T) {
	for _, tc := range []struct {
		b    build
		want string
	}{
		{build{version: "v1.2.3", commit: "0123456789ab", date: "2026-02-03"}, `^v1\.2\.3 \(commit 0123456789ab of 2026-02-03, go\S+, \w+/\w+\)$`},
		{build{version: "v1.2.3", commit: "0123456789ab"}, `^v1\.2\.3 \(commit 0123456789ab, go\S+, \w+/\w+\)$`},
		{build{commit: "0123456789ab", changed: "+changes"}.named(), `^development \(commit 0123456789ab\+changes, go\S+, \w+/\w+\)$`},
	} {
		if got := tc.b.String(); !regexp.MustCompile(tc.want).MatchString(got) {
			t.Errorf("%q does not match %s", got, tc.want)
		}
	}
}

func TestLinkedVersionWins(t *testing.T) {
	before := version
	t.Cleanup(func() { version = before })
	version = "v9.8.7"
	if got := readBuild().version; got != "v9.8.7" {
		t.Errorf("version %s", got)
	}
}
