package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/spf13/cobra"

	"github.com/rollcall-dev/rollcall/internal/board"
	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/ident"
	"github.com/rollcall-dev/rollcall/internal/service"
)

// minInterval keeps a watch from being a load.
const minInterval = 500 * time.Millisecond

// statusOrder is what is to be shown, and how.
type statusOrder struct {
	watch, exitCode bool
	interval        time.Duration
	tenant, output  string
}

func newStatusCommand() *cobra.Command {
	o := statusOrder{interval: 2 * time.Second}
	cmd := &cobra.Command{
		Use:     "status",
		GroupID: groupOperator,
		Short:   "Show on one screen what is wrong now, and how the work goes",
		Long: `Shows the incidents that are open, each with the runbook that fits; then freshness
against its objective, the work in the refreshers, the dirty set, what the broker says of
the subscription, which tenants use their budget up, the fan-outs under way and the
processes. It needs no Prometheus: the processes tell of themselves in Redis. A part whose
server is away says so; the others are shown all the same (docs/status.md).

With --exit-code the exit status is 1 when an incident pages.`,
		Example: `  rollcall status
  rollcall status --watch
  rollcall status --tenant acme
  rollcall status -o json --exit-code`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := errors.Join(o.check(), checkOutput(cmd, o.output)); err != nil {
				return err
			}
			cfg, err := loadConfig(cmd, config.NeedMongoDB, config.NeedRedis)
			if err != nil {
				return err
			}
			return showStatus(cmd, cfg, o)
		},
	}
	cmd.Flags().BoolVar(&o.watch, "watch", false, "show it again and again, until interrupted")
	cmd.Flags().DurationVar(&o.interval, "interval", o.interval, "time between two looks of --watch")
	cmd.Flags().BoolVar(&o.exitCode, "exit-code", false, "end with exit status 1 when an incident pages")
	cmd.Flags().StringVar(&o.tenant, "tenant", "", "show one tenant's calls over a day as well")
	cmd.MarkFlagsMutuallyExclusive("watch", "exit-code")
	addOutput(cmd, &o.output)
	return cmd
}

func (o statusOrder) check() error {
	switch {
	case o.interval < minInterval:
		return fmt.Errorf("--interval is %v; want %v or more", o.interval, minInterval)
	case o.tenant != "" && !ident.Tenant(o.tenant):
		return fmt.Errorf("--tenant %q cannot be a tenant's ID", o.tenant)
	}
	return nil
}

func showStatus(cmd *cobra.Command, cfg config.Config, o statusOrder) error {
	ctx := cmd.Context()
	redis.SetLogger(silentRedis{}) // what goes wrong is on the screen
	status, err := service.OpenStatus(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { _ = status.Close(context.WithoutCancel(ctx)) }() // the process ends with the command
	look := func(ctx context.Context) (shownStatus, error) { return lookOnce(ctx, status, o.tenant) }
	if o.watch {
		return watchStatus(ctx, newFrames(cmd.OutOrStdout()), look, o)
	}
	seen, err := look(ctx)
	if err != nil {
		return err
	}
	text, err := seen.text(o.output)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(cmd.OutOrStdout(), text); err != nil {
		return err
	}
	if o.exitCode && board.Pages(seen.Incidents) {
		return fmt.Errorf("an incident pages: %s", seen.Incidents[0].Text)
	}
	return nil
}

// silentRedis keeps the driver from writing into the screen.
type silentRedis struct{}

// Printf says nothing.
func (silentRedis) Printf(context.Context, string, ...any) {}

// shownStatus is a view, and one tenant's calls when they are asked for. Its
// names are those of the JSON.
type shownStatus struct {
	board.View
	Tenant *tenantCalls `json:"tenant,omitempty"`
}

// tenantCalls is the budget of a tenant over time.
type tenantCalls struct {
	Tenant  string         `json:"tenant"`
	Minutes []board.Minute `json:"minutes"`         // of a day, in which it asked for calls
	Cause   string         `json:"cause,omitempty"` // why they could not be read
}

func lookOnce(ctx context.Context, status *service.Status, tenant string) (shownStatus, error) {
	view, err := status.View(ctx)
	seen := shownStatus{View: view}
	if tenant != "" && err == nil {
		seen.Tenant = &tenantCalls{Tenant: tenant, Minutes: []board.Minute{}}
		minutes, failed := status.Use(ctx, tenant, view.At.Add(-24*time.Hour))
		if failed != nil {
			seen.Tenant.Cause = shortened(failed.Error())
		}
		seen.Tenant.Minutes = append(seen.Tenant.Minutes, minutes...)
	}
	return seen, err
}

// text is the view as it is printed.
func (s shownStatus) text(output string) (string, error) {
	if output == outputJSON {
		var b strings.Builder
		err := printJSON(&b, s)
		return b.String(), err
	}
	return statusScreen(s), nil
}

// watchStatus shows what look sees until ctx ends, which is how it is ended.
func watchStatus(ctx context.Context, to *frames, look func(context.Context) (shownStatus, error), o statusOrder) error {
	tick := time.NewTicker(o.interval)
	defer tick.Stop()
	for {
		seen, err := look(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		text, err := seen.text(o.output)
		if err != nil {
			return err
		}
		if err := to.show(text); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}
