package httpapi

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/rollcall-dev/rollcall/internal/registry"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// unknowns are the errors of what is not there, or not within the grant's reach:
// the two are told in the same words.
var unknowns = []struct {
	err    error
	kind   code
	detail string
}{
	{registry.ErrUnknownTenant, codeUnknownTenant, "no such tenant"},
	{registry.ErrUnknownStaff, codeUnknownStaff, "the tenant has no such staff member"},
	{registry.ErrUnknownCode, codeUnknownCode, "the tenant has no such code"},
	{ErrUnknownFanOut, codeUnknownFanOut, "the tenant has no such fan-out"},
}

// problemOf turns a handler's error into the problem that is answered.
func (a *API) problemOf(ctx context.Context, err error) *problem {
	if p := refusalOf(err); p != nil {
		return p
	}
	return a.failure(ctx, err)
}

// refusalOf is the problem of a request that is not in order; nil when it is.
func refusalOf(err error) *problem {
	if p, ok := errors.AsType[*problem](err); ok {
		return p
	}
	for _, unknown := range unknowns {
		if errors.Is(err, unknown.err) {
			return newProblem(http.StatusNotFound, unknown.kind, unknown.detail)
		}
	}
	if bad, ok := errors.AsType[*roster.InvalidError](err); ok {
		return invalidFact(bad)
	}
	if errors.Is(err, errNotInShadow) {
		return newProblem(http.StatusConflict, codeNotInShadow, "the code is not in shadow mode: nothing is stored")
	}
	if errors.Is(err, registry.ErrTaken) {
		return newProblem(http.StatusConflict, codeTaken, "the code's ID is in use; choose another")
	}
	if refused, ok := errors.AsType[*registry.WayError](err); ok {
		p := wrong(http.StatusUnprocessableEntity, codeWayRefused, refused.Field, "", "what WeCom accepts")
		p.Detail, p.Stored = refused.Error(), true
		return p
	}
	return nil
}

func invalidFact(bad *roster.InvalidError) *problem {
	p := wrong(http.StatusUnprocessableEntity, codeInvalid, bad.Field, bad.Value, bad.Want)
	p.Detail = bad.Field + " is " + quoted(bad.Value) + ", want " + bad.Want
	return p
}

func quoted(value string) string { return `"` + value + `"` }

// failure is a request that is in order and could not be served. The operator is
// told why, the client only that it failed.
func (a *API) failure(ctx context.Context, err error) *problem {
	if _, ok := errors.AsType[*registry.UnannouncedError](err); ok {
		a.o.Logger.ErrorContext(ctx, "a fact is stored and could not be announced", "error", err)
		p := newProblem(http.StatusServiceUnavailable, codeUnannounced,
			"the fact is stored; nobody could be told to recompute. Repeat the request: that is safe and announces it")
		p.Stored, p.retryAfter = true, 5*time.Second
		return p
	}
	if ctx.Err() == nil {
		a.o.Logger.ErrorContext(ctx, "a request failed", "error", err)
	}
	return unavailable("it failed for a reason on this side; whether the fact is stored is unknown. Repeat the request: that is safe")
}
