package webserver_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/rollcall-dev/rollcall/internal/webserver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A request that has begun when the server is told to stop is answered.
func TestWhatIsOnItsWayIsAnswered(t *testing.T) {
	begun, finish := make(chan struct{}), make(chan struct{})
	s := listen(t, time.Minute, func(w http.ResponseWriter, _ *http.Request) {
		close(begun)
		<-finish
		_, _ = io.WriteString(w, "done")
	})
	ctx, stop := context.WithCancel(t.Context())
	ended, answers := make(chan error, 1), make(chan string, 1)
	go func() { ended <- s.Serve(ctx) }()
	go func() { answers <- get(t, s) }()
	<-begun
	stop()
	select {
	case err := <-ended:
		t.Errorf("the server stopped before its answer: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	close(finish)
	if got := <-answers; got != "done" {
		t.Errorf("answer %q", got)
	}
	if err := <-ended; err != nil {
		t.Errorf("Serve: %v", err)
	}
}

// One that does not end holds the stop up for the grace and no longer.
func TestWhoDoesNotEndIsCutOff(t *testing.T) {
	begun := make(chan struct{})
	s := listen(t, 10*time.Millisecond, func(_ http.ResponseWriter, r *http.Request) {
		close(begun)
		<-r.Context().Done()
	})
	ctx, stop := context.WithCancel(t.Context())
	ended, answers := make(chan error, 1), make(chan string, 1)
	go func() { ended <- s.Serve(ctx) }()
	go func() { answers <- get(t, s) }()
	<-begun
	stop()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("Serve: %v", err)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("the server waits for ever")
	}
	if got := <-answers; !strings.HasPrefix(got, "error: ") {
		t.Errorf("answer %q, want none", got)
	}
}

func TestItTellsWhatItCannotDo(t *testing.T) {
	s := listen(t, time.Second, nil)
	_, err := webserver.Listen(t.Context(), s.Addr(), "the other", &http.Server{ReadHeaderTimeout: time.Second}, time.Second)
	if err == nil || !strings.Contains(err.Error(), "listening for the other: ") {
		t.Errorf("a taken port: %v", err)
	}
	if err := s.Listener.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Serve(t.Context()); err == nil || !strings.Contains(err.Error(), "serving the test: ") {
		t.Errorf("a closed listener: %v", err)
	}
}

func listen(t *testing.T, grace time.Duration, handler http.HandlerFunc) *webserver.Server {
	t.Helper()
	s, err := webserver.Listen(t.Context(), "127.0.0.1:0", "the test", &http.Server{Handler: handler, ReadHeaderTimeout: time.Second}, grace)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// get is the body of the answer, or what went wrong.
func get(t *testing.T, s *webserver.Server) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.Addr(), nil)
	if err != nil {
		return "error: " + err.Error()
	}
	request.Close = true
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "error: " + err.Error()
	}
	body, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return "error: " + err.Error()
	}
	return string(body)
}
