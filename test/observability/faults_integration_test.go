//go:build integration

package observability

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/rollcall-dev/rollcall/internal/adapter/redisbudget"
	"github.com/rollcall-dev/rollcall/internal/wecomsim/fault"
	"github.com/rollcall-dev/rollcall/test/campaign"
)

// staged is a fault with the alerts that a person is told of, those that
// another one explains not among them.
type staged struct {
	name  string
	begin func(*theatre, context.Context) (end func(context.Context) error, err error)
	// tells are the alerts while the fault lasts: exactly these.
	tells []string
	// after are those that may follow when it is over, with the reason.
	after map[string]string
}

const updateAPI = "update_contact_way"

// late are the alerts that may follow whatever made codes wait.
var late = map[string]string{
	"RollcallFreshnessBurnFast": "what waited is pushed late, and that is when it is measured",
	"RollcallFreshnessBurnSlow": "the same; it lasts as long as its short window of six hours, and nobody waits for its end",
}

// aside are alerts that may be told at any time, and are not waited for.
var aside = map[string]string{
	"RollcallDivergence": "the audit comes by while codes wait, and its bound is not scaled as the rest is; an outage explains it, says its runbook, for an hour",
}

// awaited reports whether a test waits for an alert's end.
func awaited(a Alert) bool {
	return aside[a.Name()] == "" && a.Name() != "RollcallFreshnessBurnSlow"
}

var faults = []staged{
	{
		name: "the broker is down", begin: (*theatre).stopBroker,
		tells: []string{"RollcallBrokerDown"},
		after: with(late, "RollcallConsumerStuck", "the refreshers connect again one after the other, at the client's pace, which is not scaled"),
	},
	{
		name: "two tenants are blocked (45009)", begin: answering(fault.Rule{Action: fault.ErrCode, ErrCode: redisbudget.ErrCodeFrequency}, 2),
		tells: []string{"RollcallTenantBlocked"},
		after: late,
	},
	{
		name: "WeCom answers 502", begin: answering(fault.Rule{Action: fault.Status, Status: 502}, 0),
		tells: []string{"RollcallVendorFailing"},
		after: with(late, "RollcallDirtyGrowing", "what failed too often comes back at its tenant's pace, and growth is looked for in the last half hour"),
	},
	{
		name: "a consumer is stuck (SIGSTOP)", begin: (*theatre).freeze,
		tells: []string{"RollcallConsumerStuck", "RollcallInstanceDown"},
		after: late,
	},
	{
		name: "the dirty set grows", begin: answering(fault.Rule{Action: fault.ErrCode, ErrCode: 99999}, 0),
		tells: []string{"RollcallDirtyGrowing"},
		after: late,
	},
}

// The patience with which alerts are waited for, in the time of the test.
const (
	calmFor  = 12 * time.Second // nothing fires so long before the first fault
	dwell    = 4 * time.Second  // how long a fault goes on when its alerts are there
	patience = 100 * time.Second
)

// groupWait is how long Alertmanager waits before it tells: a minute of the rules'
// time.
var groupWait = time.Duration(float64(time.Minute) / scale.Factor)

// TestFaultsAndTheirAlerts stages faults against the real parts of a demo. Of
// each a person is told by exactly the alerts that are expected, and they clear
// after it.
func TestFaultsAndTheirAlerts(t *testing.T) {
	inhibit, err := ReadInhibitions(*inhibitions)
	if err != nil {
		t.Fatal(err)
	}
	o := smallDemo(t)
	o.Codes = 240                                              // so many that a hundred more may become dirty although some wait for somebody to be left
	o.ScanRate = 0.3                                           // more, and after minutes nobody may take another customer, and no list changes
	o.Env = append(o.Env, "ROLLCALL_REFRESHER_MAX_FAILURES=2") // parked in a second, as eight failures are in two minutes
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o.Direct = func(ctx context.Context, s campaign.Scene) error {
		defer cancel() // nobody judges the demo
		th := &theatre{T: t, Scene: s, inhibit: inhibit}
		for _, f := range faults {
			t.Run(f.name, func(t *testing.T) {
				th.T = t
				th.perform(ctx, f)
			})
		}
		th.T = t
		th.print()
		return nil
	}
	if _, err := campaign.Run(ctx, o); err != nil && ctx.Err() == nil {
		t.Fatal(err)
	}
}

