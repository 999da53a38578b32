package wecomsim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// Drawer says whom a customer meets behind a landing page.
type Drawer interface {
	// Draw returns the member for the next customer of a code.
	Draw(ctx context.Context, target Target) (userID string, err error)
}

// DrawFunc is a Drawer made of a function.
type DrawFunc func(ctx context.Context, target Target) (userID string, err error)

// Draw calls the function.
func (f DrawFunc) Draw(ctx context.Context, target Target) (string, error) { return f(ctx, target) }

// Target names the code that a customer scanned.
type Target struct {
	Corp     string `json:"corp"`
	ConfigID string `json:"config_id"`
	State    string `json:"state"` // as the contact way has it
}

// HTTPDraw asks a URL. In URL, {corp}, {config_id} and {state} are replaced,
// escaped. An answer with 200 is a JSON object whose field Field is the user
// ID, or the bare user ID.
type HTTPDraw struct {
	URL    string `json:"url"`
	Method string `json:"method,omitempty"` // "" is POST: a draw changes the rotation
	Field  string `json:"field,omitempty"`  // "" is "member"
	// Header is sent with every request, such as Authorization.
	Header map[string]string `json:"header,omitempty"`
	Client *http.Client      `json:"-"` // nil is http.DefaultClient
}

// Draw asks the URL. Its errors hold neither that nor a header.
func (d HTTPDraw) Draw(ctx context.Context, target Target) (string, error) {
	address := strings.NewReplacer(
		"{corp}", url.QueryEscape(target.Corp),
		"{config_id}", url.QueryEscape(target.ConfigID),
		"{state}", url.QueryEscape(target.State),
	).Replace(d.URL)
	req, err := http.NewRequestWithContext(ctx, orDefault(d.Method, http.MethodPost), address, nil)
	if err != nil {
		return "", errors.New("draw: the URL is malformed")
	}
	for name, value := range d.Header {
		req.Header.Set(name, value)
	}
	resp, err := orDefault(d.Client, http.DefaultClient).Do(req)
	if err != nil {
		if inner := new(url.Error); errors.As(err, &inner) {
			err = inner.Err
		}
		return "", fmt.Errorf("draw: %w", err)
	}
	defer func() { _ = resp.Body.Close() }() // read to its end below
	body, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	if err != nil {
		return "", fmt.Errorf("draw: read answer: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("draw: http %d", resp.StatusCode)
	}
	return drawn(body, orDefault(d.Field, "member"))
}

func drawn(body []byte, field string) (string, error) {
	text := strings.TrimSpace(string(body))
	if strings.HasPrefix(text, "{") {
		var object map[string]json.RawMessage
		if err := json.Unmarshal(body, &object); err != nil {
			return "", fmt.Errorf("draw: read answer: %w", err)
		}
		if err := json.Unmarshal(object[field], &text); err != nil {
			return "", fmt.Errorf("draw: the answer has no string %q", field)
		}
	}
	if text == "" {
		return "", errors.New("draw: the answer names nobody")
	}
	return text, nil
}
