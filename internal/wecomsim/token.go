package wecomsim

import (
	"crypto/rand"
	"sync"
	"time"
)

// tokenBook holds the valid tokens: one per corp and app.
type tokenBook struct {
	mu      sync.RWMutex
	byApp   map[appKey]*token
	byValue map[string]*token
}

type appKey struct{ corp, secret string }

type token struct {
	app     appKey
	value   string
	before  string // the app's token before this one
	expires time.Time
}

func newTokenBook() *tokenBook {
	return &tokenBook{byApp: map[appKey]*token{}, byValue: map[string]*token{}}
}

// issue returns the app's token while it is valid, else a new one. The last
// one stays known, so that it is answered as expired.
func (b *tokenBook) issue(app appKey, now time.Time, ttl time.Duration) *token {
	b.mu.Lock()
	defer b.mu.Unlock()
	last := b.byApp[app]
	if last != nil && now.Before(last.expires) {
		return last
	}
	t := &token{app: app, value: "sim-" + rand.Text(), expires: now.Add(ttl)}
	if last != nil {
		delete(b.byValue, last.before)
		t.before = last.value
	}
	b.byApp[app] = t
	b.byValue[t.value] = t
	return t
}

// find returns the token of that value: OK, expired, or never heard of.
func (b *tokenBook) find(value string, now time.Time) (t *token, expired, known bool) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	t, known = b.byValue[value]
	return t, known && !now.Before(t.expires), known
}

// invalidate forgets all tokens of a corp: they are answered with 40014.
func (b *tokenBook) invalidate(corp string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for value, t := range b.byValue {
		if t.app.corp == corp {
			delete(b.byValue, value)
			delete(b.byApp, t.app)
		}
	}
}

func (b *tokenBook) clear() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.byApp, b.byValue = map[appKey]*token{}, map[string]*token{}
}

// InvalidateTokens ends all tokens of a corp before their time, as WeCom may
// do: calls with them get 40014.
func (s *Sim) InvalidateTokens(corpID string) { s.tokens.invalidate(corpID) }

// badSecrets counts wrong secrets in a row by IP and blocks the IP for them.
type badSecrets struct {
	mu      sync.Mutex
	count   map[string]int
	blocked map[string]time.Time
}

func newBadSecrets() *badSecrets {
	return &badSecrets{count: map[string]int{}, blocked: map[string]time.Time{}}
}

func (b *badSecrets) isBlocked(ip string, now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	until, ok := b.blocked[ip]
	if ok && !now.Before(until) {
		delete(b.blocked, ip)
		return false
	}
	return ok
}

// wrong counts a wrong secret; the most-th in a row blocks the IP until then.
func (b *badSecrets) wrong(ip string, most int, until time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.count[ip]++; b.count[ip] >= most {
		b.blocked[ip] = until
		delete(b.count, ip)
	}
}

func (b *badSecrets) right(ip string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.count, ip)
}

func (b *badSecrets) forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.count, b.blocked = map[string]int{}, map[string]time.Time{}
}
