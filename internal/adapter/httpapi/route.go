package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"time"

	"github.com/rollcall-dev/rollcall/internal/access"
	"github.com/rollcall-dev/rollcall/internal/registry"
)

// The media types of bodies.
const (
	typeJSON  = "application/json"
	typeLines = "application/x-ndjson"
)

// route is one operation of the API.
type route struct {
	method, path string
	scope        access.Scope // "" is for everybody, without a token
	media        string       // of the request's body; "" takes none
	handle       func(context.Context, *request) (answer, error)
}

// String is the route's pattern.
func (r route) String() string { return r.method + " " + r.path }

// writes reports whether a repeat could matter.
func (r route) writes() bool { return r.method != http.MethodGet }

// request is what a handler gets: a grant that covers the route, and a body of
// the right type and size.
type request struct {
	*http.Request
	grant access.Grant
	body  []byte // of JSON, whole; lines are read by their handler
	w     http.ResponseWriter
}

// allow lets the client take until an instant to send and to take in what is
// next. The server's own come back with the connection's next request, for which
// it needs a ReadTimeout and a WriteTimeout.
func (r *request) allow(until time.Time) {
	connection := http.NewResponseController(r.w)
	_ = connection.SetReadDeadline(until)
	_ = connection.SetWriteDeadline(until)
}

func (r *request) tenant() string { return r.PathValue("tenant") }

// answer is what a handler answers.
type answer struct {
	status   int
	body     []byte
	media    string // "" is JSON
	location string // of what was made
}

// answered is an answer with a document.
func answered[T any](status int, document T) (answer, error) {
	body, err := json.Marshal(document)
	if err != nil {
		return answer{}, fmt.Errorf("write the answer: %w", err)
	}
	return answer{status: status, body: append(body, '\n')}, nil
}

func (a answer) write(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Type", typeJSON)
	if a.media != "" {
		h.Set("Content-Type", a.media)
	}
	if a.location != "" {
		h.Set("Location", a.location)
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body) // the client went away: nobody to tell
}

// guarded serves a route behind the gate.
func (a *API) guarded(one route) http.Handler {
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ans, err := a.serve(w, r, one)
		if err != nil {
			a.refuse(w, r, a.problemOf(r.Context(), err))
			return
		}
		a.note(r, one, ans)
		ans.write(w)
	})
	if one.scope == "" {
		return handler
	}
	return a.o.Gate.Authenticate(handler)
}

// note tells the operator who has written what: the facts themselves are not in
// it.
func (a *API) note(r *http.Request, one route, ans answer) {
	if !one.writes() {
		return
	}
	grant, _ := access.GrantFrom(r.Context())
	a.o.Logger.InfoContext(r.Context(), "facts written", "token", grant.Token, "method", r.Method, "path", r.URL.Path, "status", ans.status)
}

func (a *API) serve(w http.ResponseWriter, r *http.Request, one route) (answer, error) {
	req := &request{Request: r, w: w}
	if err := req.authorize(one.scope); err != nil {
		return answer{}, err
	}
	if err := checkMedia(r, one.media); err != nil {
		return answer{}, err
	}
	if err := a.readBody(w, req, one.media); err != nil {
		return answer{}, err
	}
	if one.writes() && one.media != typeLines {
		return a.once(r.Context(), req, one)
	}
	return one.handle(r.Context(), req)
}

// authorize compares the grant with the route. A tenant that the grant does not
// reach is one that does not exist.
func (r *request) authorize(scope access.Scope) error {
	if scope == "" {
		return nil
	}
	r.grant, _ = access.GrantFrom(r.Context())
	if !r.grant.Reaches(r.tenant()) {
		return registry.ErrUnknownTenant
	}
	if !slices.Contains(r.grant.Scopes, scope) {
		p := wrong(http.StatusForbidden, codeScope, "", "", "a token with the scope "+string(scope))
		return p
	}
	return nil
}

func checkMedia(r *http.Request, media string) error {
	if media == "" {
		return nil
	}
	got, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || got != media {
		return wrong(http.StatusUnsupportedMediaType, codeMediaType, "Content-Type", r.Header.Get("Content-Type"), media)
	}
	return nil
}

const (
	// MaxBody is the most bytes of a JSON body.
	MaxBody = 256 << 10
	// requestTime is how long a request that is no import may take, from its
	// head to the end of its answer.
	requestTime = time.Minute
)

// readBody reads a JSON body whole. Lines stay to be read, within their limit;
// a route without a body takes none.
func (a *API) readBody(w http.ResponseWriter, r *request, media string) error {
	switch media {
	case typeLines:
		r.Body = http.MaxBytesReader(w, r.Body, a.o.ImportLimit)
		return nil
	case "":
		r.Body = http.MaxBytesReader(w, r.Body, 0)
	default:
		r.Body = http.MaxBytesReader(w, r.Body, MaxBody)
	}
	r.allow(a.o.Now().Add(requestTime))
	var body bytes.Buffer
	if _, err := body.ReadFrom(r.Body); err != nil {
		return bodyProblem(err)
	}
	r.body = body.Bytes()
	return nil
}