// theatre is where faults are staged.
type theatre struct {
	*testing.T
	campaign.Scene
	inhibit []Inhibition
	alerts  *Alertmanager
	results []outcome
}

// outcome of one fault.
type outcome struct {
	name      string
	told      map[string]time.Duration // since the begin of the fault
	explained []string                 // fired, and another alert explained them
	followed  map[string]time.Duration // since its end
	cleared   time.Duration            // since its end
	wrong     []string
}

// perform stages a fault before a Prometheus and an Alertmanager that remember
// nothing of the one before: a burn of the freshness budget is remembered for
// days otherwise, which is right, and here minutes.
func (th *theatre) perform(ctx context.Context, f staged) {
	var err error
	if th.alerts, err = StartAlertmanager(ctx, folder(th.T), groupWait, th.inhibit); err != nil {
		th.Fatal(err)
	}
	defer func() {
		if err := th.alerts.Stop(ctx); err != nil {
			th.Error(err)
		}
	}()
	p := prometheus(th.T, th.alerts.URL, func() []ScrapeTarget { return targets(th.Fleet, map[string]string{"namespace": "demo"}) })
	defer func() {
		if err := p.Stop(ctx); err != nil {
			th.Error(err)
		}
	}()
	th.calm(ctx, p)
	th.stage(ctx, f)
}

// calm waits until everything is scraped and nothing fires for a while.
func (th *theatre) calm(ctx context.Context, p *Prometheus) {
	quiet := time.Now()
	if !th.until(ctx, patience, func(firing []Alert) bool {
		up, err := p.Query(ctx, "count(up == 1)", time.Now())
		if err != nil || len(up) == 0 || int(up[0].Points[0].Value) < len(th.Fleet.Members()) || slices.ContainsFunc(firing, awaited) {
			quiet = time.Now()
		}
		return time.Since(quiet) > calmFor
	}) {
		th.Fatalf("alerts fire without a fault: %v", th.firing(ctx))
	}
	th.alerts.Forget()
}

func (th *theatre) stage(ctx context.Context, f staged) {
	out := outcome{name: f.name, told: map[string]time.Duration{}, followed: map[string]time.Duration{}}
	explained := map[string]bool{}
	look := func(firing []Alert) {
		for _, a := range firing {
			if a.Suppressed() {
				explained[a.Name()] = true
			}
		}
	}
	began := time.Now()
	end, err := f.begin(th, ctx)
	if err != nil {
		th.Fatalf("%s: %v", f.name, err)
	}
	all := time.Time{}
	th.until(ctx, patience, func(firing []Alert) bool {
		look(firing)
		if all.IsZero() && th.toldAll(f.tells) {
			all = time.Now()
		}
		return !all.IsZero() && time.Since(all) > dwell
	})
	for name, at := range th.alerts.Notified() {
		out.told[name] = at.Sub(began)
	}
	ending := time.Now()
	if err := end(ctx); err != nil {
		th.Fatalf("%s: end it: %v", f.name, err)
	}
	ended := time.Now()
	var quiet time.Time
	cleared := th.until(ctx, patience, func(firing []Alert) bool {
		look(firing)
		if slices.ContainsFunc(firing, awaited) || time.Since(ended) < dwell {
			quiet = time.Time{}
			return false
		}
		if quiet.IsZero() {
			quiet = time.Now()
		}
		return time.Since(quiet) > dwell
	})
	out.cleared = quiet.Sub(ended)
	for name, at := range th.alerts.Notified() {
		if _, during := out.told[name]; !during {
			out.followed[name] = at.Sub(ending)
		}
	}
	for name := range explained {
		if _, told := out.told[name]; !told && out.followed[name] == 0 {
			out.explained = append(out.explained, name)
		}
	}
	slices.Sort(out.explained)
	th.judge(ctx, f, &out, cleared)
	th.results = append(th.results, out)
}

