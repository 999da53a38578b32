package service

import (
	"context"
	"time"

	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/adapter/redisbudget"
	"github.com/rollcall-dev/rollcall/internal/adapter/wecom"
	"github.com/rollcall-dev/rollcall/internal/backstop/audit"
	"github.com/rollcall-dev/rollcall/internal/backstop/spot"
	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/shadow"
)

// spotGrace is how long a repair may take until its code is released all the
// same.
const spotGrace = time.Minute

// sampler asks WeCom about some of the codes that the audit passes.
type sampler struct {
	share   float64
	checker *spot.Checker
	spare   spot.Spare
	looker  spot.Looker
	desk    *shadow.Desk
	now     func() time.Time
}

var _ audit.Sampler = (*sampler)(nil)

func newSampler(cfg config.Config, db *mongostore.Database, vendor *wecom.Vendor, budget *redisbudget.Budget) *sampler {
	spots := db.Spots()
	return &sampler{share: cfg.Spot.Share, spare: budget, looker: vendor, desk: newShadowDesk(db), now: time.Now, checker: spot.NewChecker(spot.Ports{
		Spare: budget, Looker: vendor, Records: db.Store(), Doubts: doubts{db.Store(), time.Now}, Dirty: db.Dirty(),
		Differences: spots, Days: spots,
	}, spot.Options{Policy: spot.Policy(cfg.Spot.Policy), Settle: cfg.Spot.Settle, Grace: spotGrace, Now: time.Now})}
}

// Sample checks a code if this pass picks it.
func (s *sampler) Sample(ctx context.Context, pass int64, look audit.Look) error {
	if !spot.Picks(uint64(pass), look.Ref, s.share) {
		return nil
	}
	code := look.Facts.Code
	if look.Facts.Shadowed() {
		return s.overhear(ctx, look.Ref, code.ConfigID)
	}
	_, err := s.checker.Check(ctx, spot.Sample{
		Ref: look.Ref, ConfigID: code.ConfigID, Revision: code.Revision, Record: look.Record,
		Wanted: spot.Wanted{Remark: code.Remark, State: code.State, SkipVerify: code.SkipVerify},
	})
	return err
}

// overhear reads what another system has WeCom hold, as if it had reported it.
func (s *sampler) overhear(ctx context.Context, ref push.Ref, configID string) error {
	if configID == "" {
		return nil
	}
	spare, err := s.spare.Spare(ctx, ref.Tenant)
	if err != nil || !spare {
		return err
	}
	at := s.now()
	way, known, err := s.looker.Way(ctx, ref.Tenant, configID)
	if err != nil || !known {
		return err
	}
	_, err = s.desk.Pushed(ctx, ref, shadow.Reported{Members: way.Users, At: at, Source: shadow.Spot})
	return err
}

// doubts announces a call that nobody makes: with an intent whose deadline is
// over, what WeCom holds counts as unknown and the next refresh pushes. The
// epoch grows with it, so whoever is at work on an older one commits nothing.
type doubts struct {
	store *mongostore.Store
	now   func() time.Time
}

func (d doubts) Doubt(ctx context.Context, ref push.Ref, epoch int64) (bool, error) {
	return d.store.Begin(ctx, ref, epoch, push.Intent{Epoch: epoch + 1, Owner: "spot check", Deadline: d.now().Add(-time.Hour)})
}
