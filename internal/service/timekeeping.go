package service

import (
	"context"
	"time"

	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/backstop"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

// dueCodes are all that the keeper publishes by the clock, at one pace: dirty
// codes that waited, a share of those that are to be mended, and the codes whose
// verdict time alone changes (a shift, a day or a quarantine has ended).
func dueCodes(db *mongostore.Database, mending float64, confirm time.Duration) backstop.DueSet {
	dirty := dirtySet{db.Dirty()}
	return backstop.InTurn(
		backstop.InState(dirty, push.DirtyWaits, confirm, time.Now),
		backstop.Share(backstop.InState(dirty, push.DirtyRepair, confirm, time.Now), mending),
		changeSet{db.Changes()},
	)
}

// eventReason is what the event of a due code says for a person.
func eventReason(e backstop.Entry) string {
	if e.Reason == reason.TimeChange {
		return "time"
	}
	return "dirty:" + e.Reason.String()
}

// changeSet shows the store's next changes as the backstop's.
type changeSet struct{ *mongostore.Changes }

func (s changeSet) Due(ctx context.Context, tenant string, now time.Time, limit int) ([]backstop.Entry, error) {
	taken, err := s.Take(ctx, tenant, now, limit)
	out := make([]backstop.Entry, 0, len(taken))
	for _, change := range taken {
		out = append(out, backstop.Entry{Ref: change.Ref, Reason: reason.TimeChange, Due: change.At, Version: change.Version})
	}
	return out, err
}

func (s changeSet) Published(ctx context.Context, entries []backstop.Entry) error {
	changes := make([]mongostore.Change, len(entries))
	for i, e := range entries {
		changes[i] = mongostore.Change{Ref: e.Ref, Version: e.Version}
	}
	_, err := s.Finish(ctx, changes...)
	return err
}

func (s changeSet) Postpone(ctx context.Context, e backstop.Entry, until time.Time) error {
	_, err := s.Changes.Postpone(ctx, mongostore.Change{Ref: e.Ref, Version: e.Version}, until)
	return err
}
