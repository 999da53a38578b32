package quotatest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/rollcall-dev/rollcall/internal/quota"
)

// Contact returns a contact.
func (s *Store) Contact(ctx context.Context, pair quota.Pair) (quota.Contact, error) {
	var contact quota.Contact
	err := s.locked(ctx, OpContact, func() { contact = cloneContact(s.contacts[pair]) })
	if err != nil {
		return quota.Contact{}, err
	}
	return contact, nil
}

// Put replaces a contact of the version that it was read with.
func (s *Store) Put(ctx context.Context, pair quota.Pair, contact quota.Contact) (bool, error) {
	put := false
	err := s.locked(ctx, OpPut, func() {
		if put = s.contacts[pair].Version == contact.Version; put {
			next := cloneContact(contact)
			next.Version++
			s.contacts[pair] = next
		}
	})
	return put && err == nil, err
}

// Open lists contacts with an addition that is not done.
func (s *Store) Open(ctx context.Context, before time.Time, limit int) ([]quota.Known, error) {
	return s.knownBefore(ctx, OpOpen, before, limit, func(a quota.Addition) (time.Time, bool) {
		return a.Since, a.Done.IsZero()
	})
}

// Done lists contacts with an addition that is done.
func (s *Store) Done(ctx context.Context, before time.Time, limit int) ([]quota.Known, error) {
	return s.knownBefore(ctx, OpDone, before, limit, func(a quota.Addition) (time.Time, bool) {
		return a.Done, !a.Done.IsZero()
	})
}

// knownBefore lists contacts by the least instant of their additions that
// count.
func (s *Store) knownBefore(
	ctx context.Context, op string, before time.Time, limit int, instant func(quota.Addition) (time.Time, bool),
) ([]quota.Known, error) {
	type found struct {
		quota.Known
		least time.Time
	}
	var all []found
	err := s.locked(ctx, op, func() {
		for pair, contact := range s.contacts {
			var least time.Time
			for _, a := range contact.Additions {
				if at, counts := instant(a); counts && (least.IsZero() || at.Before(least)) {
					least = at
				}
			}
			if !least.IsZero() && least.Before(before) {
				all = append(all, found{quota.Known{Pair: pair, Contact: cloneContact(contact)}, least})
			}
		}
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b found) int {
		return cmp.Or(a.least.Compare(b.least), cmp.Compare(fmt.Sprint(a.Pair), fmt.Sprint(b.Pair)))
	})
	var known []quota.Known
	for _, f := range all[:min(limit, len(all))] {
		known = append(known, f.Known)
	}
	return known, nil
}

// Contacts returns every contact, without a hook.
func (s *Store) Contacts() map[quota.Pair]quota.Contact {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make(map[quota.Pair]quota.Contact, len(s.contacts))
	for pair, contact := range s.contacts {
		all[pair] = cloneContact(contact)
	}
	return all
}

func cloneContact(c quota.Contact) quota.Contact {
	c.Entries, c.Additions = slices.Clone(c.Entries), slices.Clone(c.Additions)
	for i := range c.Entries {
		c.Entries[i].At = stored(c.Entries[i].At)
	}
	for i := range c.Additions {
		a := &c.Additions[i]
		a.At, a.Since, a.Done = stored(a.At), stored(a.Since), stored(a.Done)
	}
	return c
}
