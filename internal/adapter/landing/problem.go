package landing

import (
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/rollcall-dev/rollcall/internal/draw"
)

// problem is an error as RFC 9457 writes it. Code is stable and for programs,
// Detail is for a person.
type problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Code   string `json:"code"`
	Detail string `json:"detail,omitempty"`

	retryAfter time.Duration
	allow      string // the methods there are, of a 405
}

// typeBase is what a problem's type begins with: a name, not an address that
// has to answer.
const typeBase = "https://rollcall.dev/problems/"

func newProblem(status int, code, detail string) problem {
	return problem{Type: typeBase + code, Title: http.StatusText(status), Status: status, Code: code, Detail: detail}
}

func (p problem) after(wait time.Duration) problem {
	p.retryAfter = wait
	return p
}

// When to try again. A refresh that brings somebody back takes about a second.
const (
	retryNobodyFree  = 2 * time.Second
	retryUnavailable = time.Second
)

// problemOf says what a failed draw means to whoever asked. It holds nothing of
// the error but its kind.
func problemOf(err error) problem {
	switch {
	case errors.Is(err, draw.ErrUnknown):
		return newProblem(http.StatusNotFound, "unknown_code", "there is no such code")
	case errors.Is(err, draw.ErrExhausted):
		return newProblem(http.StatusConflict, "nobody_free",
			"everyone in the rotation set has as many customers as he may; the set is being computed again").after(retryNobodyFree)
	case errors.Is(err, draw.ErrDeleted):
		return newProblem(http.StatusGone, "deleted", "the code is deleted")
	case errors.Is(err, draw.ErrNative):
		return newProblem(http.StatusUnprocessableEntity, "not_drawn",
			"the code is of the family native: WeCom picks among its members, nothing is drawn")
	case errors.Is(err, draw.ErrInvalid):
		return newProblem(http.StatusServiceUnavailable, "invalid_facts",
			"the facts of the code contradict themselves; the log says how").after(time.Minute)
	}
	return newProblem(http.StatusServiceUnavailable, "unavailable",
		"the draw cannot be made now; nobody was drawn as far as is known").after(retryUnavailable)
}

func setRetryAfter(h http.Header, wait time.Duration) {
	if wait > 0 {
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
	}
}

// write answers with the problem. Nothing of it is kept by caches.
func (p problem) write(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Type", "application/problem+json")
	h.Set("Cache-Control", "no-store")
	if p.Status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", `Bearer realm="rollcall"`)
	}
	if p.allow != "" {
		h.Set("Allow", p.allow)
	}
	setRetryAfter(h, p.retryAfter)
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p) // the client went away: nobody to tell
}
