package publish_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/publish"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/push/pushtest"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

var (
	errBroker = errors.New("the broker is away")
	errStore  = errors.New("the store is away")
	code      = push.Ref{Tenant: "acme", Code: "code-1"}
)

const timeout = 2 * time.Second

func TestRefresh(t *testing.T) {
	tests := map[string]struct {
		broker, store error
		takes         time.Duration // of the broker
		place         publish.Place
		errors        []error
		after         time.Duration // the answer
	}{
		"the broker takes it": {
			place: publish.Broker,
		},
		"the broker takes its time": {
			takes: timeout - time.Millisecond, place: publish.Broker, after: timeout - time.Millisecond,
		},
		"the broker is away": {
			broker: errBroker, place: publish.DirtySet,
		},
		"the broker is too slow": {
			takes: time.Hour, place: publish.DirtySet, after: timeout,
		},
		"the store is away and the broker is not": {
			store: errStore, place: publish.Broker,
		},
		"both are away": {
			broker: errBroker, store: errStore, errors: []error{errBroker, errStore},
		},
		"the broker is too slow and the store is away": {
			takes: time.Hour, store: errStore, errors: []error{context.DeadlineExceeded, errStore}, after: timeout,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(test.broker, test.store, test.takes)
				begin := time.Now()
				place, err := r.Refresh(t.Context(), code, "addition")
				if place != test.place || (err != nil) != (len(test.errors) > 0) {
					t.Errorf("Refresh = %q, %v; want %q, errors %v", place, err, test.place, test.errors)
				}
				for _, want := range test.errors {
					if !errors.Is(err, want) {
						t.Errorf("Refresh = %v, which does not tell of %v", err, want)
					}
				}
				if took := time.Since(begin); took != test.after {
					t.Errorf("answered after %v, want %v", took, test.after)
				}
				r.wantStored(t, begin, test.place)
			})
		})
	}
}

// A caller who has gone away learns that nothing is stored.
func TestRefreshForNobody(t *testing.T) {
	r := newRig(nil, nil, 0)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if place, err := r.Refresh(ctx, code, "addition"); place != "" || !errors.Is(err, context.Canceled) {
		t.Errorf("Refresh = %q, %v; want an error", place, err)
	}
}

// rig is a Publisher between a broker and a dirty set.
type rig struct {
	*publish.Publisher
	topic *topic
	dirty *pushtest.Dirty
}

func newRig(broker, store error, takes time.Duration) rig {
	topic := &topic{fails: broker, takes: takes}
	dirty := pushtest.NewDirty(pushtest.NewClock(time.Now()))
	dirty.Before = func(string) error { return store }
	return rig{publish.New(topic, dirty, publish.Options{Timeout: timeout, Now: time.Now}), topic, dirty}
}

// wantStored fails unless the reason is in one place, and there alone.
func (r rig) wantStored(t *testing.T, at time.Time, place publish.Place) {
	t.Helper()
	var want []event
	if place == publish.Broker {
		want = []event{{code, "addition", at}}
	}
	if diff := cmp.Diff(want, r.topic.stored, cmp.AllowUnexported(event{})); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	entry, dirty, err := r.dirty.Get(t.Context(), code)
	if err != nil {
		t.Fatal(err)
	}
	if dirty != (place == publish.DirtySet) {
		t.Fatalf("dirty: %v, want place %q", dirty, place)
	}
	if !dirty {
		return
	}
	if diff := cmp.Diff([]reason.Reason{reason.Unpublished}, entry.Reasons); diff != "" {
		t.Errorf("reasons of the dirty code (-want +got):\n%s", diff)
	}
	if !entry.Due.Equal(at.Truncate(time.Millisecond)) || !strings.Contains(entry.Detail, "addition") {
		t.Errorf("dirty code due %v with the detail %q; want due %v, with the event's reason", entry.Due, entry.Detail, at)
	}
}

// topic is a broker that fails or takes its time.
type topic struct {
	fails  error
	takes  time.Duration
	stored []event
}

type event struct {
	ref push.Ref
	why string
	at  time.Time
}

func (b *topic) Publish(ctx context.Context, ref push.Ref, why string, at time.Time) error {
	timer := time.NewTimer(b.takes)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := errors.Join(b.fails, ctx.Err()); err != nil {
		return err
	}
	b.stored = append(b.stored, event{ref, why, at})
	return nil
}
