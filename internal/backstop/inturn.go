package backstop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// inTurn is several sets as one.
type inTurn struct {
	sets  []DueSet
	first int // who is asked first in this sweep
}

// InTurn returns sets that are released at one pace, as one. At each sweep
// another one comes first and the others get what it leaves: of a tenant that
// has a storm in each, each gets an equal part. It is for one Releaser.
func InTurn(sets ...DueSet) DueSet { return &inTurn{sets: sets, first: -1} }

// DueTenants returns the tenants of all sets, and begins a turn.
func (t *inTurn) DueTenants(ctx context.Context, now time.Time) ([]string, error) {
	t.first++
	var all []string
	for _, set := range t.sets {
		tenants, err := set.DueTenants(ctx, now)
		if err != nil {
			return nil, err
		}
		all = append(all, tenants...)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// Due asks the sets until there are enough codes.
func (t *inTurn) Due(ctx context.Context, tenant string, now time.Time, limit int) ([]Entry, error) {
	var all []Entry
	for i := range t.sets {
		if len(all) >= limit {
			break
		}
		which := (t.first + i) % len(t.sets)
		entries, err := t.sets[which].Due(ctx, tenant, now, limit-len(all))
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			e.Version = strconv.Itoa(which) + " " + e.Version
			all = append(all, e)
		}
	}
	return all, nil
}

// Published gives each set its own entries.
func (t *inTurn) Published(ctx context.Context, entries []Entry) error {
	of := make([][]Entry, len(t.sets))
	for _, e := range entries {
		which, own, err := t.owner(e)
		if err != nil {
			return err
		}
		of[which] = append(of[which], own)
	}
	var failed []error
	for which, own := range of {
		if len(own) > 0 {
			failed = append(failed, t.sets[which].Published(ctx, own))
		}
	}
	return errors.Join(failed...)
}

// Postpone gives an entry to its set.
func (t *inTurn) Postpone(ctx context.Context, e Entry, until time.Time) error {
	which, own, err := t.owner(e)
	if err != nil {
		return err
	}
	return t.sets[which].Postpone(ctx, own, until)
}

// owner returns the set that an entry is of, and the entry as that set gave it.
func (t *inTurn) owner(e Entry) (int, Entry, error) {
	set, version, _ := strings.Cut(e.Version, " ")
	which, err := strconv.Atoi(set)
	if err != nil || which < 0 || which >= len(t.sets) {
		return 0, Entry{}, fmt.Errorf("an entry of code %s is of no set", e.Code)
	}
	e.Version = version
	return which, e, nil
}
