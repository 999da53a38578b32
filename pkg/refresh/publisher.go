package refresh

import "context"

// Publisher is what a producer's code needs of this package. *Producer is one;
// refreshtest.Publisher is one for tests.
type Publisher interface {
	// Publish returns nil when the broker has stored the event. After an
	// error the event may or may not be stored: publish it again. An
	// *InvalidError is final.
	Publish(ctx context.Context, e Event) error
	// PublishAsync hands the event over and calls done exactly once, with
	// what Publish would have returned: before it returns when the event is
	// refused at once, later and from another goroutine otherwise. ctx bounds
	// the handing over only. done must not block and may be nil.
	PublishAsync(ctx context.Context, e Event, done func(error))
	// Flush waits until every event handed over before is stored or has failed.
	Flush(ctx context.Context) error
}
