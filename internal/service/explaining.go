package service

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/adapter/redisbudget"
	"github.com/rollcall-dev/rollcall/internal/adapter/redisrotation"
	"github.com/rollcall-dev/rollcall/internal/backstop/audit"
	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/explain"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/telemetry"
)

// Explainer explains codes, on connections of its own.
type Explainer struct {
	cfg      config.Config
	db       *mongostore.Database
	client   redis.UniversalClient
	standing *redisrotation.Standing
	slots    *redisbudget.Slots
	closers  closers
}

// OpenExplainer prepares the connections; the servers may be away. The caller
// closes it.
func OpenExplainer(ctx context.Context, cfg config.Config) (*Explainer, error) {
	tel := telemetry.Silent()
	db, err := openMongo(cfg, "operator")
	if err != nil {
		return nil, err
	}
	e := &Explainer{cfg: cfg, db: db}
	e.closers.add(db.Close)
	if err := e.open(tel); err != nil {
		return nil, errors.Join(err, e.Close(ctx))
	}
	return e, nil
}

func (e *Explainer) open(tel *telemetry.Telemetry) error {
	client, err := openRedis(e.cfg.Redis, tel)
	if err != nil {
		return err
	}
	e.closers.add(func(context.Context) error { return client.Close() })
	return e.on(client, tel)
}

// on has it read what is in Redis on a connection that is open.
func (e *Explainer) on(client redis.UniversalClient, tel *telemetry.Telemetry) (err error) {
	e.client = client
	if e.standing, err = redisrotation.NewStanding(client, redisrotation.Options{Prefix: e.cfg.Redis.KeyPrefix}); err != nil {
		return err
	}
	e.slots, err = redisbudget.NewSlots(client, budgetOptions(e.cfg, tel))
	return err
}

// Close ends the connections.
func (e *Explainer) Close(ctx context.Context) error { return e.closers.close(ctx, flushTimeout) }

// Question is what is to be explained.
type Question struct {
	Code string // "tenant/code", or a code
	// Live asks WeCom what it holds, which spends one call of the tenant's.
	Live bool
}

// Explain explains a code. One that is not there is push.ErrUnknownCode, another
// tenant's push.ErrWrongTenant.
func (e *Explainer) Explain(ctx context.Context, q Question) (explain.Explanation, error) {
	ref, err := findCode(ctx, e.db.Store(), q.Code)
	if err != nil {
		return explain.Explanation{}, err
	}
	evidence, err := e.gather(ctx, ref)
	if err != nil {
		return explain.Explanation{}, err
	}
	if q.Live && evidence.Wrong == nil {
		evidence.Vendor = e.ask(ctx, ref, evidence.Facts.Code.ConfigID)
	}
	return explain.Of(evidence, laneRules(e.cfg), time.Now()), nil
}

// findCode reads whose a code is that is named "tenant/code" or by its ID, which is
// unique over all tenants.
func findCode(ctx context.Context, store *mongostore.Store, name string) (push.Ref, error) {
	tenant, code, both := strings.Cut(name, "/")
	if !both {
		tenant, code = "", name
	}
	owner, err := store.TenantOf(ctx, code)
	if err != nil {
		return push.Ref{}, err
	}
	if both && tenant != owner {
		return push.Ref{}, fmt.Errorf("code %s of tenant %s: %w", code, tenant, push.ErrWrongTenant)
	}
	return push.Ref{Tenant: owner, Code: code}, nil
}

// gather reads what is known of a code, all at the same time.
func (e *Explainer) gather(ctx context.Context, ref push.Ref) (explain.Evidence, error) {
	var evidence explain.Evidence
	var set audit.Set
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		looks, err := e.db.Looks().Of(ctx, []push.Ref{ref})
		if err == nil {
			evidence.Look = looks[0]
		}
		return err
	})
	group.Go(func() error {
		sets, err := e.standing.Standing(ctx, []push.Ref{ref})
		if err == nil {
			set = sets[0]
		}
		return err
	})
	group.Go(func() (err error) {
		evidence.Trail, err = e.db.Trails().Of(ctx, ref)
		return err
	})
	group.Go(func() (err error) {
		evidence.Budget.BlockedUntil, evidence.Budget.Slot, err = e.slots.Standing(ctx, ref)
		return err
	})
	group.Go(func() error {
		entry, found, err := e.db.Dirty().Get(ctx, ref)
		if err == nil && found {
			evidence.Dirty = dirtyOf(entry)
		}
		return err
	})
	if err := group.Wait(); err != nil {
		return explain.Evidence{}, err
	}
	evidence.Set = set
	evidence.Booked = !evidence.Budget.Slot.IsZero()
	return evidence, nil
}

func dirtyOf(entry mongostore.DirtyEntry) *explain.Dirty {
	due := entry.Due
	if entry.State == push.DirtyReleased {
		due = entry.Confirm
	}
	return &explain.Dirty{
		Reasons: entry.Reasons, State: entry.State, FirstSeen: entry.FirstSeen, Due: due, Attempts: entry.Attempts, Detail: entry.Detail,
	}
}

// ask reads what WeCom holds. That it cannot be asked is part of the answer.
func (e *Explainer) ask(ctx context.Context, ref push.Ref, configID string) *explain.Vendor {
	if configID == "" {
		return &explain.Vendor{Problem: "the code has no contact way"}
	}
	vendor, done, err := newVendor(e.cfg, e.db, e.client, telemetry.Silent())
	if err != nil {
		return &explain.Vendor{Problem: err.Error()}
	}
	defer done()
	way, known, err := vendor.Way(ctx, ref.Tenant, configID)
	if err != nil {
		return &explain.Vendor{Problem: err.Error()}
	}
	return &explain.Vendor{Way: way, Known: known}
}
