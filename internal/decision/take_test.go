package decision_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/decision"
	"github.com/rollcall-dev/rollcall/internal/decision/decisiontest"
)

var at = time.Date(2026, 3, 2, 4, 0, 0, 0, time.UTC)

func drop() decision.Decision {
	d := decision.New("ann", decision.DropDirty, "dirty acme/code-1", at)
	d.Tenant, d.Code, d.Reason = "acme", "code-1", "the code is gone"
	return d
}

// Wherever a process is cut off or a write fails, what took effect is in the
// book.
func TestNothingTakesEffectUnrecorded(t *testing.T) {
	away := errors.New("the store is away")
	refused := errors.New("changed meanwhile")
	tests := map[string]struct {
		fails  string // an operation of the book
		after  bool   // it has had its effect
		act    error
		acted  bool
		state  decision.State // "": not in the book
		errors []error
	}{
		"all is well":                     {acted: true, state: decision.Done},
		"the act fails":                   {act: refused, acted: true, state: decision.Failed, errors: []error{refused}},
		"it is not recorded":              {fails: decisiontest.OpBegin, errors: []error{away}},
		"whether it is recorded is open":  {fails: decisiontest.OpBegin, after: true, state: decision.Begun, errors: []error{away}},
		"its end is not recorded":         {fails: decisiontest.OpEnd, acted: true, state: decision.Begun, errors: []error{away}},
		"neither succeeds":                {fails: decisiontest.OpEnd, act: refused, acted: true, state: decision.Begun, errors: []error{away, refused}},
		"the end's answer is lost":        {fails: decisiontest.OpEnd, after: true, acted: true, state: decision.Done, errors: []error{away}},
		"the failing end's answer is too": {fails: decisiontest.OpEnd, after: true, act: refused, acted: true, state: decision.Failed, errors: []error{away, refused}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			book := decisiontest.NewBook()
			fail := func(_ context.Context, op string) error {
				if op == tt.fails {
					return away
				}
				return nil
			}
			if tt.after {
				book.After = fail
			} else {
				book.Before = fail
			}
			acted := false
			err := decision.Take(t.Context(), book, drop(), func(context.Context) error {
				if all, err := book.List(t.Context(), 10); len(all) != 1 || err != nil {
					t.Errorf("acted upon with %d decisions in the book, %v", len(all), err)
				}
				acted = true
				return tt.act
			})
			if (err != nil) != (len(tt.errors) > 0) {
				t.Errorf("Take = %v, want %v", err, tt.errors)
			}
			for _, want := range tt.errors {
				if !errors.Is(err, want) {
					t.Errorf("Take = %v, which does not tell of %v", err, want)
				}
			}
			if acted != tt.acted {
				t.Errorf("acted upon: %v, want %v", acted, tt.acted)
			}
			wantState(t, book, tt.state)
		})
	}
}

// An operator who presses Ctrl-C during the act finds its end in the book.
func TestTheEndIsRecordedForWhoHasGone(t *testing.T) {
	book := decisiontest.NewBook()
	ctx, leave := context.WithCancel(t.Context())
	err := decision.Take(ctx, book, drop(), func(ctx context.Context) error {
		leave()
		return ctx.Err()
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Take = %v", err)
	}
	wantState(t, book, decision.Failed)
}

func TestADecisionNamesItsOperator(t *testing.T) {
	nobody, wordy, garbled := drop(), drop(), drop()
	nobody.By, wordy.Reason, garbled.Reason = "", strings.Repeat("x", decision.MaxReason+1), "\xff"
	for _, d := range []decision.Decision{nobody, wordy, garbled} {
		book := decisiontest.NewBook()
		err := decision.Take(t.Context(), book, d, func(context.Context) error {
			t.Error("acted upon")
			return nil
		})
		if err == nil {
			t.Errorf("%+v is taken", d)
		}
		wantState(t, book, "")
	}
}

func wantState(t *testing.T, book *decisiontest.Book, want decision.State) {
	t.Helper()
	all, err := book.List(t.Context(), 10)
	if err != nil {
		t.Fatal(err)
	}
	var got decision.State
	for _, d := range all {
		got = d.State
	}
	if got != want || len(all) > 1 {
		t.Errorf("the book holds %+v; want one that is %q", all, want)
	}
}
