//go:build integration

package upgrade_test

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/test/campaign"
	"github.com/rollcall-dev/rollcall/test/fleet"
	"github.com/rollcall-dev/rollcall/test/stack"
	"github.com/rollcall-dev/rollcall/test/stack/stacktest"
)

// envFrom names the commit that is upgraded from.
const (
	envFrom     = "UPGRADE_FROM"
	defaultFrom = "HEAD~1"
)

var full = flag.Bool("full", false, "four times as long, with as many codes as the demo")

// TestRollingUpgradeAndBack starts an earlier commit's processes, replaces them
// one by one by this one's while staff come and go and customers scan, and then
// back: no list is lost or stale, and every process ends in good order.
func TestRollingUpgradeAndBack(t *testing.T) {
	from := commit(t, cmp.Or(os.Getenv(envFrom), defaultFrom))
	earlier, here := buildEarlier(t, from), buildHere(t)
	t.Logf("from %s to %s and back", saysOf(t, earlier), saysOf(t, here))

	o := campaign.Defaults()
	o.Tenants, o.Codes, o.Staff, o.StormCodes, o.Duration, o.ScanRate = 6, 120, 60, 0, 18*time.Second, 10
	o.Refreshers, o.Keepers, o.Kill = 3, 2, false
	if *full {
		o.Tenants, o.Codes, o.Staff, o.StormCodes, o.Duration = 20, 600, 240, 200, 72*time.Second
	}
	o.Binary, o.LogDir = earlier, logs(t)
	o.Rolls = []campaign.Roll{{To: "this commit", Launcher: fleet.Program(here)}, {To: "the earlier one", Launcher: fleet.Program(earlier)}}
	o.Servers = stack.Addresses{
		PulsarURL: stacktest.PulsarURL(t), PulsarAdminURL: stacktest.PulsarAdminURL(t),
		MongoURI: stacktest.MongoURI(t), RedisURL: stacktest.RedisURL(t),
	}
	var live bytes.Buffer
	o.Live = &live
	report, err := campaign.Run(t.Context(), o)
	if err != nil {
		t.Fatalf("%v\n%s", err, live.String())
	}
	var printed strings.Builder
	report.Print(&printed)
	t.Logf("\n%s", printed.String())
	judge(t, report, live.String())
}

// logs is a folder that outlives the test, and does not keep an earlier run's.
func logs(t *testing.T) string {
	t.Helper()
	dir := filepath.Join("..", "..", ".run", "upgrade")
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o700)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// processes are those of one version: refreshers, ingresses, keepers.
const processes = 3 + 2 + 2

func judge(t *testing.T, r campaign.Report, story string) {
	t.Helper()
	if faults := r.Faults(); len(faults) > 0 {
		t.Errorf("broke %v; logs in .run/upgrade\n%s", faults, story)
	}
	if r.FreshnessStill.Count == 0 || r.Scans == 0 {
		t.Errorf("%d lists outside of rolls, %d scans: there was no load", r.FreshnessStill.Count, r.Scans)
	}
	if len(r.Rolls) != 2 {
		t.Fatalf("%d rolls, want there and back", len(r.Rolls))
	}
	for _, roll := range r.Rolls {
		if roll.Replaced != processes || roll.Freshness.Count == 0 {
			t.Errorf("the roll to %s replaced %d processes, want %d, while %d lists changed", roll.To, roll.Replaced, processes, roll.Freshness.Count)
		}
	}
}

// commit returns the full name of a commit of this history.
func commit(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "git", "rev-parse", "--verify", "--quiet", name+"^{commit}").Output()
	if err != nil {
		t.Fatalf("%s is no commit that is known here, so there is nothing to upgrade from.\n"+
			"A shallow clone has no history: git fetch --unshallow, or name a commit or tag in %s.", name, envFrom)
	}
	return strings.TrimSpace(string(out))
}

// buildEarlier builds the program of a commit from the files it had.
func buildEarlier(t *testing.T, commit string) string {
	t.Helper()
	dir := t.TempDir()
	source := filepath.Join(dir, "source")
	if err := os.Mkdir(source, 0o700); err != nil {
		t.Fatal(err)
	}
	files := filepath.Join(dir, "source.tar")
	run(t, "../..", "git", "archive", "--output", files, commit)
	run(t, source, "tar", "-xf", files)
	return build(t, source, commit[:12])
}

func buildHere(t *testing.T) string {
	t.Helper()
	return build(t, "../..", "this-one")
}

// build builds the program as the image has it.
func build(t *testing.T, source, version string) string {
	t.Helper()
	t.Setenv("CGO_ENABLED", "0")
	binary := filepath.Join(t.TempDir(), "rollcall")
	run(t, source, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-X main.version="+version, "-o", binary, "./cmd/rollcall")
	return binary
}

// saysOf is the version that a program tells, which is how a person would look
// what runs.
func saysOf(t *testing.T, binary string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), binary, "version").Output()
	if err != nil {
		t.Fatal(fmt.Errorf("ask %s for its version: %w", binary, err))
	}
	words := strings.Fields(string(out))
	return words[1]
}

func run(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}
