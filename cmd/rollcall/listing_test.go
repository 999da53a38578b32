package main

import (
	"errors"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/letters"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

var listedAt = time.Date(2026, 3, 2, 4, 0, 0, 0, time.UTC)

func seq[T any](err error, items ...T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, item := range items {
			if !yield(item, nil) {
				return
			}
		}
		if err != nil {
			var none T
			yield(none, err)
		}
	}
}

func wantLines(t *testing.T, got string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(got, part) {
			t.Errorf("missing %q in:\n%s", part, got)
		}
	}
}

func TestDirtyListing(t *testing.T) {
	var out strings.Builder
	entry := mongostore.DirtyEntry{
		Ref: push.Ref{Tenant: "acme", Code: "c1"}, Reasons: []reason.Reason{reason.InvalidFacts, reason.Overflow},
		Detail: strings.Repeat("x", 200), FirstSeen: listedAt.Add(-90 * time.Second), Due: listedAt.Add(time.Hour), Count: 3,
	}
	if err := printDirty(&out, seq(nil, entry), dirtyListing{limit: 5}, listedAt); err != nil {
		t.Fatal(err)
	}
	wantLines(t, out.String(), "acme", "c1", "invalid_facts, overflow", "1m30s ago", "in 1h0m0s", "…", "1 dirty")
	if strings.Contains(out.String(), strings.Repeat("x", maxDetail)) {
		t.Error("a long detail is not cut")
	}
}

func TestEmptyListingsSaySo(t *testing.T) {
	var out strings.Builder
	err := errors.Join(
		printDirty(&out, seq[mongostore.DirtyEntry](nil), dirtyListing{limit: 5}, listedAt),
		printNoted(&out, seq[mongostore.CodeRecord](nil)),
		printDeadLetters(&out, seq[letters.Letter](nil), listedAt),
	)
	if err != nil {
		t.Fatal(err)
	}
	wantLines(t, out.String(), "The dirty set is empty.", "No code was pushed with notes.", "There are no dead letters.")
}

func TestListingThatBreaksOffIsAnError(t *testing.T) {
	broken := errors.New("connection reset")
	var out strings.Builder
	if err := printDirty(&out, seq(broken, mongostore.DirtyEntry{}), dirtyListing{limit: 5}, listedAt); !errors.Is(err, broken) {
		t.Errorf("printDirty() = %v; want the cause", err)
	}
	if err := printDeadLetters(&out, seq(broken, letters.Letter{}), listedAt); !errors.Is(err, broken) {
		t.Errorf("printDeadLetters() = %v; want the cause", err)
	}
	if out.Len() > 0 {
		t.Errorf("half a listing was printed as if it were whole:\n%s", out.String())
	}
}

func TestNotedAndDeadLetterListing(t *testing.T) {
	var out strings.Builder
	record := mongostore.CodeRecord{Ref: push.Ref{Tenant: "acme", Code: "crowd"}}
	record.Record.Committed = push.Committed{Members: make([]string, 100), Notes: []reason.Reason{reason.MemberCap}, At: listedAt}
	if err := printNoted(&out, seq(nil, record)); err != nil {
		t.Fatal(err)
	}
	letter := letters.Letter{ID: "12:3:0", OriginalID: "3:7:-1", Key: "k", Cause: reason.WrongVersion, Detail: "version 99", BuriedAt: listedAt, Payload: []byte("{}")}
	if err := printDeadLetters(&out, seq(nil, letter), listedAt.Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	wantLines(t, out.String(), "crowd", "member_cap", "100", "12:3:0", "3:7:-1", "wrong_version", "version 99", "1s ago")
}
