package refresh_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/pkg/refresh"
)

func TestEventValidate(t *testing.T) {
	tests := []struct {
		name  string
		edit  func(*refresh.Event)
		field string // "" is valid
	}{
		{"complete", func(*refresh.Event) {}, ""},
		{"without a note", func(e *refresh.Event) { e.Note = "" }, ""},
		{"the whole alphabet", func(e *refresh.Event) { e.Code = "azAZ09._:-" }, ""},
		{"the longest fields", func(e *refresh.Event) {
			e.Tenant, e.Code = strings.Repeat("t", 128), strings.Repeat("c", 128)
			e.Reason, e.Note = strings.Repeat("r", 64), strings.Repeat("n", 512)
		}, ""},
		{"no tenant", func(e *refresh.Event) { e.Tenant = "" }, "tenant"},
		{"a long tenant", func(e *refresh.Event) { e.Tenant = strings.Repeat("t", 129) }, "tenant"},
		{"a space in the tenant", func(e *refresh.Event) { e.Tenant = "a b" }, "tenant"},
		{"no code", func(e *refresh.Event) { e.Code = "" }, "code"},
		{"a long code", func(e *refresh.Event) { e.Code = strings.Repeat("c", 129) }, "code"},
		{"braces in the code", func(e *refresh.Event) { e.Code = "{c}" }, "code"},
		{"a code beyond ASCII", func(e *refresh.Event) { e.Code = "码" }, "code"},
		{"no reason", func(e *refresh.Event) { e.Reason = "" }, "reason"},
		{"a long reason", func(e *refresh.Event) { e.Reason = strings.Repeat("r", 65) }, "reason"},
		{"a reason that is not UTF-8", func(e *refresh.Event) { e.Reason = "\xff" }, "reason"},
		{"a long note", func(e *refresh.Event) { e.Note = strings.Repeat("n", 513) }, "note"},
		{"no time", func(e *refresh.Event) { e.OccurredAt = time.Time{} }, "occurred_at"},
		{"before 1970", func(e *refresh.Event) { e.OccurredAt = time.Unix(-1, 0) }, "occurred_at"},
		{"after 9999", func(e *refresh.Event) { e.OccurredAt = time.Unix(1<<40, 0) }, "occurred_at"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := sample()
			tt.edit(&e)
			err := e.Validate()
			if tt.field == "" {
				if err != nil {
					t.Fatalf("Validate: %v", err)
				}
				return
			}
			var invalid *refresh.InvalidError
			if !errors.As(err, &invalid) || invalid.Field != tt.field {
				t.Fatalf("Validate = %v, want an InvalidError of %q", err, tt.field)
			}
		})
	}
}

func TestInvalidErrorShowsLittleOfALongValue(t *testing.T) {
	e := sample()
	e.Note = strings.Repeat("码", 1000)
	var invalid *refresh.InvalidError
	if !errors.As(e.Validate(), &invalid) {
		t.Fatal("no InvalidError")
	}
	if want := strings.Repeat("码", 21); invalid.Value != want {
		t.Errorf("Value = %q, want the first 63 bytes, whole characters only", invalid.Value)
	}
	if !strings.Contains(invalid.Error(), "invalid note") || !strings.Contains(invalid.Error(), "at most 512 bytes") {
		t.Errorf("Error() = %q names neither field nor limit", invalid.Error())
	}
}

// sample is a valid event with every field set.
func sample() refresh.Event {
	return refresh.Event{
		Tenant:     "wwd08c8e7c775ab44d",
		Code:       "c-00017",
		Reason:     "staff_offline",
		OccurredAt: time.Date(2026, 3, 4, 5, 6, 7, 89, time.UTC),
		Note:       `zhang.san went "off line"`,
	}
}
