package service

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/adoption"
	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/decision"
	"github.com/rollcall-dev/rollcall/internal/fanout"
	"github.com/rollcall-dev/rollcall/internal/registry"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// SwitchOrder asks for another mode of a tenant.
type SwitchOrder struct {
	Tenant string
	Mode   roster.Mode // roster.Live or roster.Shadow
	By     string
	Why    string // for the record; may be empty
	// Insist goes live although the report says that the tenant is not ready.
	Insist bool
	// Progress is told how far the tenant's codes are; it must not wait.
	Progress func(fanout.Job)
}

// NotReadyError is a tenant that should not go live yet.
type NotReadyError struct {
	Verdict string
	Because []string
}

// Error says why, and how to go live all the same.
func (e *NotReadyError) Error() string {
	return e.Verdict + "\n  - " + strings.Join(e.Because, "\n  - ") + "\nTo go live all the same: --yes"
}

// SwitchMode switches a tenant's mode and waits until each of its codes has been
// given to the refreshers once since. It reports false when the tenant has the
// mode already; a switch that nobody was told of, because its process died, is
// told and waited for. The switch is in the facts: no process has to be told, and
// an event that is under way decides by whichever mode it reads.
func SwitchMode(ctx context.Context, cfg config.Config, order SwitchOrder) (bool, error) {
	switched := false
	err := withMongo(ctx, cfg, func(db *mongostore.Database) error {
		if order.Mode == roster.Live && !order.Insist {
			if err := ready(ctx, db, order.Tenant); err != nil {
				return err
			}
		}
		out, err := decide(ctx, db, order)
		if err != nil || out.Published != registry.ByFanOut {
			return err
		}
		switched = true
		return followFanOut(ctx, db.FanOuts(), out.FanOut.ID, out.FanOut.Epoch, order.Progress)
	})
	return switched, err
}

// ready refuses a tenant that is not imported as a whole, or whose lists differ.
func ready(ctx context.Context, db *mongostore.Database, tenant string) error {
	job, there, err := db.Imports().Job(ctx, tenant)
	if err != nil {
		return err
	}
	if there && job.State != adoption.Done {
		return &NotReadyError{Verdict: "The import of the tenant's contact ways has not ended.", Because: []string{fmt.Sprintf("finish it: rollcall migrate import %s", tenant)}}
	}
	report, err := newShadowDesk(db).Report(ctx, tenant)
	if err != nil {
		return err
	}
	if !report.Ready && report.Codes.InShadow > 0 {
		return &NotReadyError{Verdict: report.Verdict, Because: report.Because}
	}
	return nil
}

// decide writes the mode, and that somebody decided so.
func decide(ctx context.Context, db *mongostore.Database, order SwitchOrder) (registry.Outcome, error) {
	action := decision.GoShadow
	if order.Mode == roster.Live {
		action = decision.GoLive
	}
	d := decision.New(order.By, action, "tenant "+order.Tenant, time.Now())
	d.Tenant, d.Reason = order.Tenant, order.Why
	var out registry.Outcome
	err := decision.Take(ctx, db.Decisions(), d, func(ctx context.Context) (err error) {
		edit := registry.TenantEdit{Tenant: order.Tenant, Mode: registry.To(order.Mode)}
		out, err = newRegistry(db, nil, db.FanOuts(), nil).ChangeTenant(ctx, edit, "tenant_mode")
		return err
	})
	return out, err
}

// fanOutLook is how often a fan-out is looked at.
const fanOutLook = 500 * time.Millisecond

// followFanOut waits until a fan-out is done, or one that has taken its place.
func followFanOut(ctx context.Context, jobs *mongostore.FanOuts, id string, epoch int64, progress func(fanout.Job)) error {
	tick := time.NewTicker(fanOutLook)
	defer tick.Stop()
	for {
		job, there, err := jobs.Job(ctx, id)
		if err != nil {
			return err
		}
		if there {
			progress(job)
		}
		if !there || job.Epoch >= epoch && job.State == fanout.Done {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return errors.Join(errors.New("the mode is switched; its fan-out goes on without this command"), ctx.Err())
		}
	}
}

// CodesInAnotherMode returns the codes of a tenant that have a mode of their own
// and so did not follow the tenant's, at most limit of them, and how many there
// are.
func CodesInAnotherMode(ctx context.Context, cfg config.Config, tenant string, mode roster.Mode, limit int) (names []string, total int, err error) {
	err = withMongo(ctx, cfg, func(db *mongostore.Database) error {
		for after := ""; ; {
			page, err := db.Shadows().Codes(ctx, tenant, after, listPage)
			if err != nil {
				return err
			}
			for _, code := range page {
				after = code.Code
				if code.Shadow == (mode == roster.Shadow) {
					continue
				}
				if total++; len(names) < limit {
					names = append(names, code.Code)
				}
			}
			if len(page) < listPage {
				return nil
			}
		}
	})
	return names, total, err
}
