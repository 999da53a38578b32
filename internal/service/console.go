package service

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"time"

	"github.com/rollcall-dev/rollcall/internal/access"
	"github.com/rollcall-dev/rollcall/internal/adapter/console"
	"github.com/rollcall-dev/rollcall/internal/adapter/landing"
	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/adapter/redissession"
	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/decision"
	"github.com/rollcall-dev/rollcall/internal/dirty"
	"github.com/rollcall-dev/rollcall/internal/explain"
	"github.com/rollcall-dev/rollcall/internal/letters"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/ratelimit"
)

// How a live page looks, and how often.
const (
	consoleLive  = 2 * time.Second
	streamsOfOne = 6 // of one session: as many connections as a browser opens
)

// openConsole adds the console to what the ingress serves, when it has a key.
func (i *ingress) openConsole(mux *http.ServeMux) error {
	if i.cfg.Console.Keys.Ring().Sealing() == "" {
		return nil
	}
	status, err := NewStatus(i.cfg, StatusParts{DB: i.db, Redis: i.redis})
	if err != nil {
		return err
	}
	i.closers.add(status.Close)
	explainer := &Explainer{cfg: i.cfg, db: i.db}
	if err := explainer.on(i.redis, i.tel); err != nil {
		return err
	}
	i.console, err = console.New(console.Ports{
		Verifier: access.NewVerifier(i.db.Tokens(), access.VerifierOptions{
			Fresh: i.cfg.API.TokenFresh, Grace: i.cfg.API.TokenGrace, Max: i.cfg.API.TokensKept, Now: time.Now,
		}),
		SignOuts: redissession.New(i.redis, i.cfg.Redis.KeyPrefix),
		Board:    status, Explainer: consoleExplainer{explainer}, Facts: i.db.Registry(), Directory: i.db.Directory(),
		Dirty: consoleDirty{i.db}, Letters: consoleLetters{i.cfg}, FanOuts: i.db.FanOuts(), Decisions: consoleDecisions{i.db.Decisions()},
		Orders: newInterventionDesk(i.cfg, i.db, i.loop.publisher, i.loop.requests, i.tenantRate),
	}, i.consoleOptions())
	if err != nil {
		return err
	}
	mux.Handle("/console/", i.console.Handler())
	mux.Handle("/console", i.console.Handler())
	return nil
}

func (i *ingress) consoleOptions() console.Options {
	cfg := i.cfg.Console
	return console.Options{
		Keys: cfg.Keys.Ring(), Life: cfg.Life, Idle: cfg.Idle, SignIns: ratelimit.Limit{PerSecond: cfg.SignInRate, Burst: cfg.SignInBurst},
		ClientOf: landing.Proxies(i.cfg.Draw.Proxies).Subscriber, Proxy: consoleProxy(cfg),
		Live: consoleLive, Streams: cfg.Streams, EachStreams: streamsOfOne, Version: i.version, Now: time.Now, Logger: i.tel.Log,
	}
}

func consoleProxy(cfg config.Console) *console.Proxy {
	if cfg.ProxyHeader == "" {
		return nil
	}
	proxy := &console.Proxy{Header: cfg.ProxyHeader, GroupsHeader: cfg.ProxyGroups, Secret: cfg.ProxySecret.Reveal()}
	for _, role := range cfg.ProxyRoles {
		scopes := make([]access.Scope, len(role.Scopes))
		for n, scope := range role.Scopes {
			scopes[n] = access.Scope(scope)
		}
		proxy.Roles = append(proxy.Roles, console.Role{Who: role.Who, Tenant: role.Tenant, Scopes: scopes})
	}
	return proxy
}

// consoleExplainer explains a code whose tenant is known.
type consoleExplainer struct{ *Explainer }

func (e consoleExplainer) Explain(ctx context.Context, ref push.Ref, live bool) (explain.Explanation, error) {
	return e.Explainer.Explain(ctx, Question{Code: ref.Tenant + "/" + ref.Code, Live: live})
}

// consoleDirty shows the dirty set.
type consoleDirty struct{ db *mongostore.Database }

func (d consoleDirty) List(ctx context.Context, which console.DirtyFilter, after push.Ref, limit int) ([]console.DirtyCode, error) {
	entries, err := d.db.Dirty().Select(ctx, mongostore.DirtySelection(which), after, limit)
	all := make([]console.DirtyCode, len(entries))
	for n, e := range entries {
		of := dirtyOf(e)
		all[n] = console.DirtyCode{
			Ref: e.Ref, Reasons: of.Reasons, Detail: of.Detail, State: of.State, Due: of.Due, FirstSeen: of.FirstSeen, Attempts: of.Attempts,
		}
	}
	return all, err
}

// Desk is where a person decides about them.
func (d consoleDirty) Desk(by string) dirty.Desk { return dirtyDesk(d.db, by) }

// consoleLetters shows the dead letters, on connections of its own: they are
// looked at now and then, and hold readers at the broker open while they are.
type consoleLetters struct{ cfg config.Config }

func (l consoleLetters) Waiting(ctx context.Context, limit int) iter.Seq2[letters.Letter, error] {
	return func(yield func(letters.Letter, error) bool) {
		for letter, err := range ListDeadLetters(ctx, l.cfg, limit) {
			if !yield(letter, unset(err)) {
				return
			}
		}
	}
}

func (l consoleLetters) Letter(ctx context.Context, id string) (letters.Letter, error) {
	letter, err := ShowDeadLetter(ctx, l.cfg, id)
	return letter, unset(err)
}

// AtDesk has a person decide about them.
func (l consoleLetters) AtDesk(ctx context.Context, by string, do func(letters.Desk) error) error {
	return unset(AtLettersDesk(ctx, l.cfg, by, do))
}

// unset tells a setting that is not there from a server that is away.
func unset(err error) error {
	if _, missing := errors.AsType[*config.Mistakes](err); missing {
		return errors.Join(console.ErrUnset, err)
	}
	return err
}

// consoleDecisions are those of a tenant, or of all.
type consoleDecisions struct{ *mongostore.Decisions }

func (d consoleDecisions) List(ctx context.Context, tenant string, limit int) ([]decision.Decision, error) {
	if tenant == "" {
		return d.Decisions.List(ctx, limit)
	}
	return d.ListOf(ctx, tenant, limit)
}
