package httpapi

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/rollcall-dev/rollcall/internal/fanout"
	"github.com/rollcall-dev/rollcall/internal/registry"
)

// FanOuts shows how far fan-outs are.
type FanOuts interface {
	// List returns a tenant's fan-outs in the order of their IDs, from the one
	// after an ID.
	List(ctx context.Context, tenant, after string, limit int) ([]fanout.Job, error)
	// Job returns one; false when there is none of that ID.
	Job(ctx context.Context, id string) (fanout.Job, bool, error)
}

// ErrUnknownFanOut says that the tenant has no such fan-out.
var ErrUnknownFanOut = errors.New("no such fan-out")

// fanOutBody is the newest fan-out of a staff member, or of the whole tenant.
type fanOutBody struct {
	ID    string `json:"id"`
	Epoch int64  `json:"epoch"`
	Staff string `json:"staff,omitempty"`
	Why   string `json:"why"`
	State string `json:"state"`
	// Total grows until the state is in_progress.
	Total       int        `json:"total"`
	Released    int        `json:"released"`
	RequestedAt time.Time  `json:"requested_at"`
	StartedAt   *time.Time `json:"started_at,omitempty"`
	FinishedAt  *time.Time `json:"finished_at,omitempty"`
	// SecondsLeft is a forecast at the tenant's pace; absent while unknown.
	SecondsLeft *float64 `json:"seconds_left,omitempty"`
}

func (a *API) fanOutBodyOf(j fanout.Job) fanOutBody {
	body := fanOutBody{
		ID: j.ID, Epoch: j.Epoch, Staff: j.Staff, Why: j.Why, State: string(j.State), Total: j.Total,
		Released: j.Released, RequestedAt: j.Requested, StartedAt: instant(j.Started), FinishedAt: instant(j.Finished),
	}
	if left, known := j.Left(a.o.Rate); known {
		seconds := left.Seconds()
		body.SecondsLeft = &seconds
	}
	return body
}

func (a *API) listFanOuts(ctx context.Context, r *request) (answer, error) {
	if _, err := a.tenantOf(ctx, r); err != nil {
		return answer{}, err
	}
	return listed(r, func(page registry.Page) ([]fanout.Job, error) {
		return a.o.FanOuts.List(ctx, r.tenant(), page.After, page.Limit)
	}, a.fanOutBodyOf, func(j fanout.Job) string { return j.ID })
}

func (a *API) getFanOut(ctx context.Context, r *request) (answer, error) {
	if _, err := a.tenantOf(ctx, r); err != nil {
		return answer{}, err
	}
	job, there, err := a.o.FanOuts.Job(ctx, r.PathValue("fanout"))
	if err != nil {
		return answer{}, err
	}
	if !there || job.Tenant != r.tenant() {
		return answer{}, ErrUnknownFanOut
	}
	return answered(http.StatusOK, a.fanOutBodyOf(job))
}
