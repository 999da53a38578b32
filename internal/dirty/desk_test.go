package dirty_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/decision"
	"github.com/rollcall-dev/rollcall/internal/decision/decisiontest"
	"github.com/rollcall-dev/rollcall/internal/dirty"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

var now = time.Date(2026, 3, 5, 0, 0, 0, 0, time.UTC)

// set is a dirty set in memory whose entries all have one reason.
type set struct {
	entries []dirty.Seen
	due     []string // the codes that were made due
	changes string   // the code that somebody marks between look and write
	fails   error    // of a write of a code beyond the first
}

func (s *set) filter(keep func(dirty.Seen) bool) []dirty.Seen {
	var some []dirty.Seen
	for _, e := range s.entries {
		if keep(e) {
			some = append(some, e)
		}
	}
	return some
}

func (s *set) Get(_ context.Context, ref push.Ref) (dirty.Seen, bool, error) {
	found := s.filter(func(e dirty.Seen) bool { return e.Ref == ref })
	if len(found) == 0 {
		return dirty.Seen{}, false, nil
	}
	return found[0], true, nil
}

func (s *set) OfCode(_ context.Context, code string) ([]dirty.Seen, error) {
	return s.filter(func(e dirty.Seen) bool { return e.Code == code }), nil
}

func (s *set) OfReason(_ context.Context, tenant string, why reason.Reason, limit int) ([]dirty.Seen, error) {
	if why != reason.Overflow {
		return nil, nil
	}
	all := s.filter(func(e dirty.Seen) bool { return e.Tenant == tenant })
	return all[:min(limit, len(all))], nil
}

func (s *set) DueNow(_ context.Context, seen dirty.Seen, at time.Time) (bool, error) {
	if s.fails != nil && len(s.due) > 0 {
		return false, s.fails
	}
	if !at.Equal(now) || seen.Version == "" || seen.Code == s.changes {
		return false, nil
	}
	s.due = append(s.due, seen.Tenant+"/"+seen.Code)
	return true, nil
}

func (s *set) Drop(_ context.Context, seen dirty.Seen) (bool, error) {
	if seen.Version == "" || seen.Code == s.changes {
		return false, nil
	}
	s.entries = slices.DeleteFunc(s.entries, func(e dirty.Seen) bool { return e == seen })
	return true, nil
}

func newDesk(names ...string) (dirty.Desk, *set, *decisiontest.Book) {
	s, book := &set{}, decisiontest.NewBook()
	for i, name := range names {
		tenant, code, _ := strings.Cut(name, "/")
		s.entries = append(s.entries, dirty.Seen{Ref: push.Ref{Tenant: tenant, Code: code}, Version: fmt.Sprint(i + 1), About: "overflow"})
	}
	return dirty.Desk{Set: s, Book: book, By: "ann", Now: func() time.Time { return now }}, s, book
}

func TestAnEntryIsFoundByItsName(t *testing.T) {
	desk, _, _ := newDesk("acme/c-1", "acme/c-2", "globex/c-2")
	for name, tt := range map[string]struct {
		tenant, says string
	}{
		"acme/c-1":   {tenant: "acme"},
		"c-1":        {tenant: "acme"},
		"globex/c-2": {tenant: "globex"},
		"c-2":        {says: "say which of acme/c-2, globex/c-2"},
		"c-3":        {says: "not in the dirty set"},
		"globex/c-1": {says: "not in the dirty set"},
		"a b":        {says: "names no code"},
		"acme/":      {says: "names no code"},
		"/c-1":       {says: "names no code"},
		"acme/c-1/x": {says: "names no code"},
		"":           {says: "names no code"},
	} {
		seen, err := desk.Find(t.Context(), name)
		if tt.says != "" {
			if err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("Find(%q) = %+v, %v; want %q", name, seen, err, tt.says)
			}
			continue
		}
		if err != nil || seen.Tenant != tt.tenant || seen.Version == "" {
			t.Errorf("Find(%q) = %+v, %v; want tenant %s", name, seen, err, tt.tenant)
		}
	}
}

func TestRetry(t *testing.T) {
	desk, s, book := newDesk("acme/c-1", "acme/c-2")
	if ref, err := desk.Retry(t.Context(), "c-1", ""); err != nil || ref.Tenant != "acme" {
		t.Errorf("Retry = %v, %v", ref, err)
	}
	if diff := cmp.Diff([]string{"acme/c-1"}, s.due); diff != "" {
		t.Errorf("due (-want +got):\n%s", diff)
	}
	want(t, book, decision.Decision{Action: decision.RetryDirty, Subject: "dirty acme/c-1", Code: "c-1", Detail: "overflow", State: decision.Done})
}

