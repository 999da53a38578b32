package service

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/fanout"
	"github.com/rollcall-dev/rollcall/internal/intervene"
	"github.com/rollcall-dev/rollcall/internal/publish"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/registry"
	"github.com/rollcall-dev/rollcall/internal/telemetry"
)

// InterventionDesk is where an operator steps in.
type InterventionDesk struct {
	intervene.Desk
	store *mongostore.Store
}

// AtInterventionDesk has an operator step in, on connections of its own. When the
// broker is away, what is to be recomputed goes to the dirty set.
func AtInterventionDesk(ctx context.Context, cfg config.Config, do func(InterventionDesk) error) (err error) {
	r := &loopRole{cfg: cfg, tel: telemetry.Silent()}
	defer func() { err = errors.Join(err, r.closers.close(context.WithoutCancel(ctx), flushTimeout)) }()
	if err := errors.Join(r.openStores("operator"), r.awaitProducer(ctx)); err != nil {
		return err
	}
	budget, err := newBudget(cfg, r.redis, r.tel)
	if err != nil {
		return err
	}
	rate, _ := budget.Rate()
	publisher := publish.New(topic{r.producer}, r.db.Dirty(), publish.Options{Timeout: cfg.Ingress.PublishTimeout, Now: time.Now})
	return do(newInterventionDesk(cfg, r.db, publisher, r.db.FanOuts(), rate))
}

// newInterventionDesk is a desk on connections that are open; rate is calls a
// second of a tenant.
func newInterventionDesk(cfg config.Config, db *mongostore.Database, publisher registry.Publisher, fanOuts fanout.Requester, rate float64) InterventionDesk {
	return InterventionDesk{
		Desk: intervene.Desk{
			Registry: newRegistry(db, publisher, fanOuts, nil), Records: db.Store(), Dirty: deskSet{db.Dirty()}, Book: db.Decisions(),
			Rules: laneRules(cfg), Rate: rate, Now: time.Now,
		},
		store: db.Store(),
	}
}

// Find returns the subject that an operator names: CODE or TENANT/CODE,
// TENANT/STAFF, TENANT. A code that is not there is registry.ErrUnknownCode.
func (d InterventionDesk) Find(ctx context.Context, kind intervene.Kind, name string) (intervene.Subject, error) {
	switch kind {
	case intervene.Code:
		ref, err := findCode(ctx, d.store, name)
		if errors.Is(err, push.ErrUnknownCode) || errors.Is(err, push.ErrWrongTenant) {
			err = registry.ErrUnknownCode
		}
		return intervene.Subject{Kind: kind, Tenant: ref.Tenant, ID: ref.Code}, err
	case intervene.Staff:
		tenant, staff, both := strings.Cut(name, "/")
		if !both || tenant == "" || staff == "" {
			return intervene.Subject{}, fmt.Errorf("%q names no staff member; want TENANT/STAFF", name)
		}
		return intervene.Subject{Kind: kind, Tenant: tenant, ID: staff}, nil
	case intervene.Tenant:
		return intervene.Subject{Kind: kind, Tenant: name}, nil
	}
	return intervene.Subject{}, fmt.Errorf("%q is no kind of subject; want code, staff or tenant", kind)
}
