package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rollcall-dev/rollcall/test/campaign"
	"github.com/rollcall-dev/rollcall/test/stack"
)

// stackStopTimeout is how long the demo's servers may take to end.
const stackStopTimeout = 30 * time.Second

func newDemoCommand() *cobra.Command {
	opts := campaign.Defaults()
	var report string
	cmd := &cobra.Command{
		Use:     "demo",
		GroupID: groupOperator,
		Short:   "Play a campaign on real servers and judge it",
		Long: `The demo starts Pulsar, Redis and a stand-in for MongoDB, a simulated WeCom and
Rollcall's own processes, and plays a campaign: customers scan, staff come and go,
reach their ceilings and end their shifts, codes are edited, one tenant storms far
above its quota, and a refresher and an ingress are killed in the middle. Facts go
in through the API, draws and WeCom's encrypted callbacks through the ingress.
WeCom's windows are scaled from a minute and an hour to seconds and a minute, so
that the storm meets them. Meanwhile the console shows it in a browser: the demo says
where, and with which token.

It ends with a report, and with exit status 1 when a code differs from its facts,
a counter from what WeCom told, an event is unaccounted for, a stale list was pushed
or somebody was drawn who was at his ceiling on the code. Servers named by
ROLLCALL_PULSAR_URL, ROLLCALL_MONGODB_URI or ROLLCALL_REDIS_URL are used instead of
starting one.`,
		Example: `  rollcall demo
  rollcall demo --duration 5m --refreshers 3 --report report.json
  rollcall demo --seed 7 --storm-codes 0 --kill=false`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runDemo(cmd, opts, report) },
	}
	f := cmd.Flags()
	f.IntVar(&opts.Tenants, "tenants", opts.Tenants, "calm tenants")
	f.IntVar(&opts.Codes, "codes", opts.Codes, "live QR codes of all calm tenants together")
	f.IntVar(&opts.Staff, "staff", opts.Staff, "staff of all calm tenants together")
	f.IntVar(&opts.StormCodes, "storm-codes", opts.StormCodes, "codes of the tenant that storms; 0 for no storm")
	f.DurationVar(&opts.Duration, "duration", opts.Duration, "how long the campaign is played")
	f.Float64Var(&opts.ScanRate, "scan-rate", opts.ScanRate, "scans a second")
	f.IntVar(&opts.Refreshers, "refreshers", opts.Refreshers, "refresher processes")
	f.BoolVar(&opts.Kill, "kill", opts.Kill, "kill a refresher and an ingress in the middle")
	f.Uint64Var(&opts.Seed, "seed", opts.Seed, "seed of the world and its actors")
	f.StringVar(&report, "report", "", "write the report as JSON to this file")
	return cmd
}

func runDemo(cmd *cobra.Command, opts campaign.Options, report string) (err error) {
	ctx, out := cmd.Context(), cmd.OutOrStdout()
	if opts.Binary, err = os.Executable(); err != nil {
		return fmt.Errorf("find our own program: %w", err)
	}
	if err := opts.Validate(); err != nil {
		return err
	}
	servers, err := stack.Start(ctx, stack.Options{Progress: func(part, message string) {
		_, _ = fmt.Fprintf(out, "  %-7s %s\n", part, message)
	}})
	if err != nil {
		return fmt.Errorf("start the servers: %w", err)
	}
	defer func() {
		stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), stackStopTimeout)
		defer cancel()
		err = errors.Join(err, servers.Stop(stopping))
	}()
	opts.Servers = servers.Addresses
	opts.Live, opts.Console = out, true
	opts.Logger = slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), nil))
	if opts.LogDir, err = demoLogs(); err != nil {
		return err
	}
	result, err := campaign.Run(ctx, opts)
	if err != nil {
		return fmt.Errorf("the demo did not come to its end (logs in %s): %w", opts.LogDir, err)
	}
	result.Print(out)
	if report != "" {
		if err := result.WriteFile(report); err != nil {
			return err
		}
	}
	return verdict(result, opts.LogDir)
}

// demoLogs makes a folder for the logs of the processes, which stay when the
// demo is over.
func demoLogs() (string, error) {
	dir := filepath.Join(os.TempDir(), "rollcall-demo-"+time.Now().Format("20060102-150405"))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make a folder for the logs: %w", err)
	}
	return dir, nil
}

func verdict(r campaign.Report, logs string) error {
	if faults := r.Faults(); len(faults) > 0 {
		return fmt.Errorf("the run broke a promise: %s; logs in %s", strings.Join(faults, "; "), logs)
	}
	return nil
}
