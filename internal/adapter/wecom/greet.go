package wecom

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"time"

	"github.com/rollcall-dev/rollcall/internal/preflight"
	"github.com/rollcall-dev/rollcall/internal/push"
)

// Greet asks for an access token without saying for whom: WeCom answers 41004
// before it looks at anything (page 91039), so nothing is counted against
// anybody. Any of its answers will do.
func (e *Endpoint) Greet(ctx context.Context) (preflight.Greeting, error) {
	ctx, cancel := context.WithTimeout(ctx, e.timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, e.base.JoinPath("/cgi-bin/gettoken").String(), http.NoBody)
	if err != nil {
		return preflight.Greeting{}, fmt.Errorf("greet WeCom: %w", bareCause(err, nil))
	}
	request.Header.Set("User-Agent", "rollcall")
	begun := time.Now()
	response, err := e.http.Do(request)
	if err != nil {
		return preflight.Greeting{}, fmt.Errorf("greet WeCom: %w", bareCause(err, nil))
	}
	trip := time.Since(begun)
	defer func() { _ = response.Body.Close() }() // read to its end
	raw, err := readBounded(response.Body, e.maxAnswer)
	if err != nil {
		return preflight.Greeting{}, fmt.Errorf("greet WeCom: read the answer: %w", bareCause(err, nil))
	}
	var answer status
	if err := json.Unmarshal(raw, &answer); err != nil || answer.ErrCode == nil {
		return preflight.Greeting{}, fmt.Errorf("greet WeCom: http %d: %w", response.StatusCode, ErrMalformedAnswer)
	}
	return preflight.Greeting{
		Address: AddressIn(answer.ErrMsg), Took: trip, Clock: preflight.DateReading(response.Header.Get("Date"), begun, trip),
	}, nil
}

// addressInMessage is how WeCom says where a call came from.
var addressInMessage = regexp.MustCompile(`from ip:\s*([0-9A-Fa-f.:]+[0-9A-Fa-f])`)

// AddressIn returns our address as an errmsg of WeCom's names it; "" when it
// does not.
func AddressIn(errmsg string) string {
	if found := addressInMessage.FindStringSubmatch(errmsg); found != nil {
		return found[1]
	}
	return ""
}

// Try gets an access token for a tenant and lists one contact way: an
// app that may change them may do that too. A refusal of WeCom's is no error.
func Try(ctx context.Context, c *Client, tenant string) (preflight.Tried, error) {
	ids, _, err := c.ListContactWaysPage(ctx, tenant, ListContactWaysRequest{PageSize: 1}, "")
	if refused, is := errors.AsType[*push.CallError](err); is && refused.ErrCode > 0 {
		return preflight.Tried{Step: refused.Op, ErrCode: refused.ErrCode, Message: refused.Message, Address: AddressIn(refused.Message)}, nil
	}
	return preflight.Tried{Ways: len(ids)}, err
}
