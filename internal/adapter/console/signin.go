package console

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rollcall-dev/rollcall/internal/access"
)

// maxName is the most bytes of the name that a bearer gives himself.
const maxName = 64

// signInForm is what the page of the form shows.
type signInForm struct {
	Next    string
	Name    string
	Refused string // key of what is wrong; "" is nothing
}

func (c *Console) getSignIn(v *visit) error {
	next := localPath(v.FormValue("next"))
	if c.recognize(v) == nil {
		return v.redirect(next)
	}
	return c.showSignIn(v, http.StatusOK, signInForm{Next: next})
}

func (c *Console) showSignIn(v *visit, status int, form signInForm) error {
	v.session, v.grant = session{}, access.Grant{}
	return c.show(v, status, "signin", page{Title: "signin.title"}, form)
}

// postSignIn takes a token. Whoever presents one that is not accepted is told the
// same, whatever the cause.
func (c *Console) postSignIn(v *visit) error {
	form := signInForm{Next: localPath(v.PostFormValue("next")), Name: nameOf(v.PostFormValue("name"), maxName)}
	if wait := c.paces.Wait(c.opts.ClientOf(v.Request)); wait > 0 {
		v.w.Header().Set("Retry-After", "60")
		form.Refused = "signin.often"
		return c.showSignIn(v, http.StatusTooManyRequests, form)
	}
	grant, err := c.Verifier.Verify(v.Context(), strings.TrimSpace(v.PostFormValue("token")))
	switch {
	case refused(err), err == nil && !slices.Contains(grant.Scopes, access.Read):
		form.Refused = "signin.refused"
		return c.showSignIn(v, http.StatusForbidden, form)
	case err != nil:
		c.opts.Logger.WarnContext(v.Context(), "a token could not be checked for the console", "error", err)
		form.Refused = "signin.away"
		return c.showSignIn(v, http.StatusServiceUnavailable, form)
	}
	signed := newSession(v.now)
	signed.Token, signed.Name = grant.Token, form.Name
	if err := c.keep(v.w, v.Request, signed); err != nil {
		return err
	}
	c.opts.Logger.InfoContext(v.Context(), "signed in to the console", "token", grant.Token)
	return v.redirect(form.Next)
}

// postSignOut ends the session: the browser forgets it, and no process takes it
// any more.
func (c *Console) postSignOut(v *visit) error {
	c.ended.Put(v.session.ID, struct{}{})
	forget(v.w, v.Request)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(v.Context()), askTime) // also of a browser that is closed at once
	defer cancel()
	if err := c.SignOuts.End(ctx, v.session.ID, c.opts.Life); err != nil {
		c.opts.Logger.WarnContext(v.Context(), "a sign-out is known to this process alone", "error", err)
	}
	return v.redirect("/console/signin")
}

// toSignIn sends whoever has not signed in to the form, and back later.
func (v *visit) toSignIn() {
	if v.URL.Path == livePath {
		http.Error(v.w, "signed out", http.StatusUnauthorized)
		return
	}
	to := "/console/signin"
	if v.Method == http.MethodGet && v.URL.RequestURI() != root {
		to += "?next=" + url.QueryEscape(v.URL.RequestURI())
	}
	_ = v.redirect(to)
}

func (v *visit) redirect(to string) error {
	http.Redirect(v.w, v.Request, to, http.StatusSeeOther)
	return nil
}

// localPath returns a path of the console, whatever the text is.
func localPath(text string) string {
	u, err := url.Parse(text)
	if err != nil || len(text) > 2048 || u.IsAbs() || u.Host != "" || strings.ContainsAny(text, "\\\r\n\t") ||
		!strings.HasPrefix(u.Path, root) || strings.HasPrefix(u.Path, livePath) {
		return root
	}
	return text
}

// nameOf keeps of a name what can be shown in a line, and at most so many bytes.
func nameOf(text string, most int) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(strings.TrimSpace(text), ""))
	for len(text) > most {
		_, size := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-size]
	}
	return text
}
