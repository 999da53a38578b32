package control

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strings"

	"github.com/rollcall-dev/rollcall/internal/wecomsim"
	"github.com/rollcall-dev/rollcall/internal/wecomsim/ledger"
)

// maxBody is the largest request body: a million ways and more.
const maxBody = 512 << 20

// Handler serves the control API of sim.
func Handler(sim *wecomsim.Sim) http.Handler {
	a := &api{sim: sim}
	mux := http.NewServeMux()
	for _, group := range []map[string]endpoint{a.world(), a.behavior(), a.customers(), a.records()} {
		for pattern, serve := range group {
			method, path, _ := strings.Cut(pattern, " ")
			mux.Handle(method+" /control/v1"+path, serve)
		}
	}
	return mux
}

type api struct {
	sim *wecomsim.Sim
}

// endpoint answers with a value, which is written as JSON (an iterator as
// NDJSON), or with an error.
type endpoint func(r *http.Request) (reply, error)

// reply is the answer of an endpoint; the zero value is 204.
type reply interface {
	write(w http.ResponseWriter)
}

// ServeHTTP answers errors with a JSON object {"error": "…"}.
func (serve endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	out, err := serve(r)
	switch {
	case err != nil:
		var p problem
		if !errors.As(err, &p) {
			p.status = http.StatusBadRequest
		}
		value[errorBody]{status: p.status, body: errorBody{err.Error()}}.write(w)
	case out == nil:
		w.WriteHeader(http.StatusNoContent)
	default:
		out.write(w)
	}
}

type errorBody struct {
	Error string `json:"error"`
}

// problem is an error with a status of its own; others are 400.
type problem struct {
	status int
	text   string
}

// Error returns the text.
func (p problem) Error() string { return p.text }

func notFound(format string, args ...any) error {
	return problem{http.StatusNotFound, fmt.Sprintf(format, args...)}
}

// value is one JSON document.
type value[T any] struct {
	status int
	body   T
}

func ok[T any](body T) (reply, error) { return value[T]{http.StatusOK, body}, nil }

func (v value[T]) write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(v.status)
	_ = json.NewEncoder(w).Encode(v.body) // the client may be gone
}

// lines is one JSON document a line.
type lines[T any] struct {
	items iter.Seq[T]
}

func (l lines[T]) write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/x-ndjson")
	_ = ledger.WriteNDJSON(w, l.items) // the client may be gone
}

// decode reads a JSON body strictly: a misspelled field is an error.
func decode[T any](r *http.Request) (T, error) {
	var body T
	dec := json.NewDecoder(r.Body)
	dec.DisallowUnknownFields()
	if err := dec.Decode(&body); err != nil {
		if errors.Is(err, io.EOF) {
			return body, errors.New("the body is empty")
		}
		return body, fmt.Errorf("read body: %w", err)
	}
	return body, nil
}
