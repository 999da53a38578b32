package access

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/rollcall-dev/rollcall/internal/recent"
)

// Why a bearer is refused. The differences are for metrics and logs: whoever
// presents a token is told only that it is not accepted.
var (
	ErrUnknown = errors.New("no such token")
	ErrExpired = errors.New("the token has expired")
	ErrRevoked = errors.New("the token was revoked")
)

// Tokens is where tokens are kept.
type Tokens interface {
	// Token returns the token of an ID; ErrUnknown when there is none.
	Token(ctx context.Context, id string) (Token, error)
	// Used notes that the token was accepted on a day, written YYYYMMDD.
	Used(ctx context.Context, id, day string) error
}

// VerifierOptions of a Verifier. All are required.
type VerifierOptions struct {
	// Fresh is how long an answer of the store is taken for true: a token that
	// is revoked works for so long after.
	Fresh time.Duration
	// Grace is how long after that the last answer still counts when the store
	// cannot be asked. Nobody can revoke a token then either.
	Grace time.Duration
	// Max is how many tokens are remembered, and how many IDs that are none.
	Max int
	Now func() time.Time
}

// Verifier turns what a bearer presents into a grant, and asks the store only
// now and then. It is safe for concurrent use.
type Verifier struct {
	tokens Tokens
	opts   VerifierOptions

	mu      sync.Mutex
	known   *recent.Map[string, *answer]
	unknown *recent.Map[string, time.Time] // until when the ID counts as none
}

// answer is what the store said of a token.
type answer struct {
	token  Token
	until  time.Time // fresh until then; the grace begins then
	next   time.Time // when to ask again: until, or later after the store was away
	asking bool      // somebody asks just now
}

// NewVerifier returns a Verifier.
func NewVerifier(tokens Tokens, opts VerifierOptions) *Verifier {
	return &Verifier{
		tokens: tokens, opts: opts,
		known: recent.NewMap[string, *answer](opts.Max), unknown: recent.NewMap[string, time.Time](opts.Max),
	}
}

// Verify returns what the bearer of a token may do. ErrUnknown, ErrExpired and
// ErrRevoked refuse him; any other error says that the store could not be asked.
func (v *Verifier) Verify(ctx context.Context, bearer string) (Grant, error) {
	id, ok := idOf(bearer)
	if !ok {
		return Grant{}, ErrUnknown
	}
	token, err := v.token(ctx, id)
	if err != nil {
		return Grant{}, err
	}
	presented := sha256.Sum256([]byte(bearer))
	if subtle.ConstantTimeCompare(presented[:], token.Hash[:]) != 1 {
		return Grant{}, ErrUnknown
	}
	return v.admit(ctx, token)
}

// Standing returns what a token may do now, by its ID alone, for whoever has
// shown the token itself before and has kept a proof of that. Its errors are
// those of Verify.
func (v *Verifier) Standing(ctx context.Context, id string) (Grant, error) {
	if !isID(id) {
		return Grant{}, ErrUnknown
	}
	token, err := v.token(ctx, id)
	if err != nil {
		return Grant{}, err
	}
	return v.admit(ctx, token)
}

// admit refuses a token that is not good any more.
func (v *Verifier) admit(ctx context.Context, token Token) (Grant, error) {
	now := v.opts.Now()
	switch {
	case !token.RevokedAt.IsZero():
		return Grant{}, ErrRevoked
	case !token.ExpiresAt.IsZero() && !now.Before(token.ExpiresAt):
		return Grant{}, ErrExpired
	}
	v.noteUse(ctx, token, now)
	return token.Grant(), nil
}

// token returns what is remembered, or asks. While one request asks again for a
// token that it knows, the others go on with what was said last, so that
// thousands a second do not wait together for a store that is slow.
func (v *Verifier) token(ctx context.Context, id string) (Token, error) {
	remembered, ask, err := v.recall(id)
	if !ask {
		return remembered, err
	}
	token, err := v.tokens.Token(ctx, id)
	return v.learn(id, token, err)
}

func (v *Verifier) recall(id string) (token Token, ask bool, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	now := v.opts.Now()
	if until, _ := v.unknown.Get(id); now.Before(until) {
		return Token{}, false, ErrUnknown
	}
	last, known := v.known.Get(id)
	switch {
	case !known:
		return Token{}, true, nil
	case now.Before(last.next), last.asking && now.Before(last.until.Add(v.opts.Grace)):
		return last.token, false, nil
	}
	last.asking = true
	return Token{}, true, nil
}

// retry is how long a store that could not be asked is left in peace.
const retry = time.Second

// learn remembers an answer. Without one, the last still counts for the grace.
func (v *Verifier) learn(id string, token Token, err error) (Token, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	now := v.opts.Now()
	switch {
	case err == nil:
		v.unknown.Delete(id)
		fresh := now.Add(v.opts.Fresh)
		v.known.Put(id, &answer{token: token, until: fresh, next: fresh})
		return token, nil
	case errors.Is(err, ErrUnknown):
		v.known.Delete(id)
		v.unknown.Put(id, now.Add(v.opts.Fresh))
		return Token{}, ErrUnknown
	}
	last, known := v.known.Get(id)
	if !known {
		return Token{}, fmt.Errorf("look the token up: %w", err)
	}
	last.asking = false
	if !now.Before(last.until.Add(v.opts.Grace)) {
		return Token{}, fmt.Errorf("look the token up: %w", err)
	}
	last.next = now.Add(retry)
	return last.token, nil
}

// noteUse writes the day of the last use, once a day and process. It is for a
// person who looks for tokens that nobody needs; losing it harms nothing, so a
// failure refuses nobody.
func (v *Verifier) noteUse(ctx context.Context, token Token, now time.Time) {
	day := now.UTC().Format("20060102")
	v.mu.Lock()
	last, known := v.known.Get(token.ID)
	first := known && last.token.LastUsed != day
	if first {
		last.token.LastUsed = day
	}
	v.mu.Unlock()
	if first {
		_ = v.tokens.Used(ctx, token.ID, day)
	}
}
