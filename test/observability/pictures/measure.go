package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/rollcall-dev/rollcall/internal/adapter/redisbudget"
	"github.com/rollcall-dev/rollcall/internal/wecomsim/fault"
	"github.com/rollcall-dev/rollcall/test/campaign"
	"github.com/rollcall-dev/rollcall/test/fleet"
	"github.com/rollcall-dev/rollcall/test/observability"
	"github.com/rollcall-dev/rollcall/test/observability/picture"
	"github.com/rollcall-dev/rollcall/test/stack"
)

type options struct {
	dashboards, rules, out, data string
	length                       time.Duration
}

const (
	observed = 3 * time.Minute
	every    = time.Second // between two scrapes
	// rateInterval is the window of rates: Grafana's would be four scrapes, too
	// few for a line that can be read.
	rateInterval = 12 * time.Second
)

// measurements are the results of all queries.
type measurements struct {
	From, To time.Time
	Results  []result
}

// result of one query.
type result struct {
	Board string
	picture.Query
	Series []observability.Series
}

func (m measurements) of(board string) map[picture.Query][]observability.Series {
	found := map[picture.Query][]observability.Series{}
	for _, r := range m.Results {
		if r.Board == board {
			found[r.Query] = r.Series
		}
	}
	return found
}

// measure plays a demo and asks every query of the dashboards.
func (o options) measure(ctx context.Context, boards map[string]observability.Dashboard) (m measurements, err error) {
	dir, err := os.MkdirTemp("", "rollcall-pictures-*")
	if err != nil {
		return m, err
	}
	rules, err := observability.ReadRules(o.rules)
	if err != nil {
		return m, err
	}
	var members atomic.Pointer[fleet.Fleet]
	p, err := observability.StartPrometheus(ctx, observability.PrometheusOptions{
		Dir: dir, Every: every, Rules: rules, Targets: func() []observability.ScrapeTarget { return targets(members.Load()) },
	})
	if err != nil {
		return m, err
	}
	defer func() {
		if err = errors.Join(err, p.Stop(ctx)); err == nil {
			err = os.RemoveAll(dir)
		}
	}()
	if m.From, m.To, err = o.play(ctx, dir, members.Store); err != nil {
		return m, fmt.Errorf("%w; the logs are in %s", err, dir)
	}
	for name, board := range boards {
		asked, err := ask(ctx, p, name, board, m.From, m.To)
		if err != nil {
			return m, err
		}
		m.Results = append(m.Results, asked...)
	}
	return m, nil
}

func targets(f *fleet.Fleet) (found []observability.ScrapeTarget) {
	if f == nil {
		return nil
	}
	for _, member := range f.Members() {
		found = append(found, observability.ScrapeTarget{Address: member.Ops()})
	}
	return found
}

// play plays a demo with a storm, in which a refresher and an ingress die and
// WeCom blocks two companies for a while.
func (o options) play(ctx context.Context, dir string, watch func(*fleet.Fleet)) (from, to time.Time, err error) {
	binary := filepath.Join(dir, "rollcall")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", binary, "./cmd/rollcall").CombinedOutput(); err != nil {
		return from, to, fmt.Errorf("build rollcall: %w\n%s", err, out)
	}
	servers, err := stack.Start(ctx, stack.Options{})
	if err != nil {
		return from, to, err
	}
	defer func() { err = errors.Join(err, servers.Stop(context.WithoutCancel(ctx))) }()
	c := campaign.Defaults()
	c.Tenants, c.Codes, c.Staff, c.StormCodes, c.ScanRate = 10, 200, 120, 80, 4 // with more scans nobody may take another customer at the end
	c.Budget.PerMinute, c.Budget.PerHour, c.Budget.Burst = 100, 800, 40         // far less than the storm asks for
	c.Env = []string{                                                           // for lines of minutes that are drawn by the second
		"ROLLCALL_KEEPER_WATCH=1s", "ROLLCALL_KEEPER_CENSUS=1s", "ROLLCALL_REFRESHER_PARK_AFTER=6s", "ROLLCALL_BUDGET_DELAY=1s", "ROLLCALL_REFRESHER_MAX_HOLD=3s",
	}
	c.Binary, c.Servers, c.LogDir, c.Live, c.Logger = binary, servers.Addresses, dir, os.Stdout, slog.New(slog.DiscardHandler)
	c.Watch = watch
	var failed error
	playing, over := context.WithCancel(ctx)
	defer over()
	c.Direct = func(ctx context.Context, s campaign.Scene) error {
		defer over() // nobody judges the demo
		from = time.Now()
		failed = o.direct(ctx, s)
		to = time.Now()
		return failed
	}
	if _, err = campaign.Run(playing, c); errors.Is(err, context.Canceled) {
		err = errors.Join(failed, ctx.Err())
	}
	return from, to, err
}

func (o options) direct(ctx context.Context, s campaign.Scene) error {
	sleep(ctx, o.length/3)
	for _, role := range []string{"refresher", "ingress"} {
		if err := s.Fleet.Replace(ctx, role); err != nil {
			return err
		}
	}
	sleep(ctx, o.length/4)
	var blocked []string
	for _, tenant := range s.Tenants[:2] {
		id, err := s.Sim.AddFault(fault.Rule{
			API: "update_contact_way", Corp: s.Corp(tenant), Action: fault.ErrCode, ErrCode: redisbudget.ErrCodeFrequency,
		})
		if err != nil {
			return err
		}
		blocked = append(blocked, id)
	}
	sleep(ctx, o.length/12)
	for _, id := range blocked {
		s.Sim.RemoveFault(id)
	}
	sleep(ctx, o.length/3)
	return ctx.Err()
}

func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// ask evaluates the queries of a dashboard.
func ask(ctx context.Context, p *observability.Prometheus, name string, board observability.Dashboard, from, to time.Time) (found []result, err error) {
	values, err := board.Values(ctx, p, rateInterval, to.Sub(from))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	for _, panel := range board.Figures() {
		for _, target := range panel.Targets {
			expr, err := observability.Substitute(target.Expr, values)
			if err != nil {
				return nil, fmt.Errorf("%s: %s: %w", name, panel.Title, err)
			}
			r := result{Board: name, Query: picture.Query{Panel: panel.ID, RefID: target.RefID}}
			if target.Instant {
				r.Series, err = p.Query(ctx, expr, to)
			} else {
				r.Series, err = p.Range(ctx, expr, from, to, every)
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %s: %w", name, panel.Title, err)
			}
			found = append(found, r)
		}
	}
	return found, nil
}
