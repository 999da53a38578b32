package console

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/rollcall-dev/rollcall/internal/board"
)

// following is a live page in a browser.
type following struct {
	answer *http.Response
	lines  *bufio.Scanner
	leave  context.CancelFunc
}

// follow opens a stream on a real server with the desk's cookies.
func (d *desk) follow(t *testing.T, server *httptest.Server, path string) *following {
	t.Helper()
	ctx, leave := context.WithCancel(t.Context())
	t.Cleanup(leave)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range d.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	answer, err := server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { answer.Body.Close() })
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 1<<20)
	return &following{answer, lines, leave}
}

// until reads up to a line that holds a text; false when the stream ends before.
func (f *following) until(text string) bool {
	for f.lines.Scan() {
		if strings.Contains(f.lines.Text(), text) {
			return true
		}
	}
	return false
}

// served is a desk whose pages come from a server with short limits of its own.
func served(t *testing.T, token string) (*desk, *httptest.Server) {
	t.Helper()
	d := newDesk(t)
	server := httptest.NewUnstartedServer(d.handler)
	server.Config.WriteTimeout, server.Config.ReadTimeout = 50*time.Millisecond, 50*time.Millisecond
	server.Config.RegisterOnShutdown(d.console.Stop)
	server.Start()
	t.Cleanup(server.Close)
	// The server is on a loopback address: its cookie has the plain name.
	r := httptest.NewRequest(http.MethodPost, server.URL+"/console/signin", strings.NewReader("token="+token))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	d.send(t, r)
	return d, server
}

func TestLiveFigures(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	d, server := served(t, "reader")
	f := d.follow(t, server, "/console/live?page=overview")
	if f.answer.StatusCode != http.StatusOK || f.answer.Header.Get("Content-Type") != "text/event-stream" || !f.until(`"said":"2 things are wrong"`) {
		t.Fatalf("%s", f.answer.Status)
	}
	for n := range 20 { // longer than the server lets anybody read or write
		d.mu.Lock()
		d.view = board.View{At: noon, Incidents: make([]board.Incident, n)}
		d.mu.Unlock()
		d.later(time.Minute) // the shared look is old
		if !f.until(fmt.Sprintf(`"said":"%d things are wrong"`, n)) {
			t.Fatalf("change %d is not told", n)
		}
	}
	code := d.follow(t, server, "/console/live?page=code&tenant=acme&code=code-1")
	if !code.until("NOT as the facts ask") {
		t.Error("a code's figures are not told")
	}
	f.leave()
	code.leave()
	server.Close()
	server.Client().CloseIdleConnections()
}

func TestAStreamEndsWithItsSession(t *testing.T) {
	d, server := served(t, "reader")
	f := d.follow(t, server, "/console/live?page=overview")
	f.until("data:")
	d.mu.Lock()
	d.revoked["reader"] = true
	d.mu.Unlock()
	if !f.until("event: ended") || f.until("nothing after it") {
		t.Error("the stream of a revoked token goes on")
	}
}

// Nobody is signed out because nobody could be asked.
func TestAStreamWhileTokensCannotBeChecked(t *testing.T) {
	d, server := served(t, "reader")
	f := d.follow(t, server, "/console/live?page=overview")
	f.until("data:")
	d.mu.Lock()
	d.unverified = errors.New("away")
	d.mu.Unlock()
	if f.until("event: ended") {
		t.Error("the page is told that its session is over")
	}
}

func TestAPageIsToldThatItsFiguresAreOld(t *testing.T) {
	d, server := served(t, "reader")
	f := d.follow(t, server, "/console/live?page=code&tenant=acme&code=code-1")
	set := func(err error) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.away = err
	}
	for range 2 {
		if !f.until("NOT as the facts ask") {
			t.Fatal("no figures")
		}
		set(errors.New("away"))
		if !f.until("event: away") {
			t.Fatal("the page takes what it shows for live")
		}
		set(nil)
	}
}

// A browser connects anew by itself for as long as a page is open: nobody need be
// there.
func TestLiveFiguresDoNotProlongASession(t *testing.T) {
	d, server := served(t, "reader")
	for range 5 {
		d.later(10 * time.Minute)
		f := d.follow(t, server, "/console/live?page=overview")
		if !f.until("data:") {
			t.Fatal(f.answer.Status)
		}
		if kept := f.answer.Cookies(); len(kept) > 0 {
			t.Fatalf("the session is prolonged: %v", kept)
		}
		f.leave()
	}
	d.later(10 * time.Minute)
	if f := d.follow(t, server, "/console/live?page=overview"); f.answer.StatusCode != http.StatusUnauthorized {
		t.Errorf("after an hour without a page: %s", f.answer.Status)
	}
}

// A server that stops does not wait for live pages.
func TestAStreamEndsWithTheProcess(t *testing.T) {
	d, server := served(t, "reader")
	f := d.follow(t, server, "/console/live?page=overview")
	f.until("data:")
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := server.Config.Shutdown(ctx); err != nil {
		t.Errorf("the server waits: %v", err)
	}
}

// Nor does it wait for what a live page waits for.
func TestAStreamThatWaitsEndsWithTheProcess(t *testing.T) {
	d, server := served(t, "reader")
	f := d.follow(t, server, "/console/live?page=code&tenant=acme&code=code-1")
	f.until("data:")
	slow := newSlowness()
	d.mu.Lock()
	d.slow = slow
	d.mu.Unlock()
	<-slow.begun
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second) // less than pageTime
	defer cancel()
	if err := server.Config.Shutdown(ctx); err != nil {
		t.Errorf("the server waits: %v", err)
	}
}

// While servers are slow many wait for one look, and none for longer than he can.
func TestALookIsShared(t *testing.T) {
	d := newDesk(t)
	d.slow = newSlowness()
	var looking sync.WaitGroup
	for range 5 {
		looking.Go(func() {
			if view, err := d.console.looked.Get(t.Context()); err != nil || len(view.Incidents) != 2 {
				t.Errorf("%d incidents, %v", len(view.Incidents), err)
			}
		})
	}
	<-d.slow.begun
	gone, leave := context.WithCancel(t.Context())
	leave()
	if _, err := d.console.looked.Get(gone); !errors.Is(err, context.Canceled) {
		t.Errorf("whoever is gone waits: %v", err)
	}
	d.later(10 * time.Second)
	close(d.slow.end)
	looking.Wait()
	if d.looks != 1 {
		t.Errorf("%d looks, want one for all who waited", d.looks)
	}
}

func TestStreamsAreBounded(t *testing.T) {
	d, server := served(t, "reader")
	for range 2 {
		if f := d.follow(t, server, "/console/live?page=overview"); !f.until("data:") {
			t.Fatal(f.answer.Status)
		}
	}
	if f := d.follow(t, server, "/console/live?page=overview"); f.answer.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("a third of one session: %s", f.answer.Status)
	}
	s := &streams{most: 3, each: 2, of: map[string]int{}}
	for n, session := range []string{"a", "a", "b", "b", "c"} {
		if s.enter(session) != (n < 3) {
			t.Errorf("the %d. stream", n+1)
		}
	}
	s.leave("a")
	if !s.enter("c") || len(s.of) != 3 {
		t.Errorf("no room for one that left: %v", s.of)
	}
}

func TestWhoIsNotSignedInFollowsNothing(t *testing.T) {
	d := newDesk(t)
	if status, _ := d.get(t, "/console/live?page=overview"); status != http.StatusUnauthorized {
		t.Errorf("%d", status)
	}
}
