package main

import (
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/rollcall-dev/rollcall/internal/access"
	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/service"
)

func newTokenCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "token",
		GroupID: groupOperator,
		Short:   "Make, list and revoke the bearer tokens of the HTTP API",
		Long: `The HTTP API lets in whoever presents a bearer token. A token has scopes, which do
not include each other:

  read    look at facts and at the progress of fan-outs
  write   change facts
  draw    take the next member for a customer
  admin   credentials, callback settings, notifications, the operator's switches

It may be bound to one tenant; other tenants do not exist for it. MongoDB keeps a
hash only: the token itself is shown once, when it is made.`,
		Example: `  rollcall token create --scope admin,read,write --note "bootstrap"
  rollcall token create --tenant acme --scope draw --expires-in 2160h --note "landing page"
  rollcall token revoke kq3mzw7tba2x5c4d`,
	}
	cmd.AddCommand(newTokenCreateCommand(), newTokenListCommand(), newTokenRevokeCommand())
	return cmd
}

func newTokenCreateCommand() *cobra.Command {
	var order access.Order
	var scopes []string
	var expiresIn time.Duration
	cmd := &cobra.Command{
		Use:   "create",
		Short: "Make a token and show it once",
		Long: `Makes a token. The token alone goes to standard output, so that it can be piped to
where it is kept; what there is to know about it goes to standard error.`,
		Example: `  rollcall token create --scope admin,read,write --note "bootstrap"
  rollcall token create --tenant acme --scope draw --expires-in 2160h --note "landing page"`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := loadConfig(cmd, config.NeedMongoDB)
			if err != nil {
				return err
			}
			for _, scope := range scopes {
				order.Scopes = append(order.Scopes, access.Scope(scope))
			}
			if expiresIn != 0 {
				order.ExpiresAt = time.Now().Add(expiresIn)
			}
			secret, token, err := service.CreateToken(cmd.Context(), cfg, order)
			if err != nil {
				return fmt.Errorf("make a token: %w", err)
			}
			if err := say(cmd.ErrOrStderr(), describeToken(token)); err != nil {
				return err
			}
			return say(cmd.OutOrStdout(), secret)
		},
	}
	cmd.Flags().StringSliceVar(&scopes, "scope", nil, "what it allows: read, write, draw, admin; several, joined by commas")
	cmd.Flags().StringVar(&order.Tenant, "tenant", "", "the only tenant that it reaches; all tenants without")
	cmd.Flags().DurationVar(&expiresIn, "expires-in", 0, "how long it is good for, such as 2160h; for ever without")
	cmd.Flags().StringVar(&order.Note, "note", "", "what it is for, for whoever lists the tokens")
	return cmd
}

func newTokenListCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the tokens, without their secrets",
		Long: `Lists the tokens by their IDs, with the tenant and the scopes of each, whether it is
good, has expired or was revoked, and when it was last used. The secret part of a token
is not kept, and so not shown.`,
		Example: `  rollcall token list`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := loadConfig(cmd, config.NeedMongoDB)
			if err != nil {
				return err
			}
			return printTokens(cmd.OutOrStdout(), service.ListTokens(cmd.Context(), cfg), time.Now())
		},
	}
}

func newTokenRevokeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "revoke ID",
		Short: "End a token",
		Long: `Ends a token. Processes that have seen it let it in for ROLLCALL_API_TOKEN_FRESH
longer. The ID is the part of the token between "rc_" and the next "_".`,
		Example: `  rollcall token revoke kq3mzw7tba2x5c4d`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := loadConfig(cmd, config.NeedMongoDB)
			if err != nil {
				return err
			}
			if err := service.RevokeToken(cmd.Context(), cfg, args[0]); err != nil {
				return err
			}
			return say(cmd.OutOrStdout(), fmt.Sprintf("revoked; within %s nobody gets in with it any more", cfg.API.TokenFresh))
		},
	}
}

func describeToken(token access.Token) string {
	reach, until := "all tenants", "for ever"
	if token.Tenant != "" {
		reach = "tenant " + token.Tenant
	}
	if !token.ExpiresAt.IsZero() {
		until = "until " + token.ExpiresAt.Format(time.RFC3339)
	}
	return fmt.Sprintf("Token %s: %s, %s, %s. It is not shown again.", token.ID, joinedScopes(token.Scopes), reach, until)
}

func printTokens(w io.Writer, tokens iter.Seq2[access.Token, error], now time.Time) error {
	t := newTable("id", "tenant", "scopes", "state", "created", "last used", "note")
	n := 0
	for token, err := range tokens {
		if err != nil {
			return fmt.Errorf("list the tokens: %w", err)
		}
		n++
		t.AppendRow(table.Row{
			token.ID, orWord(token.Tenant, "(all)"), joinedScopes(token.Scopes), tokenState(token, now),
			token.CreatedAt.Format(time.DateOnly), orWord(token.LastUsed, "never"), shortened(token.Note),
		})
	}
	if n == 0 {
		return say(w, "There are no tokens.")
	}
	return say(w, fmt.Sprintf("%s\n%d tokens", t.Render(), n))
}

func tokenState(token access.Token, now time.Time) string {
	switch {
	case !token.RevokedAt.IsZero():
		return "revoked " + token.RevokedAt.Format(time.DateOnly)
	case token.ExpiresAt.IsZero():
		return "good"
	case token.ExpiresAt.After(now):
		return "good until " + token.ExpiresAt.Format(time.DateOnly)
	}
	return "expired " + token.ExpiresAt.Format(time.DateOnly)
}

func joinedScopes(scopes []access.Scope) string {
	words := make([]string, len(scopes))
	for i, scope := range scopes {
		words[i] = string(scope)
	}
	return strings.Join(words, ",")
}

func orWord(text, word string) string {
	if text == "" {
		return word
	}
	return text
}
