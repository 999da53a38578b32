package redisbudget

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
)

// Window is one of the vendor's limits: at most Calls per Per, wherever the
// window begins.
type Window struct {
	Calls int
	Per   time.Duration
}

// Options configure a Budget. A zero field takes its default.
type Options struct {
	// Prefix goes before every key. It holds no brace: those mark the part of
	// a key that Redis Cluster hashes. Default "rollcall:".
	Prefix string
	// API names the vendor API, limits count per API. Default
	// "update_contact_way".
	API string
	// Egress names the address from which this process reaches the vendor;
	// processes behind the same address use the same name. Default "default".
	Egress string
	// Instances is how many processes share the budget. It divides the rate
	// while Redis cannot be asked. Default 1.
	Instances int

	// TenantWindows are the limits per corp, WeCom's page 90312. Default
	// 10 000 a minute and 150 000 an hour.
	TenantWindows []Window
	// TenantBurst is how many calls an idle tenant may make at once, at least
	// 2 and less than the calls of every window. Default 7 500, from which a
	// rate of 39.5/s follows.
	TenantBurst int
	// RemovalShare is the part of rate and burst that additions cannot use up,
	// above 0 and at most 0.5. Default 0.03.
	RemovalShare float64
	// IPWindows are the limits per egress address. Default 20 000 a minute and
	// 600 000 an hour.
	IPWindows []Window
	// IPBurst is TenantBurst for the address. Default 10 000.
	IPBurst int
	// IPReserveShare is the part of rate and burst of the address that tenants
	// with a full bucket of their own have before the others, above 0 and at
	// most 0.5. Default 0.1.
	IPReserveShare float64
	// CalmLevel is how full (0..1] a tenant's pair has to be for the tenant to
	// count as one below its fair share. Default 0.9.
	CalmLevel float64

	// SpareShare is the part of a tenant's and of the address's rate, above 0 and
	// at most 0.5, that calls which nobody waits for may use of what is idle.
	// Default 0.1.
	SpareShare float64

	// Delay is the longest time between the instant a call is charged for and
	// its arrival at the vendor. Default 2 s.
	Delay time.Duration
	// WireTime is the part of Delay that the request may need on its way and
	// that a caller therefore does not get. Default 300 ms.
	WireTime time.Duration
	// MinUse is the least time that an admission leaves to the caller: a slot
	// with less has lapsed. Default 200 ms.
	MinUse time.Duration
	// ParkAfter is the horizon: no slot is booked further ahead. Default 2 min.
	ParkAfter time.Duration

	// BlockFirst is how long a tenant is blocked after a 45009. Default 60 s.
	BlockFirst time.Duration
	// BlockAgain is how long after one that follows the end of a block within
	// RepeatWithin. Default 60 min.
	BlockAgain time.Duration
	// RepeatWithin is the span after a block in which a 45009 is a repetition.
	// Default 5 min.
	RepeatWithin time.Duration
	// ConcurrencyHold is the wait after a 45033. Default 1 s.
	ConcurrencyHold time.Duration

	// Timeout bounds one script call. Default 250 ms.
	Timeout time.Duration
	// RetryAfter is how long Redis is left alone after a failed call. Default 1 s.
	RetryAfter time.Duration

	Logger *slog.Logger // default slog.Default()
	Meter  metric.Meter // default the global provider's
	// Clock replaces both Redis's clock and this process's. For tests.
	Clock func() time.Time
}

func or[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}

