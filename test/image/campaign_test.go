//go:build image

package image_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/test/campaign"
)

// TestCampaignInContainers plays the demo in small with refreshers, ingresses
// and a keeper in containers, two of which are killed in the middle.
func TestCampaignInContainers(t *testing.T) {
	podman.load(t)
	o := campaign.Defaults()
	o.Tenants, o.Codes, o.Staff, o.StormCodes, o.Duration, o.ScanRate = 6, 120, 60, 80, 20*time.Second, 20
	o.Launcher, o.LogDir, o.Servers = podman, t.TempDir(), servers(t)
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
	if report.Killed != 2 || report.Pushes == 0 || report.Scans == 0 {
		t.Errorf("killed %d, pushes %d, scans %d: the campaign was not played", report.Killed, report.Pushes, report.Scans)
	}
	if left, err := podman.containers(); err != nil || len(left) > 0 {
		t.Errorf("containers %v are left, %v", left, err)
	}
	t.Logf("campaign: %d divergent codes, %d stale pushes, %d events unaccounted, %d containers killed",
		report.DivergentCodes, report.StalePushes, report.EventsUnaccounted, report.Killed)
}
