//go:build integration

package e2e_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/pulsar-client-go/pulsar"
	"go.opentelemetry.io/otel/trace"

	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/wecomsim"
	"github.com/rollcall-dev/rollcall/internal/wecomsim/fault"
	"github.com/rollcall-dev/rollcall/test/fleet"
)

// TestWaitsAndEndsAreFollowedByTheirReason lets one process meet a throttle, a
// block, a park, a dead letter and a plain push, and finds each in its log, in
// the trace of the event and in its metrics. The block is told in a group.
func TestWaitsAndEndsAreFollowedByTheirReason(t *testing.T) {
	h := newHouse(t, wecomsim.Options{})
	h.tenant("acme", "ann")
	for j := range 12 {
		h.code(roster.Code{ID: fmt.Sprint("c", j), Tenant: "acme"}, "ann")
	}
	h.tenant("gus", "bob")
	h.code(roster.Code{ID: "g1", Tenant: "gus"}, "bob")
	_, err := h.sim.AddFault(fault.Rule{API: "update_contact_way", Corp: "corp-gus", Action: fault.ErrCode, ErrCode: 45009, Count: 1})
	h.must(err)
	h.sim.AddRobot(robotKey)
	w := h.witness()

	for j := range 12 { // more than a burst of 5
		w.publish("acme", fmt.Sprint("c", j))
	}
	w.publish("acme", "nobody")
	w.publish("gus", "g1")
	w.publishPoison()

	w.mustSee(
		sighting{"done", reason.Pushed, `rollcall_outcomes_total{outcome="done",reason="pushed"`, `rollcall_acks_total{reason="pushed"`},
		sighting{"hold", reason.Throttled, `rollcall_outcomes_total{outcome="hold",reason="throttled"`, `rollcall_budget_refusals_total{cause="throttled"`},
		sighting{"nack", reason.Throttled, `rollcall_nacks_total{reason="throttled"`, `rollcall_redeliveries_total`},
		sighting{"hold", reason.Blocked, `rollcall_outcomes_total{outcome="hold",reason="blocked"`, `rollcall_pushes_total{class="throttled",outcome="refused"`},
		sighting{"park", reason.UnknownCode, `rollcall_outcomes_total{outcome="park",reason="unknown_code"`, `rollcall_parks_total{reason="unknown_code"`},
		sighting{"dead_letter", reason.NoKey, `rollcall_dead_letters_total{cause="no_key"`, `rollcall_acks_total{reason="no_key"`},
	)
	eventually(t, 20*time.Second, "the group is told of the block", func() bool { return len(h.sim.RobotMessages(robotKey)) > 0 })
	if shown := h.sim.RobotMessages(robotKey)[0].Content; !strings.Contains(shown, "gus") || !strings.Contains(shown, "45009") {
		t.Errorf("the group was shown %q; want the tenant and the answer", shown)
	}
	if strings.Contains(w.text(), robotKey) {
		t.Error("the robot's key is in the log or in a span")
	}
}

const robotKey = "k3y-of-the-robot"

// sighting is an outcome and its reason, with the series that count it.
type sighting struct {
	outcome string
	why     reason.Reason
	series  string
	other   string
}

// witness is one refresher as a process of its own: its log and its spans, as
// the console exporter prints them, are in one file.
type witness struct {
	*house
	fleet  *fleet.Fleet
	file   string
	traces map[string]bool // of the events published
}

func (h *house) witness() *witness {
	h.Helper()
	server := httptest.NewServer(h.sim.Handler())
	h.Cleanup(server.Close)
	dir := h.TempDir()
	w := &witness{house: h, file: filepath.Join(dir, "refresher-1.log"), traces: map[string]bool{}}
	w.fleet = fleet.New(h.build(dir), []string{
		"ROLLCALL_PULSAR_URL=" + h.cfg.Pulsar.URL,
		"ROLLCALL_PULSAR_ADMIN_URL=" + h.cfg.Pulsar.AdminURL,
		"ROLLCALL_PULSAR_TOPIC=" + h.cfg.Pulsar.Topic,
		"ROLLCALL_PULSAR_DEAD_LETTER_TOPIC=" + h.cfg.Pulsar.DeadLetterTopic,
		"ROLLCALL_MONGODB_URI=" + h.cfg.MongoDB.URI.Reveal(),
		"ROLLCALL_MONGODB_DATABASE=" + h.cfg.MongoDB.Database,
		"ROLLCALL_REDIS_URL=" + h.cfg.Redis.URL.Reveal(),
		"ROLLCALL_REDIS_KEY_PREFIX=" + h.cfg.Redis.KeyPrefix,
		"ROLLCALL_WECOM_BASE_URL=" + server.URL,
		"ROLLCALL_ALERT_ROBOT_URL=" + server.URL + "/cgi-bin/webhook/send?key=" + robotKey,
		"ROLLCALL_BUDGET_INSTANCES=1", "ROLLCALL_BUDGET_TENANT_PER_MINUTE=10", "ROLLCALL_BUDGET_TENANT_BURST=5", "ROLLCALL_BUDGET_MINUTE=6s",
		"ROLLCALL_LOG_LEVEL=debug", "ROLLCALL_SEAL_KEYS=" + sealKeys,
		"OTEL_TRACES_EXPORTER=console", "OTEL_BSP_SCHEDULE_DELAY=100",
	}, dir)
	h.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(h.Context()), 30*time.Second)
		defer cancel()
		if err := w.fleet.Stop(ctx); err != nil {
			h.Error(err)
		}
		if h.Failed() {
			h.Logf("the process's lines:\n%s", w.text())
		}
	})
	_, err := w.fleet.Start(h.Context(), "refresher")
	h.must(err)
	return w
}

