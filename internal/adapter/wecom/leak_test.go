package wecom_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/rollcall-dev/rollcall/internal/adapter/wecom"
)

// Whatever goes wrong, with the call or with the fetching of its token: no
// error, log line, span or metric holds the token, the secret or the query
// they travel in.
func TestNothingLeaks(t *testing.T) {
	t.Parallel()
	for _, m := range misfortunes() {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			out := newOutput()
			options := out.options()
			out.take(m.update(t, options))

			endpoint := newEndpoint(t, m.options(t, options))
			tokens := wecom.NewTokens(endpoint, goodCredentials(), wecom.TokensOptions{Store: brokenStore{}})
			t.Cleanup(tokens.Close)
			_, err := wecom.NewClient(endpoint, tokens).AddContactWay(m.context(t), tenant,
				wecom.AddContactWayRequest{User: []string{"amy"}})
			out.take(err)
			out.check(t)
		})
	}
}

// A transport of the caller's may wrap the error of another client, URL and
// all; the chain is given up then.
func TestNothingLeaksFromAWrappedURL(t *testing.T) {
	for name, broken := range map[string]func(*http.Request) error{
		"wrapped again": func(r *http.Request) error {
			return fmt.Errorf("retried 3 times: %w", &url.Error{Op: "Post", URL: r.URL.String(), Err: io.ErrUnexpectedEOF})
		},
		"as text":           func(r *http.Request) error { return fmt.Errorf("POST %s failed", r.URL) },
		"the token as text": func(r *http.Request) error { return fmt.Errorf("bad token %s", r.URL.Query().Get("access_token")) },
	} {
		t.Run(name, func(t *testing.T) {
			out := newOutput()
			options := out.options()
			options.HTTP = &http.Client{Transport: failing(broken)}
			client := wecom.NewClient(newEndpoint(t, options), fixedToken(tokenTag))
			out.take(client.DelContactWay(t.Context(), tenant, "c1"))
			out.check(t)
		})
	}
}

type failing func(*http.Request) error

func (f failing) RoundTrip(r *http.Request) (*http.Response, error) { return nil, f(r) }

// output is all that a client lets out.
type output struct {
	logs    bytes.Buffer
	spans   *tracetest.InMemoryExporter
	tracers *trace.TracerProvider
	metrics *metric.ManualReader
	errors  []string
}

func newOutput() *output {
	spans := tracetest.NewInMemoryExporter()
	return &output{
		spans:   spans,
		tracers: trace.NewTracerProvider(trace.WithSyncer(spans)),
		metrics: metric.NewManualReader(),
	}
}

func (o *output) options() wecom.EndpointOptions {
	return wecom.EndpointOptions{
		Logger:         slog.New(slog.NewJSONHandler(&o.logs, &slog.HandlerOptions{Level: slog.LevelDebug})),
		TracerProvider: o.tracers,
		MeterProvider:  metric.NewMeterProvider(metric.WithReader(o.metrics)),
	}
}

// take renders an error in the ways in which somebody may log it.
func (o *output) take(err error) {
	if err == nil {
		return
	}
	o.errors = append(o.errors, fmt.Sprintf("%v\n%+v\n%#v", err, err, err))
	for cause := err; cause != nil; {
		o.errors = append(o.errors, fmt.Sprintf("%v\n%#v", cause, cause))
		wrapper, ok := cause.(interface{ Unwrap() error })
		if !ok {
			break
		}
		cause = wrapper.Unwrap()
	}
}

func (o *output) check(t *testing.T) {
	t.Helper()
	spans, err := json.Marshal(o.spans.GetSpans().Snapshots())
	if err != nil {
		t.Fatal(err)
	}
	rendered := map[string]string{
		"errors": strings.Join(o.errors, "\n"),
		"logs":   o.logs.String(),
		"spans":  string(spans) + fmt.Sprintf("%+v", o.spans.GetSpans()),
		"metric": fmt.Sprintf("%+v", o.collect(t)),
	}
	for where, text := range rendered {
		for _, hidden := range []string{tokenTag, url.QueryEscape(tokenTag), secret, url.QueryEscape(secret)} {
			if strings.Contains(text, hidden) {
				t.Errorf("%s hold %q:\n%s", where, hidden, text)
			}
		}
	}
}

func (o *output) collect(t *testing.T) metricdata.ResourceMetrics {
	t.Helper()
	var data metricdata.ResourceMetrics
	if err := o.metrics.Collect(context.WithoutCancel(t.Context()), &data); err != nil {
		t.Fatal(err)
	}
	return data
}
