package httpapi

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/registry"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/shadow"
)

// Shadows takes what another system pushed, and tells how far a tenant is with
// moving over.
type Shadows interface {
	Pushed(ctx context.Context, ref push.Ref, theirs shadow.Reported) (shadow.Reception, error)
	Report(ctx context.Context, tenant string) (shadow.Readiness, error)
}

// pushedBody is a list that another system has pushed.
type pushedBody struct {
	Users []string `json:"users"`
	At    string   `json:"at"` // RFC 3339
	Note  string   `json:"note"`
}

type pushedLine struct {
	Code string `json:"code"`
	pushedBody
}

// receptionBody says what became of a report.
type receptionBody struct {
	Outcome string `json:"outcome"`
}

// pushed takes a report.
func (a *API) pushed(ctx context.Context, ref push.Ref, b pushedBody) (shadow.Reception, error) {
	at, err := time.Parse(time.RFC3339Nano, b.At)
	if err != nil {
		return "", &roster.InvalidError{Field: "at", Value: shortened(b.At), Want: "the instant of the push, as RFC 3339 writes it"}
	}
	reception, err := a.o.Shadows.Pushed(ctx, ref, shadow.Reported{Members: b.Users, At: at, Source: shadow.Report, Note: b.Note})
	return reception, unknownOf(err)
}

// unknownOf turns the errors of what is not there into the API's.
func unknownOf(err error) error {
	switch {
	case errors.Is(err, push.ErrUnknownTenant):
		return registry.ErrUnknownTenant
	case errors.Is(err, push.ErrUnknownCode):
		return registry.ErrUnknownCode
	}
	return err
}

// shortened keeps what was sent instead of an instant readable in an answer.
func shortened(text string) string {
	const most = 40
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}

// errNotInShadow refuses a line of an import; a report alone is answered.
var errNotInShadow = errors.New("not in shadow mode")

func (a *API) postPushed(ctx context.Context, r *request) (answer, error) {
	if _, err := a.tenantOf(ctx, r); err != nil {
		return answer{}, err
	}
	body, err := decode[pushedBody](r.body)
	if err != nil {
		return answer{}, err
	}
	reception, err := a.pushed(ctx, push.Ref{Tenant: r.tenant(), Code: r.PathValue("code")}, body)
	if err != nil {
		return answer{}, err
	}
	return answered(http.StatusOK, receptionBody{Outcome: string(reception)})
}

// importPushed takes the lists of many codes: the other system's state when a
// tenant's shadow mode begins.
func (a *API) importPushed(ctx context.Context, r *request) (answer, error) {
	return runImport(ctx, a, r, importing[pushedLine]{
		parse: decode[pushedLine],
		id:    func(line pushedLine) string { return line.Code },
		store: func(chunk []pushedLine) (registry.Imported, error) { return a.storePushed(ctx, r.tenant(), chunk) },
	})
}

func (a *API) storePushed(ctx context.Context, tenant string, chunk []pushedLine) (registry.Imported, error) {
	var in registry.Imported
	for i, line := range chunk {
		reception, err := a.pushed(ctx, push.Ref{Tenant: tenant, Code: line.Code}, line.pushedBody)
		if err == nil && reception == shadow.NotInShadow {
			err = errNotInShadow
		}
		switch {
		case err != nil && refusalOf(err) == nil:
			return in, err
		case err != nil:
			in.Refused = append(in.Refused, registry.Refusal{Entry: i, Err: err})
		case reception == shadow.Recorded:
			in.Stored++
		default:
			in.Unchanged++
		}
	}
	return in, nil
}

func (a *API) getMigration(ctx context.Context, r *request) (answer, error) {
	if _, err := a.tenantOf(ctx, r); err != nil {
		return answer{}, err
	}
	report, err := a.o.Shadows.Report(ctx, r.tenant())
	if err != nil {
		return answer{}, unknownOf(err)
	}
	return answered(http.StatusOK, report)
}