func (h *house) build(dir string) string {
	h.Helper()
	binary := filepath.Join(dir, "rollcall")
	if out, err := exec.CommandContext(h.Context(), "go", "build", "-o", binary, "../../cmd/rollcall").CombinedOutput(); err != nil {
		h.Fatalf("build rollcall: %v\n%s", err, out)
	}
	return binary
}

// traced returns a context in a trace of its own.
func (w *witness) traced() trace.SpanContext {
	n := byte(len(w.traces) + 1)
	span := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{0xee, n}, SpanID: trace.SpanID{n}, TraceFlags: trace.FlagsSampled})
	w.traces[span.TraceID().String()] = true
	return span
}

func (w *witness) publish(tenant, code string) {
	w.Helper()
	w.must(w.producer.Publish(trace.ContextWithSpanContext(w.Context(), w.traced()), event(tenant, code)))
}

// publishPoison publishes a message that nobody can act upon, in a trace.
func (w *witness) publishPoison() {
	w.Helper()
	p, err := w.client.CreateProducer(pulsar.ProducerOptions{Topic: w.cfg.Pulsar.Topic, DisableBatching: true})
	w.must(err)
	defer p.Close()
	span := w.traced()
	_, err = p.Send(w.Context(), &pulsar.ProducerMessage{
		Payload:    []byte(`{"v":1,"tenant":"acme","code":"c1","reason":"x","occurred_at":"2026-03-01T00:00:00Z"}`),
		Properties: map[string]string{"traceparent": fmt.Sprintf("00-%s-%s-01", span.TraceID(), span.SpanID())},
	})
	w.must(err)
}

// record is a line of the log or a span, as far as the test looks at it.
type record struct {
	Outcome string `json:"outcome"`
	Reason  string `json:"reason"`
	TraceID string `json:"trace_id"`
	SpanID  string `json:"span_id"`
	Message string `json:"message"`

	SpanContext struct{ TraceID, SpanID string }
	Attributes  []spanAttribute
}

type spanAttribute struct {
	Key   string
	Value struct{ Value any }
}

// says reports whether a span has the attribute.
func (r record) says(key, value string) bool {
	return slices.ContainsFunc(r.Attributes, func(a spanAttribute) bool { return a.Key == key && a.Value.Value == value })
}

func (w *witness) records() []record {
	w.Helper()
	var out []record
	lines := bufio.NewScanner(strings.NewReader(w.text()))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r record
		if json.Unmarshal(lines.Bytes(), &r) == nil { // the last one may not be written to its end
			out = append(out, r)
		}
	}
	return out
}

func (w *witness) text() string {
	w.Helper()
	text, err := os.ReadFile(w.file)
	w.must(err)
	return string(text)
}

func (w *witness) mustSee(want ...sighting) {
	w.Helper()
	for _, s := range want {
		eventually(w.T, 30*time.Second, fmt.Sprintf("%s for %s is in the log, and in a span of the event's trace", s.outcome, s.why), func() bool {
			all := w.records()
			return slices.ContainsFunc(all, func(line record) bool {
				return line.Outcome == s.outcome && line.Reason == s.why.String() && w.traces[line.TraceID] && line.Message != "" &&
					slices.ContainsFunc(all, func(span record) bool {
						return span.SpanContext.SpanID == line.SpanID && span.SpanContext.TraceID == line.TraceID &&
							span.says("rollcall.outcome", s.outcome) && span.says("rollcall.reason", s.why.String()) && span.says("messaging.message.id", line.Message)
					})
			})
		})
		for _, series := range []string{s.series, s.other} {
			eventually(w.T, 10*time.Second, fmt.Sprintf("%s for %s is counted in %s", s.outcome, s.why, series), func() bool { return w.counted(series) })
		}
	}
}

// counted reports whether a series whose name begins so is above zero.
func (w *witness) counted(series string) bool {
	for name, value := range w.fleet.Figures(w.Context()) {
		if strings.HasPrefix(name, series) && value > 0 {
			return true
		}
	}
	return false
}
