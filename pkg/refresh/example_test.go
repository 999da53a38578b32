package refresh_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rollcall-dev/rollcall/pkg/refresh"
	"github.com/rollcall-dev/rollcall/pkg/refresh/refreshtest"
)

// A producer writes its fact first and publishes after.
func Example() {
	// In production: refresh.Dial("pulsar://broker:6650", refresh.Options{Topic: "…"})
	var publisher refresh.Publisher = &refreshtest.Publisher{}

	saveFact := func(context.Context) (time.Time, error) { // a majority write
		return time.Date(2026, 3, 4, 9, 0, 0, 0, time.UTC), nil
	}

	ctx := context.Background()
	at, err := saveFact(ctx)
	if err != nil {
		fmt.Println(err)
		return // nothing changed, nothing to publish
	}
	err = publisher.Publish(ctx, refresh.Event{
		Tenant: "acme", Code: "c-17", Reason: "staff_offline", OccurredAt: at, Note: "zhang.san",
	})
	fmt.Println(err)
	// Output: <nil>
}

// An InvalidError is a bug of the producer; publishing again does not help.
func ExampleInvalidError() {
	err := refresh.Event{Tenant: "acme", Code: "c 17"}.Validate()
	var invalid *refresh.InvalidError
	if errors.As(err, &invalid) {
		fmt.Println(invalid.Field, "holds", invalid.Value, "and should hold", invalid.Want)
	}
	// Output: code holds c 17 and should hold only letters, digits, '.', '_', ':' and '-'
}

// What a consumer in another process reads.
func ExampleDecode() {
	e, err := refresh.Decode([]byte(`{"v":1,"tenant":"acme","code":"c-17","reason":"edited","occurred_at":"2026-03-04T09:00:00Z"}`))
	fmt.Println(e.Tenant, e.Code, e.Reason, err)

	_, err = refresh.Decode([]byte(`{"v":2}`))
	fmt.Println(err)
	// Output:
	// acme c-17 edited <nil>
	// event of version 2: this build reads version 1
}

// Dial connects a producer that owns its connection. (Needs a broker.)
func ExampleDial() {
	producer, err := refresh.Dial("pulsar+ssl://broker.example.com:6651", refresh.Options{
		Topic:    "persistent://public/default/rollcall-refresh",
		WhenFull: refresh.Refuse, // a user's request waits: fail fast
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer producer.Close()

	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	err = producer.Publish(ctx, refresh.Event{Tenant: "acme", Code: "c-17", Reason: "edited", OccurredAt: time.Now()})
	if errors.Is(err, refresh.ErrFull) {
		fmt.Println("keep the event in the outbox and publish it later")
	}
}
