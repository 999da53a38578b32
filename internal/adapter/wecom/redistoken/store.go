package redistoken

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/rollcall-dev/rollcall/internal/adapter/wecom"
)

// Options tunes a Store.
type Options struct {
	// Prefix starts every key; default "rollcall:wecom:".
	Prefix string
	// Key seals the tokens with AES-GCM; 16, 24 or 32 bytes, the same for all
	// instances. Without one they lie in Redis in clear. A token sealed under
	// another key counts as absent and is fetched anew, so a key can be
	// changed at any time.
	Key []byte
}

// Store is a wecom.TokenStore and wecom.RefusalStore in Redis. Each operation
// is on one key, so it runs on Redis Cluster.
type Store struct {
	redis  redis.UniversalClient
	prefix string
	seal   sealer
}

var (
	_ wecom.TokenStore   = (*Store)(nil)
	_ wecom.RefusalStore = (*Store)(nil)
)

// New returns a store. It fails on a key of the wrong size and does not ask
// Redis.
func New(client redis.UniversalClient, options Options) (*Store, error) {
	seal, err := newSealer(options.Key)
	if err != nil {
		return nil, err
	}
	prefix := options.Prefix
	if prefix == "" {
		prefix = "rollcall:wecom:"
	}
	return &Store{redis: client, prefix: prefix, seal: seal}, nil
}

// deleteIf removes a key whose value is still the one that was read.
var deleteIf = redis.NewScript(`
if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('DEL', KEYS[1])
end
return 0`)

// storedToken is a token before it is sealed.
type storedToken struct {
	Value        string `json:"value"`
	Expires      int64  `json:"expires"`       // Unix milliseconds
	RefreshAfter int64  `json:"refresh_after"` // Unix milliseconds
}

// Get returns the token of a key; false when there is none that can be opened.
func (s *Store) Get(ctx context.Context, key string) (wecom.Token, bool, error) {
	token, _, err := s.read(ctx, s.tokenKey(key))
	if err != nil {
		return wecom.Token{}, false, fmt.Errorf("get a token: %w", err)
	}
	return token, !token.Value.Empty(), nil
}

// Put keeps a token until it expires. One that has expired removes the key.
func (s *Store) Put(ctx context.Context, key string, token wecom.Token) error {
	name := s.tokenKey(key)
	plain, err := json.Marshal(storedToken{
		Value:        token.Value.Reveal(),
		Expires:      token.Expires.UnixMilli(),
		RefreshAfter: token.RefreshAfter.UnixMilli(),
	})
	if err != nil {
		return fmt.Errorf("encode a token: %w", err)
	}
	if err := s.redis.Do(ctx, "SET", name, s.seal.close(plain, name), "PXAT", token.Expires.UnixMilli()).Err(); err != nil {
		return fmt.Errorf("put a token: %w", err)
	}
	return nil
}

// Invalidate removes the key's token if it is the refused one. A newer token
// that arrives in between stays.
func (s *Store) Invalidate(ctx context.Context, key string, refused wecom.Secret) error {
	name := s.tokenKey(key)
	token, raw, err := s.read(ctx, name)
	if err == nil && !token.Value.Empty() && token.Value.Equal(refused) {
		err = deleteIf.Run(ctx, s.redis, []string{name}, raw).Err()
	}
	if err != nil {
		return fmt.Errorf("invalidate a token: %w", err)
	}
	return nil
}

// read returns the token under a Redis key and its raw value; the zero token
// when there is none or it is not ours to open.
func (s *Store) read(ctx context.Context, name string) (wecom.Token, string, error) {
	raw, err := s.redis.Get(ctx, name).Result()
	if errors.Is(err, redis.Nil) {
		return wecom.Token{}, "", nil
	}
	if err != nil {
		return wecom.Token{}, "", err
	}
	return s.decode(raw, name), raw, nil
}

func (s *Store) decode(raw, name string) wecom.Token {
	plain, ok := s.seal.open(raw, name)
	var stored storedToken
	if !ok || json.Unmarshal(plain, &stored) != nil {
		return wecom.Token{}
	}
	return wecom.Token{
		Value:        wecom.NewSecret(stored.Value),
		Expires:      time.UnixMilli(stored.Expires),
		RefreshAfter: time.UnixMilli(stored.RefreshAfter),
	}
}

// Lease gives the right to fetch to one instance at a time.
func (s *Store) Lease(ctx context.Context, key string, ttl time.Duration) (wecom.Lease, error) {
	held := lease{store: s, name: s.prefix + "lease:" + key, owner: rand.Text()}
	err := s.redis.SetArgs(ctx, held.name, held.owner, redis.SetArgs{Mode: "NX", TTL: ttl}).Err()
	if errors.Is(err, redis.Nil) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("lease the fetching of a token: %w", err)
	}
	return held, nil
}

type lease struct {
	store *Store
	name  string
	owner string
}

// Release gives the lease up if it is still held.
func (l lease) Release(ctx context.Context) error {
	if err := deleteIf.Run(ctx, l.store.redis, []string{l.name}, l.owner).Err(); err != nil {
		return fmt.Errorf("release the lease of a token: %w", err)
	}
	return nil
}

func (s *Store) tokenKey(key string) string { return s.prefix + "token:" + key }
