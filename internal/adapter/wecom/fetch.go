package wecom

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

const (
	// pollOther is how often to look whether another instance has the token.
	pollOther = 50 * time.Millisecond
	// retryRefresh is how long to use a token that could not be replaced
	// before trying again.
	retryRefresh = 5 * time.Second
)

// obtain finds or fetches the tenant's token. One goroutine a tenant is here.
func (t *Tokens) obtain(ctx context.Context, tenant string) (Secret, error) {
	owner, err := t.account(ctx, tenant)
	if err != nil {
		return Secret{}, err
	}
	known := t.snapshot(owner)
	if err := t.refused(ctx, owner, known); err != nil {
		return Secret{}, err
	}
	token, err := t.sharedOrFetched(ctx, owner, known)
	now := t.endpoint.now()
	if err != nil {
		callErr := asCallError(OpGetToken, err)
		if accountRefused(callErr.ErrCode) {
			t.refuse(ctx, tenant, callErr)
			callErr.Class = reason.Credentials
			return Secret{}, callErr
		}
		if !now.Before(known.token.Expires) {
			return Secret{}, err
		}
		token = known.token // still good: a failed refresh is no failure yet
		token.RefreshAfter = now
	}
	t.update(tenant, func(current *tenancy) {
		current.token = token
		current.lookFrom = token.RefreshAfter
		if soonest := now.Add(retryRefresh); current.lookFrom.Before(soonest) {
			current.lookFrom = earlier(soonest, token.Expires)
		}
	})
	return token.Value, nil
}

// account asks for the tenant's credentials.
func (t *Tokens) account(ctx context.Context, tenant string) (account, error) {
	corpID, secret, err := t.credentials.Credentials(ctx, tenant)
	switch {
	case errors.Is(err, ErrNoCredentials), err == nil && (corpID == "" || secret.Empty()):
		return account{}, &push.CallError{Op: OpGetToken, Class: reason.Credentials, Err: ErrNoCredentials}
	case err != nil:
		return account{}, &push.CallError{
			Op: OpGetToken, Class: reason.Transient,
			Err: fmt.Errorf("%w: %w", errCredentialsSource, err),
		}
	}
	return account{tenant: tenant, corpID: corpID, secret: secret}, nil
}

// sharedOrFetched takes the token that another instance fetched, or fetches it
// under a lease. While another has the lease, a token that still lasts is
// used, and without one its fetch is waited for.
func (t *Tokens) sharedOrFetched(ctx context.Context, owner account, known tenancy) (Token, error) {
	key := owner.key()
	giveUp := t.endpoint.now().Add(t.options.WaitForOther)
	for {
		if token, ok := t.shared(ctx, key, known.dropped); ok {
			return token, nil
		}
		lease, err := t.store.lease(ctx, key)
		switch {
		case err != nil:
			return t.fetch(ctx, owner, known)
		case lease != nil:
			return t.fetchLeased(ctx, owner, known, lease)
		case t.endpoint.now().Before(known.token.Expires):
			return known.token, nil
		case t.endpoint.now().After(giveUp):
			return t.fetch(ctx, owner, known)
		}
		if err := pause(ctx, pollOther); err != nil {
			return Token{}, err
		}
	}
}

// shared returns the store's token unless it is due for a refresh or was
// refused.
func (t *Tokens) shared(ctx context.Context, key string, dropped Secret) (Token, bool) {
	token, ok := t.store.get(ctx, key)
	if !ok || !t.endpoint.now().Before(token.RefreshAfter) {
		return Token{}, false
	}
	if !dropped.Empty() && token.Value.Equal(dropped) {
		return Token{}, false
	}
	return token, true
}

// fetchLeased looks once more, since the token may have come between the last
// look and the lease, and fetches.
func (t *Tokens) fetchLeased(ctx context.Context, owner account, known tenancy, lease Lease) (Token, error) {
	defer t.store.release(ctx, lease)
	if token, ok := t.shared(ctx, owner.key(), known.dropped); ok {
		return token, nil
	}
	return t.fetch(ctx, owner, known)
}

// fetch asks WeCom for a token and shares it (page 91039).
func (t *Tokens) fetch(ctx context.Context, owner account, known tenancy) (Token, error) {
	asked := t.endpoint.now()
	raw, callErr := t.endpoint.do(ctx, exchange{
		op: OpGetToken, tenant: owner.tenant, path: "/cgi-bin/gettoken",
		query:   url.Values{"corpid": {owner.corpID}, "corpsecret": {owner.secret.Reveal()}},
		secrets: []Secret{owner.secret},
	})
	if callErr != nil {
		return Token{}, callErr
	}
	var answer struct {
		AccessToken string `json:"access_token"`
		ExpiresIn   int64  `json:"expires_in"` // seconds
	}
	if err := json.Unmarshal(raw, &answer); err != nil || answer.AccessToken == "" || answer.ExpiresIn <= 0 {
		return Token{}, &push.CallError{Op: OpGetToken, Err: ErrMalformedAnswer}
	}
	token := Token{Value: NewSecret(answer.AccessToken), Expires: asked.Add(time.Duration(answer.ExpiresIn) * time.Second)}
	token.RefreshAfter = t.refreshAfter(asked, token, known)
	t.store.put(ctx, owner.key(), token)
	return token, nil
}

// refreshAfter draws when to replace a token. WeCom answers with the same
// token while that lasts (page 91039); asking again before its end would be
// in vain.
func (t *Tokens) refreshAfter(now time.Time, token Token, known tenancy) time.Time {
	if token.Value.Equal(known.token.Value) {
		return token.Expires
	}
	early := t.options.RefreshBefore + time.Duration(t.options.Rand()*float64(t.options.RefreshJitter))
	return token.Expires.Add(-min(early, token.Expires.Sub(now)/2))
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// pause waits for d or the end of ctx.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
