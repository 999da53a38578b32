package campaign

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/rollcall-dev/rollcall/internal/wecomsim"
	"github.com/rollcall-dev/rollcall/test/fleet"
	"github.com/rollcall-dev/rollcall/test/stack"
)

// Options of a run. Defaults returns a set that fits a laptop.
type Options struct {
	Tenants    int           // calm tenants; at least 1
	Codes      int           // of all calm tenants together; at least Tenants
	Staff      int           // of all calm tenants together; at least 8 a tenant
	StormCodes int           // codes of one more tenant that storms far above its quota; 0 is none
	Duration   time.Duration // of the play itself, without the settling
	ScanRate   float64       // scans a second over all codes
	Refreshers int           // refresher processes at the start; at least 1
	Keepers    int           // keeper processes; at least 1
	Kill       bool          // kill one refresher hard in the middle and start another
	Seed       uint64        // the same seed seeds the same world and actors

	// Binary is the rollcall program whose roles are run.
	Binary string
	// Launcher runs the roles in Binary's stead; nil is Binary.
	Launcher fleet.Launcher
	// Rolls replace all processes, one roll after the other. The play, whose
	// Duration is spread evenly around them, lasts longer by theirs.
	Rolls []Roll
	// Servers are the addresses of Pulsar, MongoDB and Redis.
	Servers stack.Addresses
	// LogDir receives a log file for each process.
	LogDir string
	// Window and Limits scale WeCom's limits to a run of a minute.
	Budget Budget
	// Latency of WeCom's calls.
	Latency wecomsim.Latency
	// Settle is how long the codes may take to come to rest afterwards.
	Settle time.Duration
	// Secret is told every secret of the run, so that a test can look for them
	// where none may be; nil is nobody.
	Secret func(string)
	// Env is added to the environment of every process, NAME=value.
	Env []string
	// Watch is told of the processes once they are ready; nil is nobody.
	Watch func(*fleet.Fleet)
	// Direct takes the place of Duration and Kill: the campaign is played until
	// it returns. nil is nobody.
	Direct func(context.Context, Scene) error
	// Live receives the live table; nil is nobody.
	Live io.Writer
	// Console has the ingresses serve the console, and tells Live where and with
	// which token it can be read.
	Console bool
	Logger  *slog.Logger
}

// Scene is what a director may disturb while a campaign is played.
type Scene struct {
	Fleet   *fleet.Fleet
	Sim     *wecomsim.Sim
	Tenants []string // the calm ones
}

// Corp is the company of a tenant at the simulated WeCom.
func (Scene) Corp(tenant string) string { return corpOf(tenant) }

// Budget is WeCom's limits, scaled: the windows are shorter and hold less.
type Budget struct {
	Minute    time.Duration // length of the short window
	Hour      time.Duration // length of the long window
	PerMinute int           // calls of a tenant in the short window
	PerHour   int           // calls of a tenant in the long window
	Burst     int           // what an idle tenant may call at once
}

// Roll replaces every process by another version's, as a Deployment with
// maxSurge 1 and maxUnavailable 0 does: one more is started, and when it is
// ready an old one is asked to drain, until none is left.
type Roll struct {
	To       string // the version, as the report calls it
	Launcher fleet.Launcher
}

// Defaults returns the options of a demo without its addresses.
func Defaults() Options {
	return Options{
		Tenants: 20, Codes: 600, Staff: 240, StormCodes: 200, Duration: time.Minute, ScanRate: 40,
		Refreshers: 2, Keepers: 1, Kill: true, Seed: 1,
		Budget:  Budget{Minute: 6 * time.Second, Hour: time.Minute, PerMinute: 300, PerHour: 1500, Burst: 120},
		Latency: wecomsim.Latency{P50: 25 * time.Millisecond, P99: 120 * time.Millisecond},
		Settle:  2 * time.Minute,
	}
}

// minStaff is the fewest staff members of a tenant with which its codes differ.
const minStaff = 8

// launcher runs the roles at the start.
func (o Options) launcher() fleet.Launcher {
	if o.Launcher != nil {
		return o.Launcher
	}
	return fleet.Program(o.Binary)
}

// Validate names every option that makes no sense.
func (o Options) Validate() error {
	var wrong []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			wrong = append(wrong, fmt.Errorf(format, args...))
		}
	}
	check(o.Tenants >= 1 && o.Tenants <= 10_000, "--tenants is %d; want 1 to 10000", o.Tenants)
	check(o.Codes >= o.Tenants, "--codes is %d; want at least one a tenant (%d)", o.Codes, o.Tenants)
	check(o.Staff >= minStaff*o.Tenants, "--staff is %d; want at least %d a tenant (%d)", o.Staff, minStaff, minStaff*o.Tenants)
	check(o.StormCodes >= 0, "--storm-codes is %d; want 0 or more", o.StormCodes)
	check(o.Duration >= 5*time.Second && o.Duration <= time.Hour, "--duration is %v; want 5s to 1h", o.Duration)
	check(o.ScanRate >= 0 && o.ScanRate <= 5000, "--scan-rate is %v; want 0 to 5000 a second", o.ScanRate)
	check(o.Refreshers >= 1 && o.Refreshers <= 16, "--refreshers is %d; want 1 to 16", o.Refreshers)
	check(o.Keepers >= 1 && o.Keepers <= 16, "%d keepers; want 1 to 16", o.Keepers)
	check(o.Binary != "" || o.Launcher != nil, "no program to run")
	return errors.Join(wrong...)
}
