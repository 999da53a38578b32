package wecom

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

// The operations, named as WeCom names its APIs. They are CallError.Op, the
// label "op" of metrics, and part of a span's name.
const (
	OpGetToken = "gettoken"
	OpAdd      = "add_contact_way"
	OpGet      = "get_contact_way"
	OpUpdate   = "update_contact_way"
	OpDelete   = "del_contact_way"
	OpList     = "list_contact_way"
)

// TokenSource has an access token for every tenant. Tokens is one.
type TokenSource interface {
	// Token returns a token to call with. Its error is, or wraps, a
	// *push.CallError that is never Unknown.
	Token(ctx context.Context, tenant string) (Secret, error)
	// Report says what WeCom answered to a call with that token; nil is
	// success. A token that was refused is not returned again.
	Report(ctx context.Context, tenant string, used Secret, answer *push.CallError)
}

// Client makes authenticated contact-way calls. Every error is, or wraps, a
// *push.CallError. A call that WeCom refused for its token is made once more
// with another; nothing else is repeated. It is safe for concurrent use.
type Client struct {
	endpoint *Endpoint
	tokens   TokenSource
}

// NewClient returns a client of an endpoint.
func NewClient(endpoint *Endpoint, tokens TokenSource) *Client {
	return &Client{endpoint: endpoint, tokens: tokens}
}

// call is one authenticated call.
type call struct {
	op     string
	tenant string
	effect effect
	sendBy time.Time
}

// invoke makes a call and decodes its answer.
func invoke[Response, Request any](ctx context.Context, c *Client, call call, request Request) (Response, error) {
	var response Response
	body, err := json.Marshal(request)
	if err != nil {
		return response, &push.CallError{Op: call.op, Err: fmt.Errorf("encode the request: %w", err)}
	}
	raw, callErr := c.authenticated(ctx, call, body)
	if callErr != nil {
		return response, callErr
	}
	if err := json.Unmarshal(raw, &response); err != nil {
		return response, &push.CallError{Op: call.op, Unknown: call.effect == writes, Err: ErrMalformedAnswer}
	}
	return response, nil
}

// authenticated makes a call with a token and, when WeCom refuses that token,
// once more with the next.
func (c *Client) authenticated(ctx context.Context, call call, body []byte) ([]byte, *push.CallError) {
	raw, callErr := c.attempt(ctx, call, body)
	if callErr != nil && callErr.Op == call.op && tokenRefused(callErr.ErrCode) {
		raw, callErr = c.attempt(ctx, call, body)
	}
	if callErr != nil && callErr.Op == call.op && tokenRefused(callErr.ErrCode) {
		callErr.Class = reason.Credentials // two tokens in a row: it is not the token
	}
	return raw, callErr
}

func (c *Client) attempt(ctx context.Context, call call, body []byte) ([]byte, *push.CallError) {
	x := exchange{
		op: call.op, tenant: call.tenant, effect: call.effect, sendBy: call.sendBy,
		path: "/cgi-bin/externalcontact/" + call.op,
		body: body,
	}
	if err := c.endpoint.late(ctx, x); err != nil {
		return nil, &push.CallError{Op: call.op, Err: err}
	}
	token, err := c.tokens.Token(ctx, call.tenant)
	if err != nil {
		return nil, asCallError(OpGetToken, err)
	}
	x.query = url.Values{"access_token": {token.Reveal()}}
	x.secrets = []Secret{token}
	raw, callErr := c.endpoint.do(ctx, x)
	c.tokens.Report(ctx, call.tenant, token, callErr)
	return raw, callErr
}

// asCallError finds the CallError in err or makes one.
func asCallError(op string, err error) *push.CallError {
	if callErr, ok := errors.AsType[*push.CallError](err); ok {
		return callErr
	}
	return &push.CallError{Op: op, Err: bareCause(err, nil)}
}
