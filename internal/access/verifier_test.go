package access

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

const (
	fresh = 30 * time.Second
	grace = 5 * time.Minute
)

func TestVerify(t *testing.T) {
	good, token := mint(t, Order{Tenant: "acme"})
	_, wrong := mint(t, Order{})
	revokedSecret, revoked := mint(t, Order{})
	revoked.RevokedAt = noon
	expiredSecret, expiring := mint(t, Order{ExpiresAt: noon.Add(time.Second)})
	d := newDesk(token, revoked, expiring)
	d.now = noon.Add(time.Second)
	for name, test := range map[string]struct {
		bearer string
		want   error
	}{
		"good":                        {good, nil},
		"revoked":                     {revokedSecret, ErrRevoked},
		"expired":                     {expiredSecret, ErrExpired},
		"the ID with another secret":  {Prefix + token.ID + "_" + expiredSecret[len(Prefix)+idLen+1:], ErrUnknown},
		"an ID that nobody has":       {Prefix + wrong.ID + good[len(Prefix)+idLen:], ErrUnknown},
		"nothing":                     {"", ErrUnknown},
		"no token":                    {"Basic YTpi", ErrUnknown},
		"a token and something after": {good + "x", ErrUnknown},
	} {
		for range 2 { // asked, then remembered
			grant, err := d.Verify(t.Context(), test.bearer)
			if !errors.Is(err, test.want) || (err == nil) != (grant.Tenant == "acme") {
				t.Errorf("%s: %+v, %v; want %v", name, grant, err, test.want)
			}
		}
	}
}

func TestStanding(t *testing.T) {
	_, token := mint(t, Order{Tenant: "acme"})
	_, expiring := mint(t, Order{ExpiresAt: noon.Add(time.Second)})
	d := newDesk(token, expiring)
	d.now = noon.Add(time.Second)
	for id, want := range map[string]error{
		token.ID: nil, expiring.ID: ErrExpired, "aaaaaaaaaaaaaaaa": ErrUnknown, "": ErrUnknown, "../tokens/x": ErrUnknown,
	} {
		grant, err := d.Standing(t.Context(), id)
		if !errors.Is(err, want) || (err == nil) != (grant.Tenant == "acme") {
			t.Errorf("%q: %+v, %v; want %v", id, grant, err, want)
		}
	}
	d.revoke(token.ID)
	d.now = d.now.Add(fresh)
	if _, err := d.Standing(t.Context(), token.ID); !errors.Is(err, ErrRevoked) {
		t.Errorf("a revoked token stands: %v", err)
	}
}

func TestTheStoreIsAskedNowAndThen(t *testing.T) {
	good, token := mint(t, Order{})
	d := newDesk(token)
	for range 1000 {
		d.want(t, good, nil)
	}
	if d.asked != 1 {
		t.Errorf("asked %d times for 1000 requests", d.asked)
	}
	d.revoke(token.ID)
	d.now = d.now.Add(fresh - 1)
	d.want(t, good, nil)
	d.now = d.now.Add(1)
	d.want(t, good, ErrRevoked)
	if d.asked != 2 {
		t.Errorf("asked %d times, want again when the answer was old", d.asked)
	}
}

func TestStrangersDoNotMakeTheStoreWork(t *testing.T) {
	_, token := mint(t, Order{})
	stranger, _ := mint(t, Order{})
	good, known := mint(t, Order{})
	d := newDesk(token, known)
	d.want(t, good, nil)
	for range 100 {
		d.want(t, stranger, ErrUnknown)
	}
	if d.asked != 2 {
		t.Errorf("asked %d times, want once for each", d.asked)
	}
	for range 3 * kept {
		other, _ := mint(t, Order{})
		d.want(t, other, ErrUnknown)
	}
	if n := d.unknown.Len(); n > kept {
		t.Errorf("%d strangers are remembered, want at most %d", n, kept)
	}
	before := d.asked
	d.want(t, good, nil)
	if d.asked != before {
		t.Error("strangers push out who is known")
	}
}

func TestKnownTokensAreBounded(t *testing.T) {
	d := newDesk()
	for range 3 * kept {
		good, token := mint(t, Order{})
		d.tokens[token.ID] = token
		d.want(t, good, nil)
	}
	if n := d.known.Len(); n > kept {
		t.Errorf("%d tokens are remembered, want at most %d", n, kept)
	}
}

