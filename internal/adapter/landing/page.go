package landing

import (
	"errors"
	"net/http"

	"github.com/rollcall-dev/rollcall/internal/draw"
)

// getPage shows a person the QR code of the member whose turn it is. Whoever
// only looks ahead, or does not look like a person, draws nobody.
func (s *Site) getPage(w http.ResponseWriter, r *http.Request) {
	switch {
	case speculative(r.Header):
		// A browser drops a prefetch that failed, and asks again when the page
		// is really opened.
		s.ended(r, draw.NoVisit)
		s.screen.header(w)
		w.WriteHeader(http.StatusServiceUnavailable)
	case s.tooOften(w, r):
	case r.Method == http.MethodHead || !personal(r.Header):
		s.ended(r, draw.NoVisit)
		s.screen.show(w, r, http.StatusOK, view{name: cover})
	default:
		s.visited(w, r)
	}
}

// postPage is the button for those who do not look like a person.
func (s *Site) postPage(w http.ResponseWriter, r *http.Request) {
	if !s.tooOften(w, r) {
		s.visited(w, r)
	}
}

// visited draws, once a visit, and shows the answer.
func (s *Site) visited(w http.ResponseWriter, r *http.Request) {
	name := visit(r)
	answer, err := s.Desk.Draw(r.Context(), draw.Request{
		Code: r.PathValue("code"), Key: "page\x00" + name, Surface: draw.Page, From: network(s.opts.Proxies.client(r)),
	})
	if err != nil {
		if errors.Is(err, draw.ErrUnavailable) { // it may be the answer that was lost
			s.nameVisit(w, r, name, s.opts.RepeatWithin)
		}
		p := problemOf(err)
		setRetryAfter(w.Header(), p.retryAfter)
		s.screen.show(w, r, p.Status, view{name: viewOf(draw.EndingOf(draw.Turn{}, err))})
		return
	}
	image := s.wayOf(r.Context(), draw.Page, answer)
	if image == "" { // the next try is another visit, and finds another member
		s.nameVisit(w, r, name, 0)
		setRetryAfter(w.Header(), retryUnavailable)
		s.screen.show(w, r, http.StatusServiceUnavailable, view{name: away})
		return
	}
	s.nameVisit(w, r, name, s.opts.RepeatWithin)
	s.screen.show(w, r, http.StatusOK, view{name: member, image: image})
}

// tooOften reports whether the client's address has to wait, and answers then.
func (s *Site) tooOften(w http.ResponseWriter, r *http.Request) bool {
	wait := s.paces.Wait(subscriber(s.opts.Proxies.client(r)))
	if wait == 0 {
		return false
	}
	s.ended(r, draw.Limited)
	setRetryAfter(w.Header(), wait)
	s.screen.show(w, r, http.StatusTooManyRequests, view{name: hasty})
	return true
}

func (s *Site) ended(r *http.Request, ending draw.Ending) {
	s.Observer.Ended(r.Context(), draw.Page, ending, 0)
}

// viewOf says what a customer is shown when nobody could be drawn. He learns
// what he can do, and nothing of how we are set up.
func viewOf(ending draw.Ending) viewName {
	switch ending {
	case draw.NobodyFree:
		return busy
	case draw.Deleted:
		return over
	case draw.Unknown, draw.Native:
		return nowhere
	default:
		return away
	}
}