// judge compares with what is expected.
func (th *theatre) judge(ctx context.Context, f staged, out *outcome, cleared bool) {
	for _, name := range f.tells {
		if _, ok := out.told[name]; !ok {
			out.wrong = append(out.wrong, name+" is missing")
		}
	}
	for name := range out.told {
		if !slices.Contains(f.tells, name) && aside[name] == "" {
			out.wrong = append(out.wrong, name+" is none of its alerts")
		}
	}
	for name := range out.followed {
		if f.after[name] == "" && aside[name] == "" {
			out.wrong = append(out.wrong, name+" follows")
		}
	}
	if !cleared {
		out.wrong = append(out.wrong, fmt.Sprintf("does not clear: %v", th.firing(ctx)))
	}
	for _, wrong := range out.wrong {
		th.Errorf("%s: %s", f.name, wrong)
	}
}

func (th *theatre) toldAll(names []string) bool {
	told := th.alerts.Notified()
	return !slices.ContainsFunc(names, func(name string) bool { return told[name].IsZero() })
}

func (th *theatre) firing(ctx context.Context) (names []string) {
	alerts, err := th.alerts.Firing(ctx)
	if err != nil {
		return []string{err.Error()}
	}
	for _, a := range alerts {
		names = append(names, a.Name())
	}
	return names
}

// until looks at what fires a few times a second, and reports whether ok came
// true in time.
func (th *theatre) until(ctx context.Context, limit time.Duration, ok func([]Alert) bool) bool {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	tick := time.NewTicker(every / 2)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-tick.C:
		}
		if alerts, err := th.alerts.Firing(ctx); err == nil && ok(alerts) {
			return true
		}
	}
}

// print writes the table.
func (th *theatre) print() {
	var out strings.Builder
	w := table.NewWriter()
	w.SetOutputMirror(&out)
	w.SetTitle("What a person is told of a fault; a second is a minute of the rules")
	w.AppendHeader(table.Row{"fault", "told, after", "explained by these", "told when it was over", "cleared after", "others"})
	for _, r := range th.results {
		w.AppendRow(table.Row{
			r.name, listed(r.told), strings.Join(r.explained, "\n"), listed(r.followed),
			fmt.Sprintf("%.0f s", r.cleared.Seconds()), orNone(strings.Join(r.wrong, "\n")),
		})
		w.AppendSeparator()
	}
	w.SetStyle(table.StyleLight)
	w.Style().Format.Header = text.FormatDefault
	w.Render()
	th.Logf("\n%s", out.String())
}

func listed(alerts map[string]time.Duration) string {
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(alerts)) {
		lines = append(lines, fmt.Sprintf("%s, %.0f s", name, alerts[name].Seconds()))
	}
	return strings.Join(lines, "\n")
}

func with(alerts map[string]string, name, why string) map[string]string {
	more := maps.Clone(alerts)
	more[name] = why
	return more
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

func (th *theatre) stopBroker(ctx context.Context) (func(context.Context) error, error) {
	return ground.Pulsar.Start, ground.Pulsar.Stop(ctx)
}

// freeze stops a refresher as a machine that hangs does: it keeps its
// connections and the keys that it owns.
func (th *theatre) freeze(context.Context) (func(context.Context) error, error) {
	for _, m := range th.Fleet.Members() {
		if m.Role() == "refresher" {
			p, err := os.FindProcess(m.PID())
			if err != nil {
				return nil, err
			}
			return func(context.Context) error { return p.Signal(syscall.SIGCONT) }, p.Signal(syscall.SIGSTOP)
		}
	}
	return nil, fmt.Errorf("no refresher is there")
}

// answering lets WeCom answer updates of the first so many tenants by a rule; 0
// is all of them.
func answering(rule fault.Rule, tenants int) func(*theatre, context.Context) (func(context.Context) error, error) {
	return func(th *theatre, _ context.Context) (func(context.Context) error, error) {
		rule.API = updateAPI
		corps := []string{""}
		if tenants > 0 {
			corps = corps[:0]
			for _, tenant := range th.Tenants[:tenants] {
				corps = append(corps, th.Corp(tenant))
			}
		}
		var ids []string
		for _, corp := range corps {
			rule.Corp = corp
			id, err := th.Sim.AddFault(rule)
			if err != nil {
				return nil, err
			}
			ids = append(ids, id)
		}
		return func(context.Context) error {
			for _, id := range ids {
				th.Sim.RemoveFault(id)
			}
			return nil
		}, nil
	}
}