// The store is away: who was let in before is let in for the grace, and not
// everybody waits for the store.
func TestWhileTheStoreIsAway(t *testing.T) {
	good, token := mint(t, Order{})
	new1, newcomer := mint(t, Order{})
	d := newDesk(token, newcomer)
	d.want(t, good, nil)
	d.err = errors.New("away")
	d.want(t, new1, d.err)
	d.now = d.now.Add(fresh)
	before := d.asked
	for range 100 {
		d.want(t, good, nil)
	}
	if d.asked != before+1 {
		t.Errorf("asked %d times within a second", d.asked-before)
	}
	d.now = d.now.Add(grace - 1)
	d.want(t, good, nil)
	d.now = d.now.Add(retry)
	d.want(t, good, d.err)
	d.err = nil
	d.want(t, good, nil)
}

// A revoked token is refused at the first answer after the store is back.
func TestARevocationIsSeenWhenTheStoreIsBack(t *testing.T) {
	good, token := mint(t, Order{})
	d := newDesk(token)
	d.want(t, good, nil)
	d.err = errors.New("away")
	d.now = d.now.Add(fresh)
	d.want(t, good, nil)
	d.err = nil
	d.revoke(token.ID)
	d.now = d.now.Add(retry)
	d.want(t, good, ErrRevoked)
}

// While one request waits for a slow store, the others go on.
func TestOneRequestAsksAgain(t *testing.T) {
	good, token := mint(t, Order{})
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(token)
		d.want(t, good, nil)
		d.now = d.now.Add(fresh)
		d.slow = make(chan struct{})
		var asking sync.WaitGroup
		asking.Go(func() { d.want(t, good, nil) })
		synctest.Wait()
		for range 100 {
			d.want(t, good, nil)
		}
		close(d.slow)
		asking.Wait()
		if d.asked != 2 {
			t.Errorf("asked %d times, want twice", d.asked)
		}
	})
}

func TestTheDayOfTheLastUseIsNoted(t *testing.T) {
	good, token := mint(t, Order{})
	d := newDesk(token)
	for range 10 {
		d.want(t, good, nil)
	}
	d.now = d.now.Add(24 * time.Hour)
	d.usedErr = errors.New("away")
	d.want(t, good, nil)
	want := []string{token.ID + " 20261130", token.ID + " 20261201"}
	if fmt.Sprint(d.used) != fmt.Sprint(want) {
		t.Errorf("noted %q, want %q", d.used, want)
	}
}

func TestVerifyIsSafeForConcurrentUse(t *testing.T) {
	d := newDesk()
	var secrets []string
	for range 2 * kept {
		secret, token := mint(t, Order{})
		d.tokens[token.ID] = token
		secrets = append(secrets, secret)
	}
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for j := range 200 {
				d.want(t, secrets[(i*31+j)%len(secrets)], nil)
			}
		})
	}
	all.Wait()
}

// BenchmarkVerify is the price of a request with a token that is known.
func BenchmarkVerify(b *testing.B) {
	secret, token, err := Mint(Order{Scopes: []Scope{Draw}}, noon)
	if err != nil {
		b.Fatal(err)
	}
	d := newDesk(token)
	for b.Loop() {
		if _, err := d.Verify(b.Context(), secret); err != nil {
			b.Fatal(err)
		}
	}
}

// desk is a verifier on a store in memory and a clock of its own.
type desk struct {
	*Verifier
	mu      sync.Mutex
	now     time.Time
	tokens  map[string]Token
	err     error
	usedErr error
	slow    chan struct{} // the store answers when it is closed; nil: at once
	asked   int
	used    []string
}

// kept is how many tokens the verifier of a desk remembers.
const kept = 10

func newDesk(tokens ...Token) *desk {
	d := &desk{now: noon, tokens: map[string]Token{}}
	for _, token := range tokens {
		d.tokens[token.ID] = token
	}
	d.Verifier = NewVerifier(d, VerifierOptions{Fresh: fresh, Grace: grace, Max: kept, Now: func() time.Time { return d.now }})
	return d
}

func (d *desk) want(t *testing.T, bearer string, want error) {
	t.Helper()
	if _, err := d.Verify(t.Context(), bearer); !errors.Is(err, want) {
		t.Errorf("Verify: %v, want %v", err, want)
	}
}

func (d *desk) revoke(id string) {
	token := d.tokens[id]
	token.RevokedAt = d.now
	d.tokens[id] = token
}

// Token is the store's.
func (d *desk) Token(_ context.Context, id string) (Token, error) {
	if d.slow != nil {
		<-d.slow
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked++
	if d.err != nil {
		return Token{}, d.err
	}
	token, there := d.tokens[id]
	if !there {
		return Token{}, fmt.Errorf("token %s: %w", id, ErrUnknown)
	}
	return token, nil
}

// Used is the store's.
func (d *desk) Used(_ context.Context, id, day string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.used = append(d.used, id+" "+day)
	return d.usedErr
}
