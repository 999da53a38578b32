package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/seal"
)

func TestSecretStatusListing(t *testing.T) {
	counts := []mongostore.SecretCount{
		{Place: "credentials.secret", Sealed: map[string]int{"2026b": 5, "2026a": 2}, Plain: 3},
		{Place: "credentials.callback.token", Sealed: map[string]int{"2026b": 1}, Unopened: 1},
	}
	for name, tc := range map[string]struct {
		first string
		want  []string
	}{
		"while a key is replaced": {"2026b", []string{
			"2026a", "(in clear)", "11 in all: 6 with the first key (2026b), 2 with others, 3 in clear", "1 do not open",
		}},
		"without keys": {"", []string{"11 in all: 8 sealed, 3 in clear; ROLLCALL_SEAL_KEYS is not set"}},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			if err := printSecretStatus(&out, counts, tc.first); err != nil {
				t.Fatal(err)
			}
			wantLines(t, out.String(), tc.want...)
		})
	}
	var out strings.Builder
	if err := printSecretStatus(&out, []mongostore.SecretCount{{Place: "credentials.secret"}}, "2026b"); err != nil {
		t.Fatal(err)
	}
	wantLines(t, out.String(), "There are no secrets.")
}

func TestResealListing(t *testing.T) {
	var out strings.Builder
	if err := printResealed(&out, mongostore.Resealed{Sealed: 3, Renewed: 2, Current: 6}, nil); err != nil {
		t.Errorf("a run without a flaw fails: %v", err)
	}
	wantLines(t, out.String(), "sealed 3 that were in clear, renewed 2 of other keys, found 6 of the first key")
	if strings.Contains(out.String(), "once more") {
		t.Errorf("nothing was overtaken:\n%s", out.String())
	}
	out.Reset()
	if err := printResealed(&out, mongostore.Resealed{Overtaken: 1}, nil); err != nil {
		t.Errorf("overtaken is no failure: %v", err)
	}
	wantLines(t, out.String(), "1 were written by others just now; run it once more")
}

func TestResealThatIsNotWholeFails(t *testing.T) {
	var out strings.Builder
	gone := errors.New("connection reset")
	err := printResealed(&out, mongostore.Resealed{Sealed: 7}, gone)
	if !errors.Is(err, gone) {
		t.Errorf("%v; want the cause", err)
	}
	wantLines(t, out.String(), "sealed 7")
	out.Reset()
	if err := printResealed(&out, mongostore.Resealed{}, seal.ErrNoKeys); !errors.Is(err, seal.ErrNoKeys) || out.Len() > 0 {
		t.Errorf("%v; a run that did not begin tells of what it did:\n%s", err, out.String())
	}
	missing := mongostore.Resealed{Unopened: 12, Causes: []error{seal.ErrMissingKey}}
	err = printResealed(&out, missing, nil)
	if err == nil {
		t.Fatal("secrets that do not open are no failure")
	}
	wantLines(t, err.Error(), "12 secrets do not open", seal.ErrMissingKey.Error(), "and 11 more")
}
