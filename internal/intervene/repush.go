package intervene

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/registry"
)

// landed is how long ago a call was announced that is none of the refreshers':
// longer than any call may take, so that no push waits for it.
const landed = 10 * time.Minute

// contended is how often a record that changes all the time is tried.
const contended = 5

// distrust makes what WeCom holds of each code count as unknown, so that the next
// refresh pushes. It is a push that was announced and has no outcome, which is
// what the protocol makes of such a record, and what the keeper brings back if
// nobody else does.
func (d Desk) distrust(ctx context.Context, o Order, about *about, done *Done) error {
	if o.Kind == Code {
		return d.distrustOne(ctx, o, o.ref(), done)
	}
	return d.eachCode(ctx, o.Subject, about.tenant.Tenant, func(ctx context.Context, codes []registry.Code) (bool, error) {
		for _, code := range codes {
			if err := d.distrustOne(ctx, o, push.Ref{Tenant: o.Tenant, Code: code.ID}, done); err != nil {
				return false, err
			}
		}
		return true, nil
	})
}

func (d Desk) distrustOne(ctx context.Context, o Order, ref push.Ref, done *Done) error {
	for range contended {
		facts, record, err := d.Records.Load(ctx, ref)
		switch {
		case errors.Is(err, push.ErrUnknownCode), errors.Is(err, push.ErrInvalidFacts):
			return nil // gone meanwhile, or not to be pushed: it must not keep the others from it
		case err != nil:
			return err
		}
		if record.Epoch == 0 || facts.Code.Deleted || facts.Code.ConfigID == "" || facts.Shadowed() {
			return nil // pushed anyway, or never
		}
		begun, err := d.Records.Begin(ctx, ref, record.Epoch, push.Intent{
			Epoch: record.Epoch + 1, Owner: "operator " + o.By, Deadline: d.Now().Add(-landed).UTC().Truncate(time.Millisecond),
		})
		if err != nil {
			return err
		}
		if begun {
			done.Repushed++
			return nil
		}
	}
	return fmt.Errorf("code %s is pushed again and again meanwhile: try it again", ref.Code)
}
