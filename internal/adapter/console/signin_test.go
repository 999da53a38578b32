package console

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/ratelimit"
)

func TestSignIn(t *testing.T) {
	d := newDesk(t)
	answer := d.post(t, "/console/signin", "token", "reader", "name", "Li Na", "next", "/console/dirty")
	if answer.StatusCode != http.StatusSeeOther || answer.Header.Get("Location") != "/console/dirty" {
		t.Fatalf("%s to %q", answer.Status, answer.Header.Get("Location"))
	}
	cookie := answer.Header.Get("Set-Cookie")
	for _, want := range []string{"__Host-rollcall_console=", "HttpOnly", "Secure", "SameSite=Strict", "Path=/;", "Max-Age=28800"} {
		if !strings.Contains(cookie+";", want) {
			t.Errorf("the cookie %q lacks %q", cookie, want)
		}
	}
	if strings.Contains(cookie, "reader") || strings.Contains(cookie, "Domain") {
		t.Errorf("the cookie shows whose it is, or leaves the host: %q", cookie)
	}
	if status, body := d.get(t, "/console/"); status != http.StatusOK || !strings.Contains(body, "Li Na (token reader)") || !strings.Contains(body, "/console/signout") {
		t.Errorf("the first page: %d", status)
	}
}

// Whoever presents a token that is not accepted learns nothing of why.
func TestARefusalIsTheSameForEveryCause(t *testing.T) {
	d := newDesk(t)
	d.revoked["writer"] = true
	var told string
	for _, token := range []string{"nobody", "writer", "blind", ""} {
		answer := d.post(t, "/console/signin", "token", token)
		body := text(t, answer)
		if answer.StatusCode != http.StatusForbidden || len(answer.Cookies()) > 0 {
			t.Errorf("%q: %s, %d cookies", token, answer.Status, len(answer.Cookies()))
		}
		if told != "" && body != told {
			t.Errorf("%q is told something else", token)
		}
		told = body
	}
	d.unverified = errors.New("away")
	if answer := d.post(t, "/console/signin", "token", "reader"); answer.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("without a store: %s", answer.Status)
	}
}

func TestSignInsArePaced(t *testing.T) {
	d := newDesk(t, func(_ *world, o *Options) { o.SignIns = ratelimit.Limit{PerSecond: .1, Burst: 3} })
	for range 3 {
		d.post(t, "/console/signin", "token", "nobody")
	}
	if answer := d.post(t, "/console/signin", "token", "reader"); answer.StatusCode != http.StatusTooManyRequests || answer.Header.Get("Retry-After") == "" {
		t.Errorf("the fourth: %s", answer.Status)
	}
	d.later(10 * time.Second)
	d.as(t, "reader")
}

func TestASessionEnds(t *testing.T) {
	for name, end := range map[string]func(*desk){
		"its life is over": func(d *desk) {
			for range 13 {
				d.later(31 * time.Minute)
				d.get(t, "/console/decisions")
			}
			kept := d.cookies["__Host-rollcall_console"]
			d.later(31 * time.Minute)
			d.cookies["__Host-rollcall_console"] = kept // a browser would have dropped it
		},
		"nobody looked for an hour": func(d *desk) { d.later(time.Hour) },
		"the token was revoked":     func(d *desk) { d.revoked["reader"] = true },
		"it was signed out":         func(d *desk) { d.post(t, "/console/signout") },
		"it was changed":            func(d *desk) { d.cookies["__Host-rollcall_console"] += "A" },
		"it is not ours": func(d *desk) {
			other := newDesk(t).as(t, "reader")
			d.cookies = other.cookies
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t).as(t, "reader")
			d.later(59 * time.Minute)
			if status, _ := d.get(t, "/console/dirty"); status != http.StatusOK {
				t.Fatalf("before: %d", status)
			}
			kept := d.cookies["__Host-rollcall_console"]
			end(d)
			if status, _ := d.get(t, "/console/dirty"); status != http.StatusSeeOther {
				t.Errorf("after: %d, want the form", status)
			}
			if name == "it was signed out" {
				d.cookies["__Host-rollcall_console"] = kept
				if status, _ := d.get(t, "/console/dirty"); status != http.StatusSeeOther {
					t.Errorf("the cookie was kept and still opens: %d", status)
				}
			}
		})
	}
}

