package refreshtest_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/pkg/refresh"
	"github.com/rollcall-dev/rollcall/pkg/refresh/refreshtest"
)

func TestPublisherKeepsItsPromises(t *testing.T) {
	refreshtest.Check(t, &refreshtest.Publisher{}, "t1", "c1")
}

func TestPublisherRecordsInOrder(t *testing.T) {
	var p refreshtest.Publisher
	want := []refresh.Event{event("a"), event("b"), event("a")}
	for _, e := range want {
		if err := p.Publish(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(want, p.Events()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestPublisherFailsAsTold(t *testing.T) {
	var p refreshtest.Publisher
	down := errors.New("broker down")
	p.FailWith(func(e refresh.Event) error {
		if e.Code == "a" {
			return down
		}
		return nil
	})
	if err := p.Publish(t.Context(), event("a")); !errors.Is(err, down) {
		t.Errorf("Publish a = %v, want %v", err, down)
	}
	if err := p.Publish(t.Context(), event("b")); err != nil {
		t.Errorf("Publish b = %v", err)
	}
	p.FailWith(nil)
	if err := p.Publish(t.Context(), event("a")); err != nil {
		t.Errorf("Publish a after the outage = %v", err)
	}
	if diff := cmp.Diff([]refresh.Event{event("b"), event("a")}, p.Events()); diff != "" {
		t.Errorf("recorded (-want +got):\n%s", diff)
	}
}

func TestAwait(t *testing.T) {
	isB := func(e refresh.Event) bool { return e.Code == "b" }
	tests := []struct {
		name          string
		before, later []string
		ok            bool
	}{
		{"published before", []string{"a", "b"}, nil, true},
		{"published later", []string{"a"}, []string{"c", "b"}, true},
		{"never published", []string{"a"}, []string{"c"}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var p refreshtest.Publisher
				publish(t, &p, tt.before)
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				var wg sync.WaitGroup
				wg.Go(func() {
					e, err := p.Await(ctx, isB)
					if tt.ok && (err != nil || e.Code != "b") {
						t.Errorf("Await = %v, %v", e, err)
					}
					if !tt.ok && !errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("Await = %v, want the deadline", err)
					}
				})
				synctest.Wait()
				publish(t, &p, tt.later)
				wg.Wait()
			})
		})
	}
}

func TestManyPublishAndManyWait(t *testing.T) {
	var p refreshtest.Publisher
	var wg sync.WaitGroup
	for i := range 20 {
		code := fmt.Sprint("c", i)
		wg.Go(func() { publish(t, &p, []string{code}) })
		wg.Go(func() {
			if _, err := p.Await(t.Context(), func(e refresh.Event) bool { return e.Code == code }); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := len(p.Events()); n != 20 {
		t.Errorf("%d events recorded, want 20", n)
	}
}

func ExamplePublisher() {
	var p refreshtest.Publisher
	goOffline := func(ctx context.Context, p refresh.Publisher) error { // the code under test
		return p.Publish(ctx, refresh.Event{Tenant: "acme", Code: "c-17", Reason: "staff_offline", OccurredAt: time.Now()})
	}
	ctx := context.Background()
	if err := goOffline(ctx, &p); err != nil {
		fmt.Println(err)
	}
	e, err := p.Await(ctx, func(e refresh.Event) bool { return e.Code == "c-17" })
	fmt.Println(e.Reason, err)
	// Output: staff_offline <nil>
}

func publish(t *testing.T, p *refreshtest.Publisher, codes []string) {
	t.Helper()
	for _, code := range codes {
		if err := p.Publish(t.Context(), event(code)); err != nil {
			t.Error(err)
		}
	}
}

func event(code string) refresh.Event {
	return refresh.Event{Tenant: "t", Code: code, Reason: "test", OccurredAt: time.Unix(1, 0)}
}
