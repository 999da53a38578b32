//go:build integration

package campaign_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/test/campaign"
	"github.com/rollcall-dev/rollcall/test/stack"
	"github.com/rollcall-dev/rollcall/test/stack/stacktest"
)

// TestShortCampaign plays the demo in small, with a kill in the middle: it
// breaks no promise, and no process of it writes a secret to its log or its
// traces, which go to the same file here.
func TestShortCampaign(t *testing.T) {
	o := campaign.Defaults()
	o.Tenants, o.Codes, o.Staff, o.StormCodes, o.Duration, o.ScanRate = 6, 120, 60, 80, 20*time.Second, 20
	o.Binary = build(t)
	o.LogDir = t.TempDir()
	o.Servers = stack.Addresses{
		PulsarURL: stacktest.PulsarURL(t), PulsarAdminURL: stacktest.PulsarAdminURL(t),
		MongoURI: stacktest.MongoURI(t), RedisURL: stacktest.RedisURL(t),
	}
	o.Env = []string{"ROLLCALL_LOG_LEVEL=debug", "OTEL_TRACES_EXPORTER=console"}
	secrets := []string{"access_token=", "corpsecret="}
	o.Secret = func(s string) { secrets = append(secrets, s) }
	var live bytes.Buffer
	o.Live = &live

	report, err := campaign.Run(t.Context(), o)
	if err != nil {
		t.Fatalf("%v\n%s", err, live.String())
	}
	var printed strings.Builder
	report.Print(&printed)
	t.Logf("\n%s", printed.String())
	if faults := report.Faults(); len(faults) > 0 {
		t.Errorf("broke %v\n%s", faults, live.String())
	}
	if report.Answers45009 > 0 {
		t.Errorf("%d answers of 45009 by our own pace", report.Answers45009)
	}
	if report.Killed != 2 || report.Pushes == 0 || report.Scans == 0 {
		t.Errorf("killed %d, pushes %d, scans %d: the campaign was not played", report.Killed, report.Pushes, report.Scans)
	}
	wantNoSecrets(t, o.LogDir, secrets)
}

func build(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "rollcall")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "../../cmd/rollcall")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build rollcall: %v\n%s", err, out)
	}
	return binary
}

func wantNoSecrets(t *testing.T, dir string, secrets []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.log"))
	if err != nil || len(files) < 4 {
		t.Fatalf("%d logs, %v; want those of refreshers, ingresses and a keeper", len(files), err)
	}
	spans := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		spans += bytes.Count(text, []byte(`"SpanContext"`))
		for _, secret := range secrets {
			if at := bytes.Index(text, []byte(secret)); at >= 0 {
				t.Errorf("%s holds a secret at byte %d", filepath.Base(file), at)
			}
		}
	}
	if spans == 0 {
		t.Error("no span in any log: the traces were not looked at")
	}
}
