package redistoken

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/rollcall-dev/rollcall/internal/adapter/wecom"
)

// storedRefusal is in clear: it holds no secret, and an operator may want to
// read or delete it.
type storedRefusal struct {
	Op      string `json:"op"`
	ErrCode int    `json:"errcode"`
	Message string `json:"message"`
	Streak  int    `json:"streak"`
	Until   int64  `json:"until"` // Unix milliseconds
}

// Refusal returns the key's refusal; false when there is none.
func (s *Store) Refusal(ctx context.Context, key string) (wecom.Refusal, bool, error) {
	raw, err := s.redis.Get(ctx, s.refusalKey(key)).Bytes()
	if errors.Is(err, redis.Nil) {
		return wecom.Refusal{}, false, nil
	}
	if err != nil {
		return wecom.Refusal{}, false, fmt.Errorf("get a refusal: %w", err)
	}
	var stored storedRefusal
	if err := json.Unmarshal(raw, &stored); err != nil {
		return wecom.Refusal{}, false, fmt.Errorf("decode a refusal: %w", err)
	}
	return wecom.Refusal{
		Op: stored.Op, ErrCode: stored.ErrCode, Message: stored.Message,
		Streak: stored.Streak, Until: time.UnixMilli(stored.Until),
	}, true, nil
}

// PutRefusal keeps a refusal for ttl.
func (s *Store) PutRefusal(ctx context.Context, key string, refusal wecom.Refusal, ttl time.Duration) error {
	raw, err := json.Marshal(storedRefusal{
		Op: refusal.Op, ErrCode: refusal.ErrCode, Message: refusal.Message,
		Streak: refusal.Streak, Until: refusal.Until.UnixMilli(),
	})
	if err != nil {
		return fmt.Errorf("encode a refusal: %w", err)
	}
	if err := s.redis.Set(ctx, s.refusalKey(key), raw, ttl).Err(); err != nil {
		return fmt.Errorf("put a refusal: %w", err)
	}
	return nil
}

// DropRefusal forgets the key's refusal.
func (s *Store) DropRefusal(ctx context.Context, key string) error {
	if err := s.redis.Del(ctx, s.refusalKey(key)).Err(); err != nil {
		return fmt.Errorf("drop a refusal: %w", err)
	}
	return nil
}

func (s *Store) refusalKey(key string) string { return s.prefix + "refusal:" + key }
