//go:build integration

package observability

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/test/campaign"
	"github.com/rollcall-dev/rollcall/test/fleet"
	"github.com/rollcall-dev/rollcall/test/stack"
)

// What is proved.
var (
	rulesDir      = flag.String("rules", "../../charts/rollcall/files/rules", "folder of the rule files")
	dashboardsDir = flag.String("dashboards", "../../charts/rollcall/files/dashboards", "folder of the dashboards")
	keptStack     = flag.String("stack", "", "folder of a stack that is left running for the next run; a temporary one if empty")
	inhibitions   = flag.String("inhibitions", "../../docs/runbooks/alertmanager-inhibition.yaml", "file with the inhibition rules")
)

// A minute of the rules is a second here. Everything of Rollcall that has a
// setting for its time is scaled alike, see scaled.
var scale = Scale{Factor: 60, Shortest: 4 * time.Second}

// every is the time between two scrapes, and between two evaluations.
const every = time.Second

// ground is what all tests stand on.
var ground struct {
	*stack.Stack
	binary string
	dir    string
}

func TestMain(m *testing.M) {
	flag.Parse()
	status, err := onStack(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		status = 1
	}
	os.Exit(status)
}

// onStack runs the tests on a stack of their own: they stop its servers.
func onStack(m *testing.M) (status int, err error) {
	ctx := context.Background()
	if ground.dir, err = os.MkdirTemp("", "rollcall-observability-*"); err != nil {
		return 1, err
	}
	ground.binary = filepath.Join(ground.dir, "rollcall")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", ground.binary, "../../cmd/rollcall").CombinedOutput(); err != nil {
		return 1, fmt.Errorf("build rollcall: %w\n%s", err, out)
	}
	nothingGiven := func(string) string { return "" } // servers of the environment are not ours to stop
	o := stack.Options{Dir: filepath.Join(ground.dir, "stack"), Getenv: nothingGiven}
	if *keptStack != "" {
		o.Dir, o.Detached = *keptStack, true
	}
	if ground.Stack, err = stack.Start(ctx, o); err != nil {
		return 1, err
	}
	status = m.Run()
	if *keptStack == "" {
		err = ground.Stop(ctx)
	}
	if status != 0 || err != nil {
		return max(status, 1), errors.Join(err, fmt.Errorf("the logs are in %s", ground.dir))
	}
	return 0, os.RemoveAll(ground.dir)
}

// scaled are the settings of Rollcall whose defaults are times to which the
// rules' windows are made, at the scale of the rules.
func scaled() []string {
	return []string{
		"ROLLCALL_KEEPER_HEARTBEAT=200ms", // 2 s, as short as it may be
		"ROLLCALL_REFRESHER_PARK_AFTER=2s", "ROLLCALL_BUDGET_DELAY=1s",
		"ROLLCALL_REFRESHER_MAX_HOLD=1s",
		"ROLLCALL_WECOM_BREAKER_OPEN=200ms", // calls are probed in every window of the rules
		"ROLLCALL_KEEPER_WATCH=200ms",
		"ROLLCALL_KEEPER_CENSUS=500ms",
		"ROLLCALL_AUDIT_BOUND=20s", // 1 s would be less than a push takes
		"ROLLCALL_AUDIT_EVERY=5s",
	}
}

// watched is a demo under a Prometheus.
type watched struct {
	*testing.T
	*Prometheus
	options campaign.Options
	fleet   atomic.Pointer[fleet.Fleet]
}

// watch starts a Prometheus, and prepares a small demo for it to scrape.
func watch(t *testing.T) *watched {
	t.Helper()
	w := &watched{T: t, options: smallDemo(t)}
	w.options.Watch = w.fleet.Store
	w.Prometheus = prometheus(t, "", func() []ScrapeTarget { return targets(w.fleet.Load(), nil) })
	t.Cleanup(func() {
		if err := w.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	})
	return w
}

// smallDemo is one without a storm.
func smallDemo(t *testing.T) campaign.Options {
	t.Helper()
	o := campaign.Defaults()
	o.Tenants, o.Codes, o.Staff, o.StormCodes, o.ScanRate = 8, 160, 96, 0, 5
	o.Binary, o.Servers, o.LogDir, o.Logger = ground.binary, ground.Addresses, folder(t), slog.New(slog.DiscardHandler)
	o.Env = scaled()
	return o
}

// prometheus starts one with the chart's rules, scaled.
func prometheus(t *testing.T, alertmanager string, targets func() []ScrapeTarget) *Prometheus {
	t.Helper()
	rules, err := ReadRules(*rulesDir)
	if err != nil {
		t.Fatal(err)
	}
	for i := range rules {
		rules[i] = scale.Rules(rules[i])
	}
	p, err := StartPrometheus(t.Context(), PrometheusOptions{
		Dir: folder(t), Every: every, Rules: rules, Alertmanager: alertmanager, Targets: targets,
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func targets(f *fleet.Fleet, labels map[string]string) (found []ScrapeTarget) {
	if f == nil {
		return nil
	}
	for _, m := range f.Members() {
		found = append(found, ScrapeTarget{m.Ops(), labels})
	}
	return found
}

// folder is one for the logs of this test.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp(ground.dir, "demo-*") //nolint:usetesting // it stays for a test that fails
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// play plays the demo to its end.
func (w *watched) play() campaign.Report {
	w.Helper()
	report, err := campaign.Run(w.Context(), w.options)
	if err != nil {
		w.Fatal(err)
	}
	return report
}
