package campaign

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// Whatever others ask at the same time, each attempt of a request asks another
// ingress: one that does not listen yet, or no more, fails no request.
func TestEachAttemptAsksAnotherIngress(t *testing.T) {
	live := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(live.Close)
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	a := newAPI("token", func() []string { return []string{live.URL, gone.URL} })
	var all sync.WaitGroup
	for range 64 {
		all.Go(func() {
			if _, err := a.call(t.Context(), http.MethodPost, "/callback/acme", "text/xml", nil); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}
