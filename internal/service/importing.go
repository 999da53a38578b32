package service

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/adoption"
	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/publish"
	"github.com/rollcall-dev/rollcall/internal/telemetry"
)

// ImportOrder asks for an import of the contact ways that a tenant has at WeCom.
type ImportOrder struct {
	Tenant   string
	Target   adoption.Target
	Rate     float64 // calls a second at WeCom
	Observer adoption.Observer
}

// ImportWays carries out an import in this process; see
// adoption.Importer.Import.
func ImportWays(ctx context.Context, cfg config.Config, order ImportOrder) (job adoption.Job, err error) {
	r := &loopRole{cfg: cfg, tel: telemetry.Silent()}
	defer func() { err = errors.Join(err, r.closers.close(ctx, flushTimeout)) }()
	if err := errors.Join(r.openStores("operator"), r.openProducer()); err != nil {
		return adoption.Job{}, err
	}
	if err := r.readable(ctx, order.Tenant); err != nil {
		return adoption.Job{}, err
	}
	vendor, closeVendor, err := newVendor(cfg, r.db, r.redis, r.tel)
	if err != nil {
		return adoption.Job{}, err
	}
	r.closers.add(func(context.Context) error { closeVendor(); return nil })
	importer := adoption.New(adoption.Ports{
		Vendor: vendor, Jobs: r.db.Imports(), Facts: r.db.Adoptions(), FanOuts: r.db.FanOuts(), Observer: order.Observer,
		Announcer: publish.New(topic{r.producer}, r.db.Dirty(), publish.Options{Timeout: cfg.Ingress.PublishTimeout, Now: time.Now}),
	}, adoption.Options{Owner: cfg.Refresher.Instance, Rate: order.Rate})
	return importer.Import(ctx, order.Tenant, order.Target)
}

// readable tells at once of credentials that are not there or do not open: a call
// would take them for a failure that passes.
func (r *loopRole) readable(ctx context.Context, tenant string) error {
	_, _, err := r.db.Credentials(ctx, tenant)
	if errors.Is(err, mongostore.ErrNoCredentials) {
		return fmt.Errorf("%w: %w", adoption.ErrCredentials, err)
	}
	if err != nil {
		return fmt.Errorf("read the credentials of tenant %s: %w", tenant, err)
	}
	return nil
}

// ImportStatus returns the newest import of a tenant, and the contact ways that
// did not become codes; false when there was none.
func ImportStatus(ctx context.Context, cfg config.Config, tenant string) (job adoption.Job, left []adoption.Left, found bool, err error) {
	err = withMongo(ctx, cfg, func(db *mongostore.Database) (err error) {
		if job, found, err = db.Imports().Job(ctx, tenant); err != nil || !found {
			return err
		}
		left, err = adoption.LeftOf(ctx, db.Imports(), job)
		return err
	})
	return job, left, found, err
}
