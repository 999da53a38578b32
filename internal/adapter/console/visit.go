package console

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/rollcall-dev/rollcall/internal/access"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/registry"
)

// visit is one request for a page.
type visit struct {
	*http.Request
	w       http.ResponseWriter
	look    look
	now     time.Time
	session session
	grant   access.Grant
	by      string // who decides, for the book of decisions
}

// pageTime is how long a page may take.
const pageTime = 20 * time.Second

// visited serves what anybody may see.
func (c *Console) visited(handle func(*visit) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v := &visit{Request: r, w: w, look: lookOf(r), now: c.opts.Now()}
		if err := handle(v); err != nil {
			c.refuse(v, err)
		}
	})
}

// known serves what only whoever has signed in, with the scope to read, may see.
func (c *Console) known(handle func(*visit) error) func(*visit) error {
	return func(v *visit) error {
		if err := c.recognize(v); err != nil {
			return err
		}
		if !slices.Contains(v.grant.Scopes, access.Read) {
			return refusal{http.StatusForbidden, "error.scope", string(access.Read)}
		}
		if v.Method == http.MethodPost && !v.session.formed(v.Request) {
			return refusal{http.StatusForbidden, "error.form", ""}
		}
		if err := c.saw(v); err != nil {
			return err
		}
		return handle(v)
	}
}

// recognize finds out who asks.
func (c *Console) recognize(v *visit) error {
	signed, open := c.open(v.Request)
	if c.opts.Proxy.vouches(v.Request) {
		return c.recognizeProxied(v, signed)
	}
	if !open || signed.Token == "" {
		return errSignInFirst
	}
	grant, err := c.Verifier.Standing(v.Context(), signed.Token)
	switch {
	case refused(err):
		forget(v.w, v.Request)
		return errSignInFirst
	case err != nil:
		return err
	}
	v.session, v.grant, v.by = signed, grant, bearerName(signed)
	return nil
}

func refused(err error) bool {
	return errors.Is(err, access.ErrUnknown) || errors.Is(err, access.ErrExpired) || errors.Is(err, access.ErrRevoked)
}

// bearerName is how a decision names whoever has signed in with a token.
func bearerName(s session) string {
	if s.Name == "" {
		return "token " + s.Token
	}
	return s.Name + " (token " + s.Token + ")"
}

// may reports whether the visitor has a scope for a tenant.
func (v *visit) may(scope access.Scope, tenant string) bool { return v.grant.Allows(scope, tenant) }

// within returns the tenant of the path; one that the visitor does not reach is
// not there.
func (v *visit) within() (string, error) {
	tenant := v.PathValue("tenant")
	if registry.CheckTenantID(tenant) != nil || !v.grant.Reaches(tenant) {
		return "", notFound
	}
	return tenant, nil
}

// timed bounds what a page asks for.
func (v *visit) timed() (context.Context, context.CancelFunc) {
	return context.WithTimeout(v.Context(), pageTime)
}

// refusal is an answer that is a page of a few words.
type refusal struct {
	Status int
	Words  string // key of the title; with ".text" of the text
	Detail string // in the text
}

// Error is for whoever logs it.
func (r refusal) Error() string { return http.StatusText(r.Status) + ": " + r.Words }

var (
	notFound       = refusal{http.StatusNotFound, "error.unknown", ""}
	errSignInFirst = errors.New("nobody has signed in")
)

// refuse answers with what went wrong.
func (c *Console) refuse(v *visit, err error) {
	var as refusal
	switch {
	case errors.Is(err, errSignInFirst):
		v.toSignIn()
		return
	case errors.As(err, &as):
	case errors.Is(err, push.ErrUnknownCode), errors.Is(err, push.ErrWrongTenant), errors.Is(err, push.ErrUnknownTenant),
		errors.Is(err, registry.ErrUnknownTenant), errors.Is(err, registry.ErrUnknownStaff), errors.Is(err, registry.ErrUnknownCode):
		as = notFound
	case v.Context().Err() != nil:
		return // nobody waits any more
	default:
		c.opts.Logger.WarnContext(v.Context(), "a page of the console could not be shown", "path", v.URL.Path, "error", err)
		as = refusal{http.StatusServiceUnavailable, "error.away", ""}
		if v.grant.Tenant == "" && v.session.ID != "" {
			as.Detail = err.Error()
		}
	}
	if err := c.show(v, as.Status, "error", page{Title: as.Words}, as); err != nil { // only a mistake in a template
		v.w.WriteHeader(http.StatusInternalServerError)
	}
}
