// Package redissession remembers which sessions were signed out, for all
// processes that would take them.
//
// It owns a key in Redis for each, until the session would have ended by itself.
// It refuses to own sessions: whoever has one carries it.
package redissession

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// SignOuts are the sessions that were signed out. It is safe for concurrent use.
type SignOuts struct {
	client redis.UniversalClient
	prefix string
}

// New returns SignOuts on a client that stays the caller's; prefix begins the
// names of the keys.
func New(client redis.UniversalClient, prefix string) *SignOuts {
	return &SignOuts{client: client, prefix: prefix + "signed-out:"}
}

// End notes that a session was signed out; it is remembered for so long.
func (s *SignOuts) End(ctx context.Context, session string, lasting time.Duration) error {
	if err := s.client.Set(ctx, s.prefix+session, 1, lasting).Err(); err != nil {
		return fmt.Errorf("note that a session was signed out: %w", err)
	}
	return nil
}

// Ended reports whether a session was signed out.
func (s *SignOuts) Ended(ctx context.Context, session string) (bool, error) {
	n, err := s.client.Exists(ctx, s.prefix+session).Result()
	if err != nil {
		return false, fmt.Errorf("ask whether a session was signed out: %w", err)
	}
	return n > 0, nil
}
