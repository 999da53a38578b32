package refreshtest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/pkg/refresh"
)

// Check fails t unless p keeps to what refresh.Publisher promises. p has to
// accept events; tenant and code name one that p may publish events for.
func Check(t *testing.T, p refresh.Publisher, tenant, code string) {
	t.Helper()
	good := refresh.Event{Tenant: tenant, Code: code, Reason: "check", OccurredAt: time.Now()}
	bad := good
	bad.Code = "not a code"

	t.Run("a valid event is stored", func(t *testing.T) {
		if err := p.Publish(t.Context(), good); err != nil {
			t.Errorf("Publish: %v", err)
		}
	})
	t.Run("an invalid event names its field", func(t *testing.T) {
		wantInvalid(t, p.Publish(t.Context(), bad), "code")
	})
	t.Run("an ended context is an error", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := p.Publish(ctx, good); !errors.Is(err, context.Canceled) {
			t.Errorf("Publish = %v, want context.Canceled", err)
		}
	})
	t.Run("done is called once, with nil", func(t *testing.T) {
		got := make(chan error, 2)
		p.PublishAsync(t.Context(), good, func(err error) { got <- err })
		if err := p.Flush(t.Context()); err != nil {
			t.Fatalf("Flush: %v", err)
		}
		if err := <-got; err != nil {
			t.Errorf("done(%v), want done(nil)", err)
		}
		if len(got) != 0 {
			t.Error("done was called twice")
		}
	})
	t.Run("done is told at once of an invalid event", func(t *testing.T) {
		got := make(chan error, 1)
		p.PublishAsync(t.Context(), bad, func(err error) { got <- err })
		select {
		case err := <-got:
			wantInvalid(t, err, "code")
		default:
			t.Error("PublishAsync returned before done was called")
		}
	})
	t.Run("done may be nil", func(t *testing.T) {
		p.PublishAsync(t.Context(), good, nil)
		p.PublishAsync(t.Context(), bad, nil)
		if err := p.Flush(t.Context()); err != nil {
			t.Errorf("Flush: %v", err)
		}
	})
}

func wantInvalid(t *testing.T, err error, field string) {
	t.Helper()
	var invalid *refresh.InvalidError
	if !errors.As(err, &invalid) || invalid.Field != field {
		t.Errorf("got %v, want an InvalidError of %q", err, field)
	}
}
