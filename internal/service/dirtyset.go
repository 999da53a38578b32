package service

import (
	"context"
	"time"

	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/backstop"
	"github.com/rollcall-dev/rollcall/internal/push"
)

// dirtySet shows the store's dirty set as the backstop's.
type dirtySet struct{ *mongostore.Dirty }

var _ backstop.DirtySet = dirtySet{}

func (d dirtySet) DueTenants(ctx context.Context, state push.DirtyState, now time.Time) ([]string, error) {
	return d.Dirty.DueTenants(ctx, state, now)
}

func (d dirtySet) Due(ctx context.Context, state push.DirtyState, tenant string, now time.Time, limit int) ([]backstop.Entry, error) {
	due, err := d.DueOf(ctx, state, tenant, now, limit)
	return entriesOf(due), err
}

func (d dirtySet) Unconfirmed(ctx context.Context, now time.Time, limit int) ([]backstop.Entry, error) {
	all, err := d.Dirty.Unconfirmed(ctx, now, limit)
	return entriesOf(all), err
}

func entriesOf(all []mongostore.DirtyEntry) []backstop.Entry {
	out := make([]backstop.Entry, 0, len(all))
	for _, e := range all {
		entry := backstop.Entry{Ref: e.Ref, Due: e.Due, Released: e.Released, Attempts: e.Attempts, Version: e.Version}
		if len(e.Reasons) > 0 {
			entry.Reason = e.Reasons[0]
		}
		out = append(out, entry)
	}
	return out
}

func (d dirtySet) Release(ctx context.Context, entries []backstop.Timed) error {
	_, err := d.Dirty.Release(ctx, seenAt(entries)...)
	return err
}

func (d dirtySet) Defer(ctx context.Context, entries []backstop.Timed) error {
	_, err := d.Dirty.Defer(ctx, seenAt(entries)...)
	return err
}

func (d dirtySet) Repeat(ctx context.Context, entries []backstop.Timed) error {
	_, err := d.Dirty.Repeat(ctx, seenAt(entries)...)
	return err
}

func seenAt(entries []backstop.Timed) []mongostore.Seen {
	seen := make([]mongostore.Seen, len(entries))
	for i, e := range entries {
		seen[i] = mongostore.Seen{Ref: e.Ref, Version: e.Version, At: e.At}
	}
	return seen
}

func (d dirtySet) Remove(ctx context.Context, entries []backstop.Entry) error {
	seen := make([]mongostore.Seen, len(entries))
	for i, e := range entries {
		seen[i] = mongostore.Seen{Ref: e.Ref, Version: e.Version}
	}
	_, err := d.Dirty.Remove(ctx, seen...)
	return err
}

func (d dirtySet) Postpone(ctx context.Context, e backstop.Entry, until time.Time) error {
	_, err := d.Dirty.Postpone(ctx, e.Ref, e.Version, until)
	return err
}