func TestDrop(t *testing.T) {
	desk, s, book := newDesk("acme/c-1", "acme/c-2")
	if _, err := desk.Drop(t.Context(), "c-1", " "); !errors.Is(err, dirty.ErrNoReason) {
		t.Errorf("Drop without a reason = %v", err)
	}
	want(t, book)
	if _, err := desk.Drop(t.Context(), "c-1", "printed by mistake"); err != nil {
		t.Errorf("Drop = %v", err)
	}
	if len(s.entries) != 1 || s.entries[0].Code != "c-2" {
		t.Errorf("left: %+v", s.entries)
	}
	want(t, book, decision.Decision{
		Action: decision.DropDirty, Subject: "dirty acme/c-1", Code: "c-1", Reason: "printed by mistake", Detail: "overflow", State: decision.Done,
	})
}

// What somebody else touched after it was looked at stays as they left it, and
// the decision says that it did not take effect.
func TestAnEntryThatChangesIsLeftAlone(t *testing.T) {
	for name, act := range map[string]func(dirty.Desk) error{
		"retry": func(d dirty.Desk) error { _, err := d.Retry(t.Context(), "c-1", ""); return err },
		"drop":  func(d dirty.Desk) error { _, err := d.Drop(t.Context(), "c-1", "why"); return err },
	} {
		desk, s, book := newDesk("acme/c-1")
		s.changes = "c-1"
		if err := act(desk); !errors.Is(err, dirty.ErrChanged) || !strings.Contains(err.Error(), "try again") {
			t.Errorf("%s = %v", name, err)
		}
		all, _ := book.List(t.Context(), 2)
		if len(all) != 1 || all[0].State != decision.Failed || len(s.due) > 0 || len(s.entries) != 1 {
			t.Errorf("%s: %+v, due %v, left %v", name, all, s.due, s.entries)
		}
	}
}

func TestRetryAll(t *testing.T) {
	desk, s, book := newDesk("acme/c-1", "acme/c-2", "globex/c-3", "acme/c-4", "acme/c-5")
	s.changes = "c-2"
	done, err := desk.RetryAll(t.Context(), "acme", reason.Overflow, 3, "redis is back")
	if err != nil || done != (dirty.Retried{Due: 2, Changed: 1}) {
		t.Errorf("RetryAll = %+v, %v", done, err)
	}
	if diff := cmp.Diff([]string{"acme/c-1", "acme/c-4"}, s.due); diff != "" {
		t.Errorf("due (-want +got):\n%s", diff)
	}
	want(t, book, decision.Decision{
		Action: decision.RetryDirty, Subject: "3 dirty of acme with overflow", Reason: "redis is back", Detail: "from c-1 to c-4", State: decision.Done,
	})
	if done, err := desk.RetryAll(t.Context(), "acme", reason.Gone, 3, ""); err != nil || done != (dirty.Retried{}) {
		t.Errorf("RetryAll of none = %+v, %v", done, err)
	}
	if all, _ := book.List(t.Context(), 9); len(all) != 1 {
		t.Errorf("nothing was decided upon, and the book holds %d", len(all))
	}
}

func TestRetryAllThatBreaksOff(t *testing.T) {
	desk, s, book := newDesk("acme/c-1", "acme/c-2")
	s.fails = errors.New("the store is away")
	done, err := desk.RetryAll(t.Context(), "acme", reason.Overflow, dirty.MostAtOnce+1, "")
	if !errors.Is(err, s.fails) || done.Due != 1 {
		t.Errorf("RetryAll = %+v, %v", done, err)
	}
	if all, _ := book.List(t.Context(), 9); len(all) != 1 || !strings.Contains(all[0].Failure, "after 1 of 2") {
		t.Errorf("the book holds %+v", all)
	}
}

// want compares the book but for IDs; At, By and Tenant are those of the tests.
func want(t *testing.T, book *decisiontest.Book, decisions ...decision.Decision) {
	t.Helper()
	got, err := book.List(t.Context(), 10)
	if err != nil {
		t.Fatal(err)
	}
	for i := range got {
		got[i].ID = ""
	}
	for i := range decisions {
		decisions[i].At, decisions[i].By, decisions[i].Tenant = now, "ann", "acme"
	}
	if diff := cmp.Diff(decisions, got); diff != "" {
		t.Errorf("decisions (-want +got):\n%s", diff)
	}
}
