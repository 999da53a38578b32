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

// hangingStore answers when its caller gives up.
type hangingStore struct{}

func (hangingStore) Get(ctx context.Context, _ string) (wecom.Token, bool, error) {
	<-ctx.Done()
	return wecom.Token{}, false, ctx.Err()
}

func (hangingStore) Put(ctx context.Context, _ string, _ wecom.Token) error {
	<-ctx.Done()
	return ctx.Err()
}

func (hangingStore) Invalidate(ctx context.Context, _ string, _ wecom.Secret) error {
	<-ctx.Done()
	return ctx.Err()
}

func (hangingStore) Lease(ctx context.Context, _ string, _ time.Duration) (wecom.Lease, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// leasedStore has its lease with somebody else.
type leasedStore struct{ wecom.TokenStore }

func (leasedStore) Lease(context.Context, string, time.Duration) (wecom.Lease, error) {
	return nil, nil
}

// deafStore does not hear that a token was refused.
type deafStore struct{ wecom.TokenStore }

func (deafStore) Invalidate(context.Context, string, wecom.Secret) error { return errStoreDown }

// racingStore has another instance's token the moment its lease is given.
type racingStore struct{ wecom.TokenStore }

func (s racingStore) Lease(ctx context.Context, key string, ttl time.Duration) (wecom.Lease, error) {
	now := time.Now()
	token := wecom.Token{Value: wecom.NewSecret("of another"), Expires: now.Add(2 * time.Hour), RefreshAfter: now.Add(time.Hour)}
	if err := s.Put(ctx, key, token); err != nil {
		return nil, err
	}
	return s.TokenStore.Lease(ctx, key, ttl)
}
