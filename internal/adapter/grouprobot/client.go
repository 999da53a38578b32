package grouprobot

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// What a robot takes (page 91770).
const (
	// MaxMarkdown is the longest markdown text, in bytes of UTF-8.
	MaxMarkdown = 4096
	// PerMinute is how many messages a robot shows in any minute.
	PerMinute = 20
)

const (
	scope = "github.com/rollcall-dev/rollcall/internal/adapter/grouprobot"
	// maxAnswer is how much is read of an answer, in bytes; WeCom's has about
	// 200, and what is cut is none of it.
	maxAnswer = 64 << 10
	// maxMessage bounds what is kept of an errmsg, in bytes.
	maxMessage = 300
)

// Options of a Client. A zero field takes its default.
type Options struct {
	// HTTP makes the calls; nil is one over http.DefaultTransport. Redirects
	// are refused and cookies dropped whatever it says. Do not wrap its
	// transport in otelhttp: that records the URL, key included.
	HTTP *http.Client
	// Timeout bounds one call, connecting included; default 5 s.
	Timeout time.Duration
	// TracerProvider is the global one by default.
	TracerProvider trace.TracerProvider
}

// Client shows messages through any number of robots. It is safe for
// concurrent use, repeats nothing and has nothing to close.
type Client struct {
	http    *http.Client
	timeout time.Duration
	tracer  trace.Tracer
}

// New returns a Client.
func New(o Options) *Client {
	if o.HTTP == nil {
		o.HTTP = &http.Client{}
	}
	own := *o.HTTP
	own.Jar = nil
	// A redirect would carry the key, and a POST, to another host.
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	if o.Timeout <= 0 {
		o.Timeout = 5 * time.Second
	}
	if o.TracerProvider == nil {
		o.TracerProvider = otel.GetTracerProvider()
	}
	return &Client{http: &own, timeout: o.Timeout, tracer: o.TracerProvider.Tracer(scope)}
}

// SendMarkdown shows markdown in the robot's group. A nil error says that WeCom
// took it. Of an answer that says no the error is, or wraps, a *Refusal; after
// any other the message may have been shown.
func (c *Client) SendMarkdown(ctx context.Context, to Webhook, markdown string) error {
	if !to.Set() {
		return fmt.Errorf("show a message: %w", ErrUnknownRobot)
	}
	if len(markdown) > MaxMarkdown {
		return fmt.Errorf("show a message of %d bytes: %w", len(markdown), ErrTooLong)
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	ctx, span := c.tracer.Start(ctx, "wecom webhook/send", trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(
		attribute.String("http.request.method", http.MethodPost),
		attribute.String("server.address", to.address.Hostname()),
		attribute.String("url.path", to.address.EscapedPath())))
	defer span.End()
	if err := c.post(ctx, to, markdown); err != nil {
		err = fmt.Errorf("show a message by the robot at %s: %w", to, err)
		span.SetStatus(codes.Error, err.Error())
		return err
	}
	return nil
}

// request is a message as WeCom takes it.
type request struct {
	MsgType  string   `json:"msgtype"`
	Markdown markdown `json:"markdown"`
}

type markdown struct {
	Content string `json:"content"`
}

func (c *Client) post(ctx context.Context, to Webhook, text string) error {
	body, err := json.Marshal(request{MsgType: "markdown", Markdown: markdown{text}})
	if err != nil {
		return fmt.Errorf("encode: %w", err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to.address.String(), bytes.NewReader(body))
	if err != nil {
		return bare(err, to.secrets())
	}
	r.Header.Set("Content-Type", "application/json; charset=utf-8")
	r.Header.Set("User-Agent", "rollcall")
	response, err := c.http.Do(r)
	if err != nil {
		return bare(err, to.secrets())
	}
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("read the answer: %w", bare(err, to.secrets()))
	}
	return judge(response.StatusCode, raw, to.secrets())
}

// answer is what WeCom says to a message.
type answer struct {
	ErrCode *int   `json:"errcode"` // a pointer: an answer without it is not WeCom's
	ErrMsg  string `json:"errmsg"`
}

func judge(status int, raw []byte, secrets []string) error {
	if status != http.StatusOK {
		return &Refusal{HTTPStatus: status}
	}
	var a answer
	if json.Unmarshal(raw, &a) != nil || a.ErrCode == nil {
		return ErrAnswer
	}
	if *a.ErrCode == 0 {
		return nil
	}
	text := clean(a.ErrMsg, secrets)
	if len(text) > maxMessage {
		text = clean(text[:maxMessage], nil) + "…"
	}
	return &Refusal{HTTPStatus: status, ErrCode: *a.ErrCode, Message: text}
}