func (o Options) withDefaults() Options {
	o.Prefix = or(o.Prefix, "rollcall:")
	o.API = or(o.API, "update_contact_way")
	o.Egress = or(o.Egress, "default")
	o.Instances = or(o.Instances, 1)
	if o.TenantWindows == nil {
		o.TenantWindows = []Window{{10_000, time.Minute}, {150_000, time.Hour}}
	}
	if o.IPWindows == nil {
		o.IPWindows = []Window{{20_000, time.Minute}, {600_000, time.Hour}}
	}
	o.TenantBurst = or(o.TenantBurst, 7_500)
	o.IPBurst = or(o.IPBurst, 10_000)
	o.RemovalShare = or(o.RemovalShare, 0.03)
	o.IPReserveShare = or(o.IPReserveShare, 0.1)
	o.SpareShare = or(o.SpareShare, 0.1)
	o.CalmLevel = or(o.CalmLevel, 0.9)
	o.Delay = or(o.Delay, 2*time.Second)
	o.WireTime = or(o.WireTime, 300*time.Millisecond)
	o.MinUse = or(o.MinUse, 200*time.Millisecond)
	o.ParkAfter = or(o.ParkAfter, 2*time.Minute)
	o.BlockFirst = or(o.BlockFirst, time.Minute)
	o.BlockAgain = or(o.BlockAgain, time.Hour)
	o.RepeatWithin = or(o.RepeatWithin, 5*time.Minute)
	o.ConcurrencyHold = or(o.ConcurrencyHold, time.Second)
	o.Timeout = or(o.Timeout, 250*time.Millisecond)
	o.RetryAfter = or(o.RetryAfter, time.Second)
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.Meter == nil {
		o.Meter = otel.Meter("github.com/rollcall-dev/rollcall/internal/adapter/redisbudget")
	}
	return o
}

// validate names every field that is out of range.
func (o Options) validate() error {
	var errs []error
	check := func(ok bool, field, want string, got any) {
		if !ok {
			errs = append(errs, fmt.Errorf("%s is %v: %s", field, got, want))
		}
	}
	check(!strings.ContainsAny(o.Prefix, "{}"), "Prefix", "must hold no brace", o.Prefix)
	check(o.Instances >= 1, "Instances", "must be at least 1", o.Instances)
	check(share(o.RemovalShare), "RemovalShare", "must be above 0 and at most 0.5", o.RemovalShare)
	check(share(o.IPReserveShare), "IPReserveShare", "must be above 0 and at most 0.5", o.IPReserveShare)
	check(share(o.SpareShare), "SpareShare", "must be above 0 and at most 0.5", o.SpareShare)
	check(o.CalmLevel > 0 && o.CalmLevel <= 1, "CalmLevel", "must be above 0 and at most 1", o.CalmLevel)
	check(o.WireTime >= 0, "WireTime", "must not be negative", o.WireTime)
	check(o.MinUse >= 0, "MinUse", "must not be negative", o.MinUse)
	check(o.Delay > o.WireTime+o.MinUse, "Delay", "must exceed WireTime + MinUse", o.Delay)
	for _, d := range []struct {
		field string
		value time.Duration
	}{
		{"ParkAfter", o.ParkAfter},
		{"BlockFirst", o.BlockFirst},
		{"BlockAgain", o.BlockAgain},
		{"RepeatWithin", o.RepeatWithin},
		{"ConcurrencyHold", o.ConcurrencyHold},
		{"Timeout", o.Timeout},
		{"RetryAfter", o.RetryAfter},
	} {
		check(d.value > 0, d.field, "must be positive", d.value)
	}
	errs = append(errs,
		o.validateWindows("Tenant", o.TenantWindows, o.TenantBurst),
		o.validateWindows("IP", o.IPWindows, o.IPBurst))
	return errors.Join(errs...)
}

func (o Options) validateWindows(whose string, windows []Window, burst int) error {
	if burst < 2 {
		return fmt.Errorf("%sBurst is %d: must be at least 2", whose, burst)
	}
	if len(windows) == 0 {
		return fmt.Errorf("%sWindows is empty: must name at least one limit", whose)
	}
	for i, w := range windows {
		if w.Per <= 0 {
			return fmt.Errorf("%sWindows[%d].Per is %v: must be positive", whose, i, w.Per)
		}
		if w.Calls <= burst+o.Instances {
			return fmt.Errorf("%sWindows[%d].Calls is %d: must exceed %sBurst + Instances, %d",
				whose, i, w.Calls, whose, burst+o.Instances)
		}
	}
	return nil
}

func share(v float64) bool { return v > 0 && v <= 0.5 }
