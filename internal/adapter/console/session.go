package console

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"
)

// session is what a browser carries of whoever has signed in, sealed: it can
// neither be read there nor changed. It holds no secret of a token; what the
// token may do is asked again with each page.
type session struct {
	ID     string    `json:"id"`
	Token  string    `json:"token,omitempty"`  // the token's ID
	Person string    `json:"person,omitempty"` // whom the proxy has signed in
	Name   string    `json:"name,omitempty"`   // how the bearer of a token calls himself
	Form   string    `json:"form"`             // has to come back with each form
	Born   time.Time `json:"born"`
	Seen   time.Time `json:"seen"`
}

// sealedFor is what a session is sealed for.
const sealedFor = "console session"

// reseal is the age from which a session's Seen is written anew: a part of the
// time that it may be idle, so that whoever goes on looking stays.
func (o Options) reseal() time.Duration { return min(time.Minute, o.Idle/10) }

func newSession(now time.Time) session {
	return session{ID: rand.Text(), Form: rand.Text(), Born: now, Seen: now}
}

// open reads a request's session; false when there is none that counts.
func (c *Console) open(r *http.Request) (session, bool) {
	cookie, err := r.Cookie(cookieName(r))
	if err != nil {
		return session{}, false
	}
	plain, err := c.opts.Keys.Open(cookie.Value, sealedFor)
	if err != nil {
		return session{}, false
	}
	var s session
	if json.Unmarshal([]byte(plain), &s) != nil || !c.lasts(s) || c.signedOut(r.Context(), s) {
		return session{}, false
	}
	return s, true
}

// askTime is how long the question may take whether a session was signed out.
const askTime = 500 * time.Millisecond

// signedOut reports whether a session was signed out. While nobody can be asked
// only this process's own word counts: the console is for when servers are away.
func (c *Console) signedOut(ctx context.Context, s session) bool {
	if _, here := c.ended.Get(s.ID); here {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	ended, err := c.SignOuts.Ended(ctx, s.ID)
	if err == nil && ended {
		c.ended.Put(s.ID, struct{}{})
	}
	return err == nil && ended
}

// lasts reports whether a session counts now.
func (c *Console) lasts(s session) bool {
	now := c.opts.Now()
	return now.Before(s.Born.Add(c.opts.Life)) && now.Before(s.Seen.Add(c.opts.Idle))
}

// keep gives a session to the browser.
func (c *Console) keep(w http.ResponseWriter, r *http.Request, s session) error {
	plain, err := json.Marshal(s)
	if err != nil {
		return err
	}
	sealed, err := c.opts.Keys.Seal(string(plain), sealedFor)
	if err != nil {
		return err
	}
	http.SetCookie(w, cookie(r, sealed, s.Born.Add(c.opts.Life).Sub(c.opts.Now())))
	return nil
}

// saw notes that a session's person has looked. Live figures note nothing: a
// browser asks for them anew by itself, for as long as the page is open.
func (c *Console) saw(v *visit) error {
	if v.URL.Path == livePath || !v.session.Seen.Add(c.opts.reseal()).Before(v.now) {
		return nil
	}
	v.session.Seen = v.now
	return c.keep(v.w, v.Request, v.session)
}

// forget takes the session from the browser.
func forget(w http.ResponseWriter, r *http.Request) { http.SetCookie(w, cookie(r, "", 0)) }

// cookie makes the session's cookie; 0 has the browser forget it.
func cookie(r *http.Request, value string, lasting time.Duration) *http.Cookie {
	age := int(lasting.Seconds())
	if age <= 0 {
		age = -1
	}
	return &http.Cookie{ //nolint:gosec // G124: it is Secure but for plain HTTP on this machine
		Name: cookieName(r), Value: value, Path: "/", MaxAge: age,
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: !plain(r),
	}
}

// cookieName has the prefix that binds a cookie to this host and to TLS.
func cookieName(r *http.Request) string {
	if plain(r) {
		return "rollcall_console"
	}
	return "__Host-rollcall_console"
}

// plain reports plain HTTP on the reader's own machine, as through a port that
// is forwarded: some browsers keep no secure cookie there. What the browser
// believes to speak to decides; nobody else can set that.
func plain(r *http.Request) bool {
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https" {
		return false
	}
	addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return host == "localhost" || err == nil && addr.IsLoopback()
}

// formed reports whether a form came from a page of the session.
func (s session) formed(r *http.Request) bool {
	return subtle.ConstantTimeCompare([]byte(r.PostFormValue("form")), []byte(s.Form)) == 1
}
