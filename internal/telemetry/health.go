package telemetry

import (
	"sync"
	"time"
)

// Health answers two different questions about a process.
//
// Live: does every loop still turn? Each registers a heartbeat; one that is
// older than its limit means that only a restart helps. Dependencies do not
// count: a restart does not bring a database back.
//
// Ready: could the process do its work now? Every dependency that is not only
// told of was asked within the last seconds and answered, and the process is not
// stopping.
//
// Its methods are safe for concurrent use.
type Health struct {
	mu           sync.Mutex
	heartbeats   []*Heartbeat
	dependencies []*dependency
	starting     bool
	stopping     bool
}

// NewHealth returns a Health that knows of nothing: live and ready.
func NewHealth() *Health { return &Health{} }

// Report is an answer, as JSON on /livez and /readyz. It holds no secret.
type Report struct {
	OK     bool          `json:"ok"`
	Checks []CheckReport `json:"checks"`
}

// CheckReport is what is known of one heartbeat or dependency.
type CheckReport struct {
	Name         string  `json:"name"`
	OK           bool    `json:"ok"`
	AgeSeconds   float64 `json:"age_seconds"`    // since the last beat or answer
	LimitSeconds float64 `json:"limit_seconds"`  // the age from which it counts as lost
	Told         bool    `json:"told,omitempty"` // told only: the answer is the same without it
	Error        string  `json:"error,omitempty"`
}

// Live reports whether every heartbeat is younger than its limit.
func (h *Health) Live() Report {
	h.mu.Lock()
	defer h.mu.Unlock()
	checks := make([]CheckReport, len(h.heartbeats))
	for i, beat := range h.heartbeats {
		checks[i] = beat.report()
	}
	return reportOf(checks)
}

// Ready reports whether every dependency answered within the last seconds and
// the process is not stopping.
func (h *Health) Ready() Report {
	h.mu.Lock()
	defer h.mu.Unlock()
	checks := make([]CheckReport, 0, len(h.dependencies)+1)
	for _, d := range h.dependencies {
		checks = append(checks, d.report())
	}
	if h.starting {
		checks = append(checks, CheckReport{Name: "process", Error: "starting"})
	}
	if h.stopping {
		checks = append(checks, CheckReport{Name: "process", Error: "stopping"})
	}
	return reportOf(checks)
}

// Dependencies says which of the dependencies answered within the last seconds,
// by name.
func (h *Health) Dependencies() map[string]bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	up := make(map[string]bool, len(h.dependencies))
	for _, d := range h.dependencies {
		up[d.Name] = d.report().OK
	}
	return up
}

// Starting makes the process unready until [Health.Started].
func (h *Health) Starting() { h.setStarting(true) }

// Started ends what [Health.Starting] began: the process has opened all that
// it needs, and its dependencies are registered.
func (h *Health) Started() { h.setStarting(false) }

func (h *Health) setStarting(starting bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.starting = starting
}

// Stopping makes the process unready for good, before it begins to drain.
func (h *Health) Stopping() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stopping = true
}

func reportOf(checks []CheckReport) Report {
	report := Report{OK: true, Checks: checks}
	for _, check := range checks {
		report.OK = report.OK && (check.OK || check.Told)
	}
	return report
}

// seconds rounds to milliseconds: nobody reads more.
func seconds(d time.Duration) float64 { return d.Round(time.Millisecond).Seconds() }
