package telemetry

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/trace"

	"github.com/rollcall-dev/rollcall/internal/config"
)

const (
	traceID = "0102030405060708090a0b0c0d0e0f10"
	spanID  = "1112131415161718"
)

// One record each: how the logger was derived, and the line without its time.
func TestRecordsCarryTheirSpan(t *testing.T) {
	for _, tc := range []struct {
		name string
		ctx  context.Context
		log  func(context.Context, *slog.Logger)
		want string
	}{
		{
			name: "without a span",
			ctx:  t.Context(),
			log:  func(ctx context.Context, l *slog.Logger) { l.InfoContext(ctx, "m", "a", 1) },
			want: `{"level":"INFO","msg":"m","a":1}`,
		},
		{
			name: "with one",
			ctx:  inSpan(t),
			log:  func(ctx context.Context, l *slog.Logger) { l.InfoContext(ctx, "m", "a", 1) },
			want: `{"level":"INFO","msg":"m","trace_id":"` + traceID + `","span_id":"` + spanID + `","a":1}`,
		},
		{
			name: "at the top level, whatever the group",
			ctx:  inSpan(t),
			log: func(ctx context.Context, l *slog.Logger) {
				l.With("role", "keeper").WithGroup("sweep").With("n", 2).InfoContext(ctx, "m", "a", 1)
			},
			want: `{"level":"INFO","msg":"m","trace_id":"` + traceID + `","span_id":"` + spanID + `","role":"keeper","sweep":{"n":2,"a":1}}`,
		},
		{
			name: "two loggers of one parent do not mix",
			ctx:  inSpan(t),
			log: func(ctx context.Context, l *slog.Logger) {
				parent := l.With("p", 1)
				first, second := parent.With("first", 1), parent.With("second", 2)
				_ = second
				first.InfoContext(ctx, "m")
			},
			want: `{"level":"INFO","msg":"m","trace_id":"` + traceID + `","span_id":"` + spanID + `","p":1,"first":1}`,
		},
		{
			name: "and no secret, be it bound or given",
			ctx:  t.Context(),
			log: func(ctx context.Context, l *slog.Logger) {
				l.With("token", "hunter2").WarnContext(ctx, "at ?access_token=hunter2", "in", slog.GroupValue(slog.String("secret", "hunter2")))
			},
			want: `{"level":"WARN","msg":"at ?access_token=[redacted]","token":"[redacted]","in":{"secret":"[redacted]"}}`,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var out bytes.Buffer
			tc.log(tc.ctx, NewLogger(&out, config.Telemetry{LogFormat: "json"}))
			if diff := cmp.Diff(tc.want, withoutTime(t, out.String())); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTextFormatAndLevel(t *testing.T) {
	var out bytes.Buffer
	log := NewLogger(&out, config.Telemetry{LogFormat: "text", LogLevel: slog.LevelWarn})
	log.InfoContext(inSpan(t), "not shown")
	log.WarnContext(inSpan(t), "shown", "token", "hunter2")
	_, got, _ := strings.Cut(out.String(), " ")
	want := "level=WARN msg=shown trace_id=" + traceID + " span_id=" + spanID + " token=[redacted]\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func inSpan(t *testing.T) context.Context {
	t.Helper()
	tid, err := trace.TraceIDFromHex(traceID)
	if err != nil {
		t.Fatal(err)
	}
	sid, err := trace.SpanIDFromHex(spanID)
	if err != nil {
		t.Fatal(err)
	}
	return trace.ContextWithSpanContext(t.Context(), trace.NewSpanContext(trace.SpanContextConfig{TraceID: tid, SpanID: sid}))
}

// withoutTime checks that the line is JSON with a time, and cuts that out.
func withoutTime(t *testing.T, line string) string {
	t.Helper()
	var head struct{ Time string }
	if err := json.Unmarshal([]byte(line), &head); err != nil || head.Time == "" {
		t.Fatalf("not a record: %q (%v)", line, err)
	}
	return strings.TrimSpace(strings.Replace(line, `"time":"`+head.Time+`",`, "", 1))
}
