package refresh_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/apache/pulsar-client-go/pulsar"
	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/trace"

	"github.com/rollcall-dev/rollcall/pkg/refresh"
	"github.com/rollcall-dev/rollcall/pkg/refresh/refreshtest"
)

func TestProducerKeepsThePublishersPromises(t *testing.T) {
	p, _ := newProducer(t, refresh.Options{})
	refreshtest.Check(t, p, "t1", "c1")
}

func TestPublishedMessage(t *testing.T) {
	p, out := newProducer(t, refresh.Options{})
	e := sample()
	if err := p.Publish(traced(t), e); err != nil {
		t.Fatal(err)
	}
	payload, _ := refresh.Encode(e)
	want := []*pulsar.ProducerMessage{{
		Key:       e.Code,
		Payload:   payload,
		EventTime: e.OccurredAt,
		Properties: map[string]string{
			"traceparent": "00-0102030405060708090a0b0c0d0e0f10-0102030405060708-01",
			"tracestate":  "vendor=1",
		},
	}}
	if diff := cmp.Diff(want, out.sent); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestProducerOptions(t *testing.T) {
	tests := []struct {
		name string
		o    refresh.Options
		want pulsar.ProducerOptions
	}{
		{
			"defaults: one message an entry, the common hash, wait when full",
			refresh.Options{Topic: "t"},
			pulsar.ProducerOptions{
				Topic: "t", SendTimeout: 30 * time.Second, MaxPendingMessages: 1000,
				DisableBatching: true, HashingScheme: pulsar.JavaStringHash,
			},
		},
		{
			"all set",
			refresh.Options{Topic: "t", Name: "n", SendTimeout: time.Second, MaxPending: 7, WhenFull: refresh.Refuse},
			pulsar.ProducerOptions{
				Topic: "t", Name: "n", SendTimeout: time.Second, MaxPendingMessages: 7,
				DisableBlockIfQueueFull: true, DisableBatching: true, HashingScheme: pulsar.JavaStringHash,
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			client := &fakeClient{}
			if _, err := refresh.New(client, tt.o); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, client.asked, cmp.FilterPath(untyped, cmp.Ignore())); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestErrorsOfTheClientAreTranslated(t *testing.T) {
	tests := []struct {
		name      string
		from      error
		want, not error
	}{
		{"queue full", pulsar.ErrSendQueueIsFull, refresh.ErrFull, refresh.ErrClosed},
		{"closed", pulsar.ErrProducerClosed, refresh.ErrClosed, refresh.ErrFull},
		{"time-out", pulsar.ErrSendTimeout, pulsar.ErrSendTimeout, refresh.ErrFull},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, out := newProducer(t, refresh.Options{})
			out.fail = tt.from
			async := make(chan error, 1)
			p.PublishAsync(t.Context(), sample(), func(err error) { async <- err })
			for _, err := range []error{p.Publish(t.Context(), sample()), <-async} {
				if !errors.Is(err, tt.want) || !errors.Is(err, tt.from) || errors.Is(err, tt.not) {
					t.Errorf("got %v, want %v that wraps %v", err, tt.want, tt.from)
				}
				if !strings.Contains(err.Error(), "c-00017") {
					t.Errorf("%q does not name the code", err)
				}
			}
		})
	}
}

func TestInvalidEventsNeverReachTheBroker(t *testing.T) {
	p, out := newProducer(t, refresh.Options{})
	e := sample()
	e.Tenant = ""
	var invalid *refresh.InvalidError
	if err := p.Publish(t.Context(), e); !errors.As(err, &invalid) {
		t.Errorf("Publish = %v, want an InvalidError", err)
	}
	p.PublishAsync(t.Context(), e, nil)
	if len(out.sent) != 0 {
		t.Errorf("%d messages were sent", len(out.sent))
	}
}

func TestFlushFailureIsTold(t *testing.T) {
	p, out := newProducer(t, refresh.Options{})
	out.fail = errors.New("gone")
	if err := p.Flush(t.Context()); !errors.Is(err, out.fail) {
		t.Errorf("Flush = %v", err)
	}
}

func TestCloseLeavesTheCallersClientAlone(t *testing.T) {
	client := &fakeClient{}
	p, err := refresh.New(client, refresh.Options{Topic: "t"})
	if err != nil {
		t.Fatal(err)
	}
	p.Close()
	p.Close()
	if client.out.closed != 1 || client.closed != 0 {
		t.Errorf("producer closed %d times, client %d times; want 1 and 0", client.out.closed, client.closed)
	}
}

func TestOptionsThatCannotWork(t *testing.T) {
	if _, err := refresh.New(&fakeClient{}, refresh.Options{}); err == nil {
		t.Error("New without a topic: no error")
	}
	if _, err := refresh.Dial("pulsar://127.0.0.1:1", refresh.Options{}); err == nil {
		t.Error("Dial without a topic: no error")
	}
	if _, err := refresh.Dial("pulsar://user:hunter2@[", refresh.Options{Topic: "t"}); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("Dial with a broken URL = %v: want an error without the URL", err)
	}
	refused := &fakeClient{fail: errors.New("not allowed")}
	if _, err := refresh.New(refused, refresh.Options{Topic: "t"}); !errors.Is(err, refused.fail) {
		t.Errorf("New = %v, want the client's error", err)
	}
}

// traced returns a context within a remote span.
func traced(t *testing.T) context.Context {
	state, err := trace.ParseTraceState("vendor=1")
	if err != nil {
		t.Fatal(err)
	}
	return trace.ContextWithRemoteSpanContext(t.Context(), trace.NewSpanContext(trace.SpanContextConfig{
		TraceID:    trace.TraceID{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16},
		SpanID:     trace.SpanID{1, 2, 3, 4, 5, 6, 7, 8},
		TraceFlags: trace.FlagsSampled,
		TraceState: state,
	}))
}

// untyped drops the unexported fields of the client's options.
func untyped(p cmp.Path) bool {
	f, ok := p.Last().(cmp.StructField)
	return ok && strings.ToLower(f.Name()[:1]) == f.Name()[:1]
}

func newProducer(t *testing.T, o refresh.Options) (*refresh.Producer, *fakeProducer) {
	t.Helper()
	if o.Topic == "" {
		o.Topic = "topic"
	}
	client := &fakeClient{}
	p, err := refresh.New(client, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p, &client.out
}

// fakeClient hands out its one producer.
type fakeClient struct {
	pulsar.Client
	out    fakeProducer
	asked  pulsar.ProducerOptions
	fail   error
	closed int
}

func (c *fakeClient) CreateProducer(o pulsar.ProducerOptions) (pulsar.Producer, error) {
	c.asked = o
	return &c.out, c.fail
}

func (c *fakeClient) Close() { c.closed++ }

// fakeProducer stores messages, or fails as told.
type fakeProducer struct {
	pulsar.Producer
	sent   []*pulsar.ProducerMessage
	fail   error
	closed int
}

func (p *fakeProducer) Send(ctx context.Context, m *pulsar.ProducerMessage) (pulsar.MessageID, error) {
	if err := errors.Join(ctx.Err(), p.fail); err != nil {
		return nil, err
	}
	p.sent = append(p.sent, m)
	return nil, nil
}

func (p *fakeProducer) SendAsync(ctx context.Context, m *pulsar.ProducerMessage, done func(pulsar.MessageID, *pulsar.ProducerMessage, error)) {
	_, err := p.Send(ctx, m)
	done(nil, m, err)
}

func (p *fakeProducer) FlushWithCtx(context.Context) error { return p.fail }

func (p *fakeProducer) Close() { p.closed++ }
