package wecom_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rollcall-dev/rollcall/internal/adapter/wecom"
)

var errStoreDown = errors.New("connection refused")

// brokenStore is a store that is down. What it was given shows in its errors
// as an implementation would print it.
type brokenStore struct{}

func (brokenStore) Get(context.Context, string) (wecom.Token, bool, error) {
	return wecom.Token{}, false, errStoreDown
}

func (brokenStore) Put(_ context.Context, key string, token wecom.Token) error {
	return fmt.Errorf("put %+v under %s: %w", token, key, errStoreDown)
}

func (brokenStore) Invalidate(_ context.Context, _ string, refused wecom.Secret) error {
	return fmt.Errorf("invalidate %v: %w", refused, errStoreDown)
}

func (brokenStore) Lease(context.Context, string, time.Duration) (wecom.Lease, error) {
	return nil, errStoreDown
}

func (brokenStore) Refusal(context.Context, string) (wecom.Refusal, bool, error) {
	return wecom.Refusal{}, false, errStoreDown
}

func (brokenStore) PutRefusal(context.Context, string, wecom.Refusal, time.Duration) error {
	return errStoreDown
}

func (brokenStore) DropRefusal(context.Context, string) error { return errStoreDown }
