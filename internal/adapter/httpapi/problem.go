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
	// Stored says that the fact is stored although the request failed.
	Stored bool `json:"stored,omitempty"`
	// Import says how far an import came.
	Import *importBody `json:"import,omitempty"`

	retryAfter time.Duration
	allow      string // the methods there are, of a 405
}

// code names a kind of problem. It is stable once released, and safe as a
// metric's label.
type code string

// The kinds of problems.
const (
	codeMalformed     code = "malformed"           // 400: not JSON, or not of the documented types
	codeUnknownField  code = "unknown_field"       // 400
	codeNoToken       code = "no_token"            // 401
	codeBadToken      code = "bad_token"           // 401
	codeScope         code = "scope_missing"       // 403
	codeNoRoute       code = "no_such_route"       // 404
	codeUnknownTenant code = "unknown_tenant"      // 404
	codeUnknownStaff  code = "unknown_staff"       // 404
	codeUnknownCode   code = "unknown_code"        // 404
	codeUnknownFanOut code = "unknown_fan_out"     // 404
	codeMethod        code = "method_not_allowed"  // 405
	codeTaken         code = "code_taken"          // 409
	codeInProgress    code = "request_in_progress" // 409
	codeNotInShadow   code = "not_in_shadow"       // of a line
	codeTooLarge      code = "too_large"           // 413
	codeMediaType     code = "wrong_media_type"    // 415
	codeInvalid       code = "invalid_fact"        // 422
	codeKeyReused     code = "key_reused"          // 422
	codeWayRefused    code = "contact_way_refused" // 422
	codeLinesRefused  code = "lines_refused"       // 422
	codeTooMany       code = "too_many_requests"   // 429
	codePanicked      code = "panicked"            // 500
	codeUnannounced   code = "unannounced"         // 503
	codeUnavailable   code = "unavailable"         // 503
	codeImportStopped code = "import_stopped"      // 503
)

// Causes returns every code that a problem can have, for the labels of metrics.
func Causes() []string {
	codes := []code{
		codeMalformed, codeUnknownField, codeNoToken, codeBadToken, codeScope, codeNoRoute, codeUnknownTenant,
		codeUnknownStaff, codeUnknownCode, codeUnknownFanOut, codeMethod, codeTaken, codeInProgress, codeNotInShadow, codeTooLarge,
		codeMediaType, codeInvalid, codeKeyReused, codeWayRefused, codeLinesRefused, codeTooMany, codePanicked,
		codeUnannounced, codeUnavailable, codeImportStopped,
	}
	all := make([]string, len(codes))
	for i, c := range codes {
		all[i] = string(c)
	}
	return all
}

// typeBase is what a problem's type begins with: a name, not an address that
// has to answer.
const typeBase = "tag:rollcall,2026:problem/"

func newProblem(status int, kind code, detail string) *problem {
	return &problem{
		Type: typeBase + string(kind), Title: http.StatusText(status), Status: status, Code: kind, Detail: detail,
	}
}

// Error makes a problem an error of the handlers.
func (p *problem) Error() string { return string(p.Code) + ": " + p.Detail }

func unauthorized(kind code, detail string) *problem {
	return newProblem(http.StatusUnauthorized, kind, detail)
}

func unavailable(detail string) *problem {
	p := newProblem(http.StatusServiceUnavailable, codeUnavailable, detail)
	p.retryAfter = time.Second
	return p
}

func tooMany(detail string, wait time.Duration) *problem {
	p := newProblem(http.StatusTooManyRequests, codeTooMany, detail)
	p.retryAfter = wait
	return p
}

// wrong is a problem with one field of the request.
func wrong(status int, kind code, field, value, want string) *problem {
	p := newProblem(status, kind, "")
	p.Field, p.Value, p.Want = field, value, want
	p.Detail = "want " + want
	if field != "" {
		p.Detail = field + ": want " + want
	}
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
	if p.allow != "" {
		h.Set("Allow", p.allow)
	}
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p) // the client went away: nobody to tell
}
