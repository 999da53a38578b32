package landing

import (
	"crypto/rand"
	"net/http"
	"regexp"
	"strings"
	"time"
)

// speculative reports whether a browser fetches the page before anybody opened
// it: a prefetch, or a prerender.
func speculative(h http.Header) bool {
	for _, name := range []string{"Sec-Purpose", "Purpose", "X-Purpose", "X-Moz"} {
		if value := strings.ToLower(h.Get(name)); strings.Contains(value, "prefetch") || strings.Contains(value, "preview") {
			return true
		}
	}
	return false
}

// machines are words in the User-Agent of those who read pages for others:
// search engines, and chats that show a preview of a link.
var machines = regexp.MustCompile(`(?i)bot\b|crawler|spider|slurp|preview|externalhit|headless`)

// personal reports whether a request looks like a person who opens the page in
// a browser: it asks for a document in HTML, says which browser it is, and does
// not say that it is a machine. Whoever fails this may still press a button.
func personal(h http.Header) bool {
	if dest := h.Get("Sec-Fetch-Dest"); dest != "" && dest != "document" {
		return false
	}
	agent := h.Get("User-Agent")
	return strings.Contains(h.Get("Accept"), "text/html") && agent != "" && !machines.MatchString(agent)
}

// visitCookie carries a visit's name from one load of the page to the next. It
// has no path: that of the page counts, also behind a proxy that adds to it.
const visitCookie = "rollcall_visit"

var visitName = regexp.MustCompile(`^[A-Z2-7]{26}$`)

// visit returns the name of the visit that a request belongs to: a random text
// that says nothing of the person. A browser that takes no cookie makes a new
// visit with each load.
func visit(r *http.Request) string {
	if cookie, err := r.Cookie(visitCookie); err == nil && visitName.MatchString(cookie.Value) {
		return cookie.Value
	}
	return rand.Text()
}

// nameVisit has the browser name the visit again for a while; 0 has it forget.
func (s *Site) nameVisit(w http.ResponseWriter, r *http.Request, visit string, lasting time.Duration) {
	age := int(lasting.Seconds())
	if age == 0 {
		age = -1
	}
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // G124: over plain HTTP a secure cookie would not come back
		Name: visitCookie, Value: visit, MaxAge: age,
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: s.opts.Proxies.secure(r),
	})
}
