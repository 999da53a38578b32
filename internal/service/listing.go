package service

import (
	"context"
	"iter"

	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/fanout"
	"github.com/rollcall-dev/rollcall/internal/push"
)

// listPage is how many documents a listing reads at once.
const listPage = 500

// ListNoted yields the records whose last list came with notes: it could not
// be quite what the facts ask for.
func ListNoted(ctx context.Context, cfg config.Config) iter.Seq2[mongostore.CodeRecord, error] {
	return listFrom(ctx, cfg, func(db *mongostore.Database) lister[mongostore.CodeRecord] { return db.Store().ListNoted },
		func(r mongostore.CodeRecord) push.Ref { return r.Ref })
}

// lister reads a page after a code.
type lister[T any] func(ctx context.Context, after push.Ref, limit int) ([]T, error)

// listFrom pages through a collection on a connection of its own.
func listFrom[T any](ctx context.Context, cfg config.Config, of func(*mongostore.Database) lister[T], ref func(T) push.Ref) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		db, err := openMongo(cfg, "operator")
		if err != nil {
			yield(none, err)
			return
		}
		for item, err := range pages(ctx, of(db), ref) {
			if !yield(item, err) || err != nil {
				break
			}
		}
		_ = db.Close(ctx) // the process ends with the listing
	}
}

func pages[T any](ctx context.Context, list lister[T], ref func(T) push.Ref) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var after push.Ref
		for {
			page, err := list(ctx, after, listPage)
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, item := range page {
				if !yield(item, nil) {
					return
				}
				after = ref(item)
			}
			if len(page) < listPage {
				return
			}
		}
	}
}

// ListFanOuts yields the newest fan-out of each scope of a tenant, or of all
// tenants for "", in the order of their IDs.
func ListFanOuts(ctx context.Context, cfg config.Config, tenant string) iter.Seq2[fanout.Job, error] {
	return func(yield func(fanout.Job, error) bool) {
		db, err := openMongo(cfg, "operator")
		if err != nil {
			yield(fanout.Job{}, err)
			return
		}
		defer func() { _ = db.Close(ctx) }() // the process ends with the listing
		for after := ""; ; {
			page, err := db.FanOuts().List(ctx, tenant, after, listPage)
			if err != nil {
				yield(fanout.Job{}, err)
				return
			}
			for _, job := range page {
				if !yield(job, nil) {
					return
				}
				after = job.ID
			}
			if len(page) < listPage {
				return
			}
		}
	}
}
