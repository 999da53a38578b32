package control

import (
	"context"
	"errors"
	"net/http"

	"github.com/rollcall-dev/rollcall/internal/wecomsim"
)

// customers is what the people at the codes do, and other events.
func (a *api) customers() map[string]endpoint {
	return map[string]endpoint{
		"GET /scans":                    a.streams,
		"POST /scans":                   a.startScans,
		"GET /scans/{id}":               a.stream,
		"DELETE /scans/{id}":            a.stopScans,
		"POST /corps/{corp}/scan/{way}": a.scanOnce,
		"POST /events":                  a.emit,
	}
}

func (a *api) streams(*http.Request) (reply, error) {
	out := []streamWire{}
	for _, st := range a.sim.Streams() {
		out = append(out, wireStream(st))
	}
	return ok(out)
}

func (a *api) startScans(r *http.Request) (reply, error) {
	w, err := decode[scansWire](r)
	if err != nil {
		return nil, err
	}
	// The stream outlives the request that starts it; the Sim ends it.
	st, err := a.sim.StartScans(context.WithoutCancel(r.Context()), w.plan())
	if err != nil {
		return nil, err
	}
	return ok(created{st.ID()})
}

func (a *api) stream(r *http.Request) (reply, error) {
	st, found := a.sim.Stream(r.PathValue("id"))
	if !found {
		return nil, notFound("no scans %q", r.PathValue("id"))
	}
	return ok(wireStream(st))
}

// stopScans ends the arrivals; with ?wait=1 it also waits for the callbacks.
func (a *api) stopScans(r *http.Request) (reply, error) {
	st, found := a.sim.Stream(r.PathValue("id"))
	if !found {
		return nil, notFound("no scans %q", r.PathValue("id"))
	}
	st.Stop()
	if r.URL.Query().Get("wait") != "" {
		select {
		case <-st.Done():
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
	return ok(wireStream(st))
}

type scanned struct {
	wecomsim.Scan
	CallbackError string `json:"callback_error,omitempty"`
}

func (a *api) scanOnce(r *http.Request) (reply, error) {
	scan, err := a.sim.Scan(r.Context(), r.PathValue("corp"), r.PathValue("way"), nil)
	out := scanned{Scan: scan}
	if err != nil {
		out.CallbackError = err.Error()
	}
	return ok(out)
}

func (a *api) emit(r *http.Request) (reply, error) {
	e, err := decode[wecomsim.Event](r)
	if err != nil {
		return nil, err
	}
	err = a.sim.Emit(r.Context(), e)
	switch {
	case errors.Is(err, wecomsim.ErrUnknownCorp):
		return nil, notFound("no corp %q", e.Corp)
	case err != nil:
		return nil, problem{http.StatusBadGateway, err.Error()}
	}
	return nil, nil
}
