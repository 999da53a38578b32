package service

import (
	"context"
	"iter"
	"time"

	"github.com/rollcall-dev/rollcall/internal/access"
	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/registry"
)

// CreateToken makes and stores a bearer token of the API. The secret is nowhere
// else: the caller shows it once.
func CreateToken(ctx context.Context, cfg config.Config, order access.Order) (secret string, token access.Token, err error) {
	err = withTokens(ctx, cfg, func(tokens *mongostore.Tokens) error {
		if order.Tenant != "" {
			if err := registry.CheckTenantID(order.Tenant); err != nil {
				return err
			}
		}
		if secret, token, err = access.Mint(order, time.Now()); err != nil {
			return err
		}
		return tokens.Create(ctx, token)
	})
	return secret, token, err
}

// RevokeToken ends a bearer token: within ROLLCALL_API_TOKEN_FRESH nobody gets in
// with it any more.
func RevokeToken(ctx context.Context, cfg config.Config, id string) error {
	return withTokens(ctx, cfg, func(tokens *mongostore.Tokens) error { return tokens.Revoke(ctx, id) })
}

// ListTokens yields all bearer tokens in the order of their IDs.
func ListTokens(ctx context.Context, cfg config.Config) iter.Seq2[access.Token, error] {
	return func(yield func(access.Token, error) bool) {
		err := withTokens(ctx, cfg, func(tokens *mongostore.Tokens) error { return yieldTokens(ctx, tokens, yield) })
		if err != nil {
			yield(access.Token{}, err)
		}
	}
}

// yieldTokens goes through the pages until there is none or yield has enough.
func yieldTokens(ctx context.Context, tokens *mongostore.Tokens, yield func(access.Token, error) bool) error {
	after := ""
	for {
		page, err := tokens.List(ctx, after, listPage)
		if err != nil {
			return err
		}
		for _, token := range page {
			if after = token.ID; !yield(token, nil) {
				return nil
			}
		}
		if len(page) < listPage {
			return nil
		}
	}
}

// withTokens does something with the tokens on a connection of its own.
func withTokens(ctx context.Context, cfg config.Config, do func(*mongostore.Tokens) error) error {
	return withMongo(ctx, cfg, func(db *mongostore.Database) error { return do(db.Tokens()) })
}
