package httpapi

import (
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"time"
)

// problem is an error as RFC 9457 writes it. Code is stable and for programs,
// Detail is for a person.
type problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Code   code   `json:"code"`
	Detail string `json:"detail,omitempty"`
	// Field, Value and Want say what of the request is wrong.
	Field string `json:"field,omitempty"`
	Value string `json:"value,omitempty"`
	Want  string `json:"want,omitempty"`
	// Line is the line of an import, from 1.
	Line int `json:"line,omitempty"`
	// Stored says that the fact is stored although the request failed.
	Stored bool `json:"stored,omitempty"`

	retryAfter time.Duration
}

// code names a kind of problem.
type code string

// The kinds of problems.
const (
	codeNoToken     code = "no_token"
	codeBadToken    code = "bad_token"
	codeTooMany     code = "too_many_requests"
	codeUnavailable code = "unavailable"
)

// typeBase is what a problem's type begins with: a name, not an address that
// has to answer.
const typeBase = "https://rollcall.dev/problems/"

func newProblem(status int, kind code, detail string) *problem {
	return &problem{
		Type: typeBase + string(kind), Title: http.StatusText(status), Status: status, Code: kind, Detail: detail,
	}
}

func unauthorized(kind code, detail string) *problem {
	return newProblem(http.StatusUnauthorized, kind, detail)
}

func unavailable(detail string) *problem {
	p := newProblem(http.StatusServiceUnavailable, codeUnavailable, detail)
	p.retryAfter = time.Second
	return p
}

func tooMany(wait time.Duration) *problem {
	p := newProblem(http.StatusTooManyRequests, codeTooMany, "the token asks more often than it may")
	p.retryAfter = wait
	return p
}

// write answers with the problem. Nothing of it is kept by caches.
func (p *problem) write(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Type", "application/problem+json")
	h.Set("Cache-Control", "no-store")
	if p.Status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", `Bearer realm="rollcall"`)
	}
	if p.retryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(p.retryAfter.Seconds()))))
	}
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p) // the client went away: nobody to tell
}
