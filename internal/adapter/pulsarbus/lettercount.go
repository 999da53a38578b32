package pulsarbus

import (
	"context"
	"errors"
	"net/http"
)

// DeadLetters is how many letters of a dead-letter topic nobody has dealt with:
// the backlog of the operator's subscription ("" is
// DefaultDeadLetterSubscription). A topic that is not there, or was never written to, has none. It costs
// the broker what Stats costs.
func (a *Admin) DeadLetters(ctx context.Context, topic, subscription string) (int64, error) {
	if subscription == "" {
		subscription = DefaultDeadLetterSubscription
	}
	stats, err := a.Stats(ctx, topic, subscription)
	if errors.Is(err, errNoSubscription) {
		return 0, nil // it is made before the first letter
	}
	return stats.Backlog, gone(err)
}

// gone is nil for the answer that a topic is not there.
func gone(err error) error {
	var refused *AdminError
	if errors.As(err, &refused) && refused.Status == http.StatusNotFound {
		return nil
	}
	return err
}
