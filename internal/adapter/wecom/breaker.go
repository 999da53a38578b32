package wecom

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/sony/gobreaker/v2"

	"github.com/rollcall-dev/rollcall/internal/push"
)

// halfOpenRetry is when to ask again while a breaker's probes are under way.
const halfOpenRetry = time.Second

// health is what the end of a call says about WeCom.
type health int

const (
	silent  health = iota // nothing: WeCom was not reached, and not by its fault
	healthy               // it answered; a refusal is an answer
	failing               // it could not be reached, did not answer, or is busy
)

// healthOf judges the end of a call.
func healthOf(err error) health {
	if err == nil {
		return healthy
	}
	callErr, isCall := errors.AsType[*push.CallError](err)
	if !isCall || ownFault(err) {
		return silent
	}
	switch {
	case callErr.ErrCode == codeBusy, callErr.Unknown, callErr.HTTPStatus >= 500:
		return failing
	case callErr.ErrCode != 0:
		return healthy
	case callErr.HTTPStatus >= 400:
		return healthy
	}
	return failing
}

// ownFault reports whether a call ended for a reason on this side.
func ownFault(err error) bool {
	if _, ok := errors.AsType[*NotBeforeError](err); ok {
		return true
	}
	for _, own := range []error{
		context.Canceled, ErrTooLate, ErrNoCredentials, errCredentialsSource,
		ErrNoMembers, ErrTooManyMembers, errClosed,
	} {
		if errors.Is(err, own) {
			return true
		}
	}
	return false
}

// errAbandoned is reported for a call that panicked; it is no CallError, so it
// says nothing of WeCom.
var errAbandoned = errors.New("the call did not return")

// breaker is a circuit breaker that knows until when it is open.
type breaker struct {
	config    breakerConfig
	circuit   *gobreaker.TwoStepCircuitBreaker[struct{}]
	until     atomic.Int64 // Unix nanoseconds; when the last opening ends
	announced atomic.Int64 // gobreaker.State of the last log line
}

// breakerConfig is what tells a tenant's breaker from the vendor's.
type breakerConfig struct {
	scope  string // label of logs and metrics
	tenant string
	window time.Duration // over which calls are counted; 0: since the last success
	open   time.Duration // how long it stays open
	probes uint32        // calls let through, all of which must succeed, before it closes
	trips  func(gobreaker.Counts) bool
}

func newBreaker(config breakerConfig) *breaker {
	b := &breaker{config: config}
	b.circuit = gobreaker.NewTwoStepCircuitBreaker[struct{}](gobreaker.Settings{
		Name:         config.scope,
		MaxRequests:  config.probes,
		Interval:     config.window,
		BucketPeriod: config.window / 10,
		Timeout:      config.open,
		ReadyToTrip:  config.trips,
		IsSuccessful: func(err error) bool { return healthOf(err) != failing },
		IsExcluded:   func(err error) bool { return healthOf(err) == silent },
		OnStateChange: func(_ string, _, state gobreaker.State) {
			if state == gobreaker.StateOpen {
				b.until.Store(time.Now().Add(config.open).UnixNano())
			}
		},
	})
	return b
}

// announce logs and counts a change of state since it was last called.
func (b *breaker) announce(ctx context.Context, endpoint *Endpoint) {
	state := b.circuit.State()
	if before := b.announced.Swap(int64(state)); before == int64(state) {
		return
	}
	endpoint.signals.breakerTurned(ctx, b.config.scope, state.String())
	endpoint.log.WarnContext(ctx, "circuit breaker turned", slog.String("scope", b.config.scope),
		slog.String("tenant", b.config.tenant), slog.String("state", state.String()))
}

// enter asks for a call to be let through; done takes its end. Refused, it
// returns until when.
func (b *breaker) enter() (done func(error), until time.Time) {
	done, err := b.circuit.Allow()
	if err == nil {
		return done, time.Time{}
	}
	return nil, b.refusedUntil(err)
}

// peek reports whether a call would be let through now, without taking the
// place of a probe.
func (b *breaker) peek() (bool, time.Time) {
	switch b.circuit.State() {
	case gobreaker.StateOpen:
		return false, b.refusedUntil(gobreaker.ErrOpenState)
	case gobreaker.StateHalfOpen:
		counts := b.circuit.Counts()
		if counts.Requests >= b.config.probes+counts.TotalExclusions {
			return false, b.refusedUntil(gobreaker.ErrTooManyRequests)
		}
	case gobreaker.StateClosed:
	}
	return true, time.Time{}
}

func (b *breaker) refusedUntil(cause error) time.Time {
	if errors.Is(cause, gobreaker.ErrTooManyRequests) {
		return time.Now().Add(halfOpenRetry)
	}
	return time.Unix(0, b.until.Load())
}
