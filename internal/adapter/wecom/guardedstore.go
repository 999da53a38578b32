package wecom

import (
	"context"
	"log/slog"
	"time"
)

// guardedStore bounds every operation of a TokenStore in time and turns its
// failures into "no": each is counted and logged here, and whoever asked goes
// on alone.
type guardedStore struct {
	tokens   TokenStore
	refusals RefusalStore // nil: not shared
	timeout  time.Duration
	leaseTTL time.Duration
	signals  *signals
	log      *slog.Logger
}

func newGuardedStore(options TokensOptions, endpoint *Endpoint) guardedStore {
	refusals, _ := options.Store.(RefusalStore)
	return guardedStore{
		tokens: options.Store, refusals: refusals,
		timeout: options.StoreTimeout, leaseTTL: options.FetchTimeout,
		signals: endpoint.signals, log: endpoint.log,
	}
}

// attempt runs an operation. It is not cut short by the caller's end: a token
// that was refused has to be invalidated although its caller gave up.
func (s guardedStore) attempt(ctx context.Context, operation string, run func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.timeout)
	defer cancel()
	err := run(ctx)
	if err != nil {
		s.signals.storeFailed(ctx, operation)
		s.log.WarnContext(ctx, "the shared token store failed; going on alone",
			slog.String("operation", operation), slog.Any("error", err))
	}
	return err
}

func (s guardedStore) get(ctx context.Context, key string) (token Token, ok bool) {
	err := s.attempt(ctx, "get", func(ctx context.Context) (err error) {
		token, ok, err = s.tokens.Get(ctx, key)
		return err
	})
	return token, ok && err == nil
}

func (s guardedStore) put(ctx context.Context, key string, token Token) {
	_ = s.attempt(ctx, "put", func(ctx context.Context) error { return s.tokens.Put(ctx, key, token) })
}

func (s guardedStore) invalidate(ctx context.Context, key string, refused Secret) {
	_ = s.attempt(ctx, "invalidate", func(ctx context.Context) error {
		return s.tokens.Invalidate(ctx, key, refused)
	})
}

func (s guardedStore) lease(ctx context.Context, key string) (lease Lease, err error) {
	err = s.attempt(ctx, "lease", func(ctx context.Context) (err error) {
		lease, err = s.tokens.Lease(ctx, key, s.leaseTTL)
		return err
	})
	return lease, err
}

func (s guardedStore) release(ctx context.Context, lease Lease) {
	_ = s.attempt(ctx, "release", lease.Release)
}

func (s guardedStore) refusal(ctx context.Context, key string) (refusal Refusal, ok bool) {
	if s.refusals == nil {
		return Refusal{}, false
	}
	err := s.attempt(ctx, "refusal", func(ctx context.Context) (err error) {
		refusal, ok, err = s.refusals.Refusal(ctx, key)
		return err
	})
	return refusal, ok && err == nil
}

func (s guardedStore) putRefusal(ctx context.Context, key string, refusal Refusal, ttl time.Duration) {
	if s.refusals == nil {
		return
	}
	_ = s.attempt(ctx, "put_refusal", func(ctx context.Context) error {
		return s.refusals.PutRefusal(ctx, key, refusal, ttl)
	})
}

func (s guardedStore) dropRefusal(ctx context.Context, key string) {
	if s.refusals == nil {
		return
	}
	_ = s.attempt(ctx, "drop_refusal", func(ctx context.Context) error { return s.refusals.DropRefusal(ctx, key) })
}
