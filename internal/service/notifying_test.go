package service

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"go.opentelemetry.io/otel/trace/noop"

	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/notify"
	"github.com/rollcall-dev/rollcall/internal/telemetry"
)

// Only who asks for it lets webhooks reach his own network.
func TestWebhooksReachOurNetworkOnlyWhenAllowed(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(server.Close)
	to := notify.Channels{Webhook: notify.Webhook{URL: server.URL, Secret: "0123456789abcdef"}}
	for allowed, want := range map[bool]notify.Outcome{
		false: notify.Refused{Cause: "refused", Detail: "the address is not a public one"},
		true:  notify.Accepted{},
	} {
		senders, release := newSenders(config.Config{Notify: config.Notify{AllowPrivate: allowed}}, quiet())
		if got := senders[notify.ViaWebhook].Send(t.Context(), to, notify.Message{ID: "1"}); got != want {
			t.Errorf("allowed %v: %#v; want %#v", allowed, got, want)
		}
		release()
	}
}

// Every channel that a tenant may have has somebody who sends.
func TestEveryChannelHasASender(t *testing.T) {
	senders, release := newSenders(config.Config{}, quiet())
	defer release()
	for _, via := range notify.Vias() {
		if senders[via] == nil {
			t.Errorf("nobody sends through %s", via)
		}
	}
}

// The first wait is never beyond the longest one, and two processes of one name
// are two owners.
func TestNotifyOptions(t *testing.T) {
	cfg := config.Config{Notify: config.Notify{BackoffCap: time.Second, MaxTries: 3}}
	cfg.Refresher.Instance = "keeper-0"
	a, b := notifyOptions(cfg, quiet()), notifyOptions(cfg, quiet())
	if a.Owner == b.Owner {
		t.Errorf("both are %s", a.Owner)
	}
	if a.Retries.Backoff.Base > a.Retries.Backoff.Cap || a.Retries.MaxAfter != time.Second {
		t.Errorf("retries %+v", a.Retries)
	}
}

func quiet() *telemetry.Telemetry {
	return &telemetry.Telemetry{Tracers: noop.NewTracerProvider(), Log: slog.New(slog.DiscardHandler)}
}