func TestWhoGoesOnLookingStays(t *testing.T) {
	for _, idle := range []time.Duration{time.Minute, time.Hour} {
		d := newDesk(t, func(_ *world, o *Options) { o.Idle = idle }).as(t, "reader")
		for n := range 10 {
			d.later(idle * 2 / 5)
			if status, _ := d.get(t, "/console/search"); status != http.StatusOK {
				t.Fatalf("idle for %s at most: the page after %d others: %d", idle, n, status)
			}
		}
	}
}

// Several processes share the key, and no request has to come back to one.
func TestASessionOfAnotherProcessCounts(t *testing.T) {
	keys := ring(t)
	same := func(_ *world, o *Options) { o.Keys = keys }
	one, other := newDesk(t, same).as(t, "reader"), newDesk(t, same)
	other.cookies = one.cookies
	if status, _ := other.get(t, "/console/dirty"); status != http.StatusOK {
		t.Errorf("%d", status)
	}
}

func TestABrowserThatIsClosedAtOnceIsSignedOut(t *testing.T) {
	d := newDesk(t).as(t, "reader")
	d.get(t, "/console/search")
	ctx, leave := context.WithCancel(t.Context())
	leave()
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "https://rollcall.example/console/signout", strings.NewReader("form="+d.form))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if d.send(t, r); len(d.signedOut) != 1 {
		t.Error("no other process knows of the sign-out")
	}
}

func TestASignOutIsKnownToAllProcesses(t *testing.T) {
	keys, out := ring(t), map[string]bool{}
	same := func(w *world, o *Options) { o.Keys, w.signedOut = keys, out }
	one, other := newDesk(t, same).as(t, "reader"), newDesk(t, same)
	for name, value := range one.cookies {
		other.cookies[name] = value
	}
	one.post(t, "/console/signout")
	other.away = errors.New("away")
	if status, _ := other.get(t, "/console/search"); status != http.StatusOK {
		t.Errorf("while nobody can be asked: %d", status)
	}
	other.away = nil
	if status, _ := other.get(t, "/console/search"); status != http.StatusSeeOther {
		t.Errorf("%d", status)
	}
}

func TestTheCookieOverPlainHTTP(t *testing.T) {
	for host, want := range map[string]string{
		"http://localhost:8080": "rollcall_console=", "http://127.0.0.1:8080": "rollcall_console=", "http://[::1]:8080": "rollcall_console=",
		"http://rollcall.example": "__Host-rollcall_console=", "https://localhost": "__Host-rollcall_console=", "http://localhost.evil.example": "__Host-rollcall_console=",
	} {
		d := newDesk(t)
		r := httptest.NewRequest(http.MethodPost, host+"/console/signin", strings.NewReader("token=reader"))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		cookie := d.send(t, r).Header.Get("Set-Cookie")
		if !strings.HasPrefix(cookie, want) || strings.Contains(cookie, "Secure") != strings.HasPrefix(want, "__Host-") {
			t.Errorf("%s: %q", host, cookie)
		}
	}
}

func TestWhereASignInLeads(t *testing.T) {
	for next, want := range map[string]string{
		"/console/dirty?reason=blocked": "/console/dirty?reason=blocked", "": "/console/", "https://evil.example/console/": "/console/",
		"//evil.example/console/": "/console/", "/console/live?page=overview": "/console/", `/\evil.example/console/`: "/console/",
		"/v1/tenants": "/console/", "javascript:alert(1)": "/console/", "/console/\r\nX: y": "/console/",
	} {
		if got := localPath(next); got != want {
			t.Errorf("%q leads to %q, want %q", next, got, want)
		}
	}
}

func TestANameIsALine(t *testing.T) {
	for name, want := range map[string]string{"\tLi Na\t": "Li Na", "a\nb\x00c": "abc", "\xff": "", strings.Repeat("长", 40): strings.Repeat("长", 21)} {
		if got := nameOf(name, maxName); got != want {
			t.Errorf("%q becomes %q, want %q", name, got, want)
		}
	}
}
