package wecom

import (
	"context"
	"sync"
	"time"
)

// MemoryStore is a TokenStore and RefusalStore of one process. Entries that
// expired are removed when their key is next used or when the map doubles.
type MemoryStore struct {
	now func() time.Time

	mu       sync.Mutex
	tokens   expiring[Token]
	leases   expiring[*memoryLease]
	refusals expiring[Refusal]
}

// NewMemoryStore returns an empty store; nil is time.Now.
func NewMemoryStore(now func() time.Time) *MemoryStore {
	if now == nil {
		now = time.Now
	}
	return &MemoryStore{now: now}
}

// Get returns the token of a key.
func (s *MemoryStore) Get(_ context.Context, key string) (Token, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	token, ok := s.tokens.get(key, s.now())
	return token, ok, nil
}

// Put keeps a token until it expires.
func (s *MemoryStore) Put(_ context.Context, key string, token Token) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tokens.put(key, token, token.Expires, s.now())
	return nil
}

// Invalidate removes the key's token if it is the refused one.
func (s *MemoryStore) Invalidate(_ context.Context, key string, refused Secret) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if token, ok := s.tokens.get(key, s.now()); ok && token.Value.Equal(refused) {
		s.tokens.remove(key)
	}
	return nil
}

// Lease gives the right to fetch to one at a time.
func (s *MemoryStore) Lease(_ context.Context, key string, ttl time.Duration) (Lease, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	if _, taken := s.leases.get(key, now); taken {
		return nil, nil
	}
	lease := &memoryLease{store: s, key: key}
	s.leases.put(key, lease, now.Add(ttl), now)
	return lease, nil
}

type memoryLease struct {
	store *MemoryStore
	key   string
}

// Release gives the lease up if it is still held.
func (l *memoryLease) Release(context.Context) error {
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	if holder, ok := l.store.leases.get(l.key, l.store.now()); ok && holder == l {
		l.store.leases.remove(l.key)
	}
	return nil
}

// Refusal returns the key's refusal.
func (s *MemoryStore) Refusal(_ context.Context, key string) (Refusal, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	refusal, ok := s.refusals.get(key, s.now())
	return refusal, ok, nil
}

// PutRefusal keeps a refusal for ttl.
func (s *MemoryStore) PutRefusal(_ context.Context, key string, refusal Refusal, ttl time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	s.refusals.put(key, refusal, now.Add(ttl), now)
	return nil
}

// DropRefusal forgets the key's refusal.
func (s *MemoryStore) DropRefusal(_ context.Context, key string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refusals.remove(key)
	return nil
}
