package control

import (
	"net/http"
)

// behavior is how the vendor acts: limits, latency, quirks, faults.
func (a *api) behavior() map[string]endpoint {
	return map[string]endpoint{
		"GET /limits":          a.limits,
		"PUT /limits":          a.setLimits,
		"POST /limits/unblock": a.unblock,
		"GET /latency":         a.latency,
		"PUT /latency":         a.setLatency,
		"GET /quirks":          a.quirks,
		"PUT /quirks":          a.setQuirks,
		"GET /faults":          a.faults,
		"POST /faults":         a.addFault,
		"DELETE /faults":       a.clearFaults,
		"DELETE /faults/{id}":  a.removeFault,
	}
}

func (a *api) limits(*http.Request) (reply, error) { return ok(wireLimits(a.sim.Limits())) }

func (a *api) setLimits(r *http.Request) (reply, error) {
	w, err := decode[limitsWire](r)
	if err != nil {
		return nil, err
	}
	return nil, a.sim.SetLimits(w.config())
}

func (a *api) unblock(*http.Request) (reply, error) {
	a.sim.Unblock()
	return nil, nil
}

func (a *api) latency(*http.Request) (reply, error) { return ok(wireLatency(a.sim.Latency())) }

func (a *api) setLatency(r *http.Request) (reply, error) {
	w, err := decode[latencyWire](r)
	if err != nil {
		return nil, err
	}
	return nil, a.sim.SetLatency(w.latency())
}

func (a *api) quirks(*http.Request) (reply, error) { return ok(wireQuirks(a.sim.Quirks())) }

func (a *api) setQuirks(r *http.Request) (reply, error) {
	w, err := decode[quirksWire](r)
	if err != nil {
		return nil, err
	}
	return nil, a.sim.SetQuirks(w.quirks())
}

func (a *api) faults(*http.Request) (reply, error) { return ok(wireRules(a.sim.Faults())) }

type created struct {
	ID string `json:"id"`
}

func (a *api) addFault(r *http.Request) (reply, error) {
	w, err := decode[ruleWire](r)
	if err != nil {
		return nil, err
	}
	id, err := a.sim.AddFault(w.rule())
	if err != nil {
		return nil, err
	}
	return ok(created{id})
}

func (a *api) clearFaults(*http.Request) (reply, error) {
	a.sim.ClearFaults()
	return nil, nil
}

func (a *api) removeFault(r *http.Request) (reply, error) {
	if !a.sim.RemoveFault(r.PathValue("id")) {
		return nil, notFound("no fault %q", r.PathValue("id"))
	}
	return nil, nil
}
