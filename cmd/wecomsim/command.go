package main

import (
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rollcall-dev/rollcall/internal/wecomsim"
	"github.com/rollcall-dev/rollcall/internal/wecomsim/limits"
)

// settings are the flags of the process.
type settings struct {
	addr        string
	controlAddr string
	load        string
	seed        uint64
	keep        int
	provider    bool
	unlimited   bool
	p50, p99    time.Duration
	propagation time.Duration
	logLevel    string
}

const longHelp = `wecomsim plays WeCom: the calls of contact ways with tokens, member checks and
frequency limits, the customers who scan the codes, and the callbacks.

Point your client's base URL at --addr. Corps, staff, faults, limits and scans
are set through the control API on --control-addr, or at the start from the
JSON document of --load. Each flag can also be given as an environment
variable: --control-addr as WECOMSIM_CONTROL_ADDR.`

const example = `  wecomsim
  wecomsim --latency-p50 40ms --latency-p99 300ms --load world.json
  curl -X PUT localhost:8091/control/v1/corps/ww1 -d '{"apps":[{"secret":"s"}],"open_roster":true}'
  curl 'localhost:8090/cgi-bin/gettoken?corpid=ww1&corpsecret=s'
  curl 'localhost:8091/control/v1/ledger/peaks?by=corp&window=60s'`

func newCommand() *cobra.Command {
	var set settings
	cmd := &cobra.Command{
		Use: "wecomsim", Short: "A WeCom to test against", Long: longHelp, Example: example,
		Args: cobra.NoArgs, SilenceUsage: true, SilenceErrors: true,
		PreRunE: func(cmd *cobra.Command, _ []string) error { return fromEnvironment(cmd.Flags()) },
		RunE: func(cmd *cobra.Command, _ []string) error {
			logger, err := newLogger(cmd, set.logLevel)
			if err != nil {
				return err
			}
			return run(cmd.Context(), set, logger)
		},
	}
	f := cmd.Flags()
	f.StringVar(&set.addr, "addr", "127.0.0.1:8090", "address of WeCom's API")
	f.StringVar(&set.controlAddr, "control-addr", "127.0.0.1:8091", "address of the control API; it knows no authentication")
	f.StringVar(&set.load, "load", "", "JSON `file` with corps, staff and contact ways to begin with")
	f.Uint64Var(&set.seed, "seed", 1, "makes latencies, faults and picks repeatable")
	f.IntVar(&set.keep, "keep", 1_000_000, "newest calls and scans to keep; 0 keeps all")
	f.BoolVar(&set.provider, "provider", false, "IP limits of a third-party provider, twice those of an own app")
	f.BoolVar(&set.unlimited, "unlimited", false, "no frequency limits at all")
	f.DurationVar(&set.p50, "latency-p50", 0, "median latency of a call")
	f.DurationVar(&set.p99, "latency-p99", 0, "99th percentile of the latency; 0 makes it constant")
	f.DurationVar(&set.propagation, "propagation", 0, "how long after an update customers meet the old list")
	f.StringVar(&set.logLevel, "log-level", "info", "debug, info, warn or error")
	cmd.MarkFlagsMutuallyExclusive("provider", "unlimited")
	return cmd
}

// fromEnvironment sets the flags that were not given from WECOMSIM_*.
func fromEnvironment(flags *pflag.FlagSet) error {
	var bad error
	flags.VisitAll(func(f *pflag.Flag) {
		name := "WECOMSIM_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		text, found := os.LookupEnv(name)
		if !found || f.Changed || f.Name == "help" || bad != nil {
			return
		}
		if err := flags.Set(f.Name, text); err != nil {
			bad = fmt.Errorf("%s: %w", name, err)
		}
	})
	return bad
}

func newLogger(cmd *cobra.Command, level string) (*slog.Logger, error) {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		return nil, fmt.Errorf("--log-level %q: it is debug, info, warn or error", level)
	}
	return slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), &slog.HandlerOptions{Level: l})), nil
}

// newSim makes the Sim of the flags.
func (set settings) newSim(logger *slog.Logger) (*wecomsim.Sim, error) {
	config := limits.Documented()
	switch {
	case set.unlimited:
		config = limits.Config{}
	case set.provider:
		config = limits.Provider()
	}
	if set.keep < 0 {
		return nil, fmt.Errorf("--keep %d: it must not be negative", set.keep)
	}
	sim := wecomsim.New(wecomsim.Options{Seed: set.seed, Keep: set.keep, Limits: &config, Logger: logger})
	if err := sim.SetLatency(wecomsim.Latency{P50: set.p50, P99: set.p99}); err != nil {
		sim.Close()
		return nil, fmt.Errorf("--latency-p50 %v, --latency-p99 %v: %w", set.p50, set.p99, err)
	}
	if err := sim.SetQuirks(wecomsim.Quirks{Propagation: set.propagation}); err != nil {
		sim.Close()
		return nil, fmt.Errorf("--propagation %v: %w", set.propagation, err)
	}
	return sim, nil
}
