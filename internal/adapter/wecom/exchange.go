package wecom

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/rollcall-dev/rollcall/internal/push"
)

// ErrAnswerTooLarge says that an answer's body was beyond
// EndpointOptions.MaxAnswer.
var ErrAnswerTooLarge = errors.New("the answer is too large")

// effect says what it means that a call's outcome is unknown.
type effect int

const (
	reads  effect = iota // nothing: it can be asked again
	writes               // WeCom's state may have changed
)

// exchange is one request to WeCom and what is needed to judge its answer.
type exchange struct {
	op     string
	tenant string
	effect effect
	path   string
	query  url.Values
	body   []byte    // nil: GET
	sendBy time.Time // zero: whenever
	// secrets are kept out of errors, whoever repeats them.
	secrets []Secret
}

// do makes one exchange and returns the body of an answer with errcode 0.
func (e *Endpoint) do(ctx context.Context, x exchange) ([]byte, *push.CallError) {
	ctx, cancel := context.WithTimeout(ctx, e.timeout)
	defer cancel()
	ctx, observe := e.signals.start(ctx, x)
	status, raw, callErr := e.send(ctx, x)
	observe(status, callErr)
	return raw, callErr
}

// send returns the HTTP status as well, 0 when there was no answer.
func (e *Endpoint) send(ctx context.Context, x exchange) (int, []byte, *push.CallError) {
	line := &gate{late: func() error { return e.late(ctx, x) }}
	request, err := e.request(ctx, x, line)
	if err != nil {
		return 0, nil, &push.CallError{Op: x.op, Err: err}
	}
	response, err := e.http.Do(request)
	if err != nil {
		unknown := line.shut() && x.effect == writes
		return 0, nil, &push.CallError{Op: x.op, Unknown: unknown, Err: bareCause(err, x.secrets)}
	}
	defer func() { _ = response.Body.Close() }()
	raw, err := readBounded(response.Body, e.maxAnswer)
	mayHaveTaken := line.shut() && x.effect == writes
	if err != nil {
		return response.StatusCode, nil, &push.CallError{
			Op: x.op, Unknown: mayHaveTaken, HTTPStatus: response.StatusCode,
			Err: fmt.Errorf("read the answer: %w", bareCause(err, x.secrets)),
		}
	}
	return response.StatusCode, raw, judge(x, response.StatusCode, raw, mayHaveTaken)
}

// late reports why a call must not go any more.
func (e *Endpoint) late(ctx context.Context, x exchange) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !x.sendBy.IsZero() && e.now().After(x.sendBy) {
		return ErrTooLate
	}
	return nil
}

func (e *Endpoint) request(ctx context.Context, x exchange, line *gate) (*http.Request, error) {
	if err := line.late(); err != nil {
		return nil, err
	}
	target := e.base.JoinPath(x.path)
	target.RawQuery = x.query.Encode()
	method := http.MethodGet
	if x.body != nil {
		method = http.MethodPost
	}
	request, err := http.NewRequestWithContext(ctx, method, target.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("make the request: %w", bareCause(err, x.secrets))
	}
	request.Header.Set("User-Agent", "rollcall")
	if x.body == nil {
		return request, nil
	}
	request.Header.Set("Content-Type", "application/json; charset=utf-8")
	request.ContentLength = int64(len(x.body))
	request.Body = line.body(x.body)
	request.GetBody = func() (io.ReadCloser, error) { return line.body(x.body), nil }
	return request, nil
}

func readBounded(body io.Reader, limit int64) ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(body, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(raw)) > limit {
		return nil, fmt.Errorf("%w: more than %d bytes", ErrAnswerTooLarge, limit)
	}
	return raw, nil
}
