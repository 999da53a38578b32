package service

import (
	"context"
	"iter"
	"strings"
	"time"

	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/dirty"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

// ListDirty yields the dirty codes that are meant, in the order of tenants and
// codes.
func ListDirty(ctx context.Context, cfg config.Config, which mongostore.DirtySelection) iter.Seq2[mongostore.DirtyEntry, error] {
	return listFrom(ctx, cfg, func(db *mongostore.Database) lister[mongostore.DirtyEntry] {
		return func(ctx context.Context, after push.Ref, limit int) ([]mongostore.DirtyEntry, error) {
			return db.Dirty().Select(ctx, which, after, limit)
		}
	}, func(e mongostore.DirtyEntry) push.Ref { return e.Ref })
}

// ShowDirty returns the entry that a text names, "tenant/code" or a code.
func ShowDirty(ctx context.Context, cfg config.Config, name string) (mongostore.DirtyEntry, error) {
	var entry mongostore.DirtyEntry
	err := withMongo(ctx, cfg, func(db *mongostore.Database) error {
		seen, err := dirtyDesk(db, "").Find(ctx, name)
		if err != nil {
			return err
		}
		var found bool
		entry, found, err = db.Dirty().Get(ctx, seen.Ref)
		if err == nil && !found {
			err = dirty.ErrNotDirty // finished meanwhile
		}
		return err
	})
	return entry, err
}

// AtDirtyDesk has an operator decide about dirty codes, on a connection of its
// own.
func AtDirtyDesk(ctx context.Context, cfg config.Config, by string, do func(dirty.Desk) error) error {
	return withMongo(ctx, cfg, func(db *mongostore.Database) error { return do(dirtyDesk(db, by)) })
}

func dirtyDesk(db *mongostore.Database, by string) dirty.Desk {
	return dirty.Desk{Set: deskSet{db.Dirty()}, Book: db.Decisions(), Now: time.Now, By: by}
}

// deskSet is the dirty set as an operator's desk sees it.
type deskSet struct{ entries *mongostore.Dirty }

var _ dirty.Set = deskSet{}

// Get returns the entry of a code and whether it is dirty.
func (s deskSet) Get(ctx context.Context, ref push.Ref) (dirty.Seen, bool, error) {
	entry, found, err := s.entries.Get(ctx, ref)
	return seenOf(entry), found, err
}

// OfCode returns the entries of a code, whatever the tenant.
func (s deskSet) OfCode(ctx context.Context, code string) ([]dirty.Seen, error) {
	entries, err := s.entries.OfCode(ctx, code)
	return allSeen(entries), err
}

// OfReason returns entries of a tenant that have a reason among theirs.
func (s deskSet) OfReason(ctx context.Context, tenant string, why reason.Reason, limit int) ([]dirty.Seen, error) {
	entries, err := s.entries.Select(ctx, mongostore.DirtySelection{Tenant: tenant, Reason: why}, push.Ref{}, limit)
	return allSeen(entries), err
}

// DueNow makes an entry due, as it was seen.
func (s deskSet) DueNow(ctx context.Context, seen dirty.Seen, now time.Time) (bool, error) {
	return s.entries.DueNow(ctx, mongostore.Seen{Ref: seen.Ref, Version: seen.Version}, now)
}

// Drop removes an entry, as it was seen.
func (s deskSet) Drop(ctx context.Context, seen dirty.Seen) (bool, error) {
	removed, err := s.entries.Remove(ctx, mongostore.Seen{Ref: seen.Ref, Version: seen.Version})
	return removed == 1, err
}

func allSeen(entries []mongostore.DirtyEntry) []dirty.Seen {
	all := make([]dirty.Seen, len(entries))
	for i, entry := range entries {
		all[i] = seenOf(entry)
	}
	return all
}

func seenOf(entry mongostore.DirtyEntry) dirty.Seen {
	words := make([]string, len(entry.Reasons))
	for i, why := range entry.Reasons {
		words[i] = why.String()
	}
	about := strings.Join(words, ", ")
	if entry.Detail != "" {
		about += ": " + entry.Detail
	}
	return dirty.Seen{Ref: entry.Ref, Version: entry.Version, About: about}
}
