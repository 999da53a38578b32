package shadow_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/shadow"
	"github.com/rollcall-dev/rollcall/internal/shadow/shadowtest"
)

func TestReportsThatCannotBeTrue(t *testing.T) {
	good := shadow.Reported{Members: []string{"ann"}, At: shadowtest.T0, Source: shadow.Report}
	for field, change := range map[string]func(*shadow.Reported){
		"users":    func(r *shadow.Reported) { r.Members = nil },
		"users ":   func(r *shadow.Reported) { r.Members = slices.Repeat([]string{"ann"}, 101) },
		"users[1]": func(r *shadow.Reported) { r.Members = []string{"ann", ""} },
		"users[0]": func(r *shadow.Reported) { r.Members = []string{strings.Repeat("x", 65)} },
		"at":       func(r *shadow.Reported) { r.At = time.Time{} },
		"at ":      func(r *shadow.Reported) { r.At = shadowtest.T0.Add(5*time.Minute + time.Second) },
		"note":     func(r *shadow.Reported) { r.Note = strings.Repeat("说", 201) },
	} {
		r := newRig(t)
		bad := good
		change(&bad)
		_, err := r.desk.Pushed(t.Context(), c1, bad)
		wrong, ok := errors.AsType[*roster.InvalidError](err)
		if !ok || wrong.Field != strings.TrimSpace(field) {
			t.Errorf("%s: %v", field, err)
		}
	}
	r := newRig(t)
	good.At, good.Note = shadowtest.T0.Add(5*time.Minute), strings.Repeat("说", 200)
	if got, err := r.desk.Pushed(t.Context(), c1, good); got != shadow.Recorded || err != nil {
		t.Errorf("Pushed = %q, %v", got, err)
	}
}

func TestReportsOfCodesThatAreNotThere(t *testing.T) {
	r := newRig(t)
	for ref, want := range map[push.Ref]error{
		{Tenant: "acme", Code: "c-9"}: push.ErrUnknownCode, {Tenant: "globex", Code: "c-1"}: push.ErrUnknownTenant,
	} {
		if _, err := r.desk.Pushed(t.Context(), ref, shadow.Reported{Members: []string{"ann"}, At: shadowtest.T0}); !errors.Is(err, want) {
			t.Errorf("Pushed of %v: %v; want %v", ref, err, want)
		}
	}
}

// A list is what it holds: order and repetition make no other one.
func TestAListInAnotherOrderIsTheSame(t *testing.T) {
	r := newRig(t)
	r.pushes(c1, "bob", "ann", "bob")
	r.pushed(c1, shadowtest.T0.Add(time.Second), shadow.Repeated, "ann", "bob")
}
