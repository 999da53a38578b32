package httpapi

import (
	"log/slog"
	"net/http"
	"path"
	"runtime/debug"
	"time"

	"github.com/rollcall-dev/rollcall/internal/registry"
)

// Options are what the API works with. All are required.
type Options struct {
	Registry *registry.Registry
	FanOuts  FanOuts
	Secrets  Secrets
	Shadows  Shadows
	Answers  registry.Answers
	Gate     *Gate
	Observer Observer
	Logger   *slog.Logger
	// ImportLimit bounds the body of an import, in bytes.
	ImportLimit int64
	// Rate is how many codes a second a fan-out releases at most: it tells how
	// long one still takes.
	Rate float64
	Now  func() time.Time
}

// API serves /v1. It is safe for concurrent use.
type API struct {
	o       Options
	mux     *http.ServeMux
	imports chan struct{} // an entry for each that is worked on
}

// New returns an API.
func New(o Options) *API {
	a := &API{o: o, mux: http.NewServeMux(), imports: make(chan struct{}, maxImports)}
	for _, one := range a.routes() {
		a.mux.Handle(one.String(), a.guarded(one))
	}
	return a
}

// ServeHTTP serves one request. A panic becomes a 500 and is counted.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	begun := a.o.Now()
	answered := &answerWriter{ResponseWriter: w}
	route := unrouted
	defer func() {
		if panicked := recover(); panicked != nil {
			a.panicked(answered, r, panicked)
		}
		a.o.Observer.Answered(r.Context(), route, answered.status, a.o.Now().Sub(begun))
	}()
	handler, pattern := a.mux.Handler(r)
	switch {
	case !clean(r):
		a.refuse(answered, r, newProblem(http.StatusNotFound, codeNoRoute, "no such route"))
	case pattern == "":
		a.refuse(answered, r, unroutedProblem(handler, r))
	default:
		route = pattern
		a.mux.ServeHTTP(answered, r)
	}
}

// unrouted stands for a route where there is none.
const unrouted = "none"

// clean reports whether the path is written in its shortest form. The mux would
// redirect others; nobody who has read the documentation asks for them.
func clean(r *http.Request) bool {
	written := r.URL.EscapedPath()
	return path.Clean(written) == written
}

// unroutedProblem asks the mux's own refusal whether the path is unknown or the
// method.
func unroutedProblem(refusal http.Handler, r *http.Request) *problem {
	asked := &refusalWriter{header: http.Header{}}
	refusal.ServeHTTP(asked, r)
	if asked.status != http.StatusMethodNotAllowed {
		return newProblem(http.StatusNotFound, codeNoRoute, "no such route")
	}
	p := newProblem(http.StatusMethodNotAllowed, codeMethod, "the route takes "+asked.header.Get("Allow"))
	p.allow = asked.header.Get("Allow")
	return p
}

func (a *API) refuse(w http.ResponseWriter, r *http.Request, p *problem) {
	a.o.Observer.Refused(r.Context(), string(p.Code))
	p.write(w)
}

func (a *API) panicked(w *answerWriter, r *http.Request, panicked any) {
	a.o.Logger.ErrorContext(r.Context(), "a request panicked", "route", r.Pattern, "panic", panicked, "stack", string(debug.Stack()))
	if w.status != 0 {
		a.o.Observer.Refused(r.Context(), string(codePanicked))
		return // half an answer is out: its end will be missing
	}
	a.refuse(w, r, newProblem(http.StatusInternalServerError, codePanicked, "a bug on this side; the operator's log has it"))
}

// answerWriter remembers the status of an answer.
type answerWriter struct {
	http.ResponseWriter
	status int
}

// WriteHeader notes the first final status.
func (w *answerWriter) WriteHeader(status int) {
	if w.status == 0 && status >= http.StatusOK {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write notes a status that was never written.
func (w *answerWriter) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *answerWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// refusalWriter takes the mux's refusal and keeps its head.
type refusalWriter struct {
	header http.Header
	status int
}

// Header returns the refusal's.
func (w *refusalWriter) Header() http.Header { return w.header }

// WriteHeader keeps the status.
func (w *refusalWriter) WriteHeader(status int) { w.status = status }

// Write drops the text.
func (w *refusalWriter) Write(b []byte) (int, error) { return len(b), nil }
