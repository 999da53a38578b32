package grouprobot

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
)

// Webhook is the address of one robot: a URL whose query holds the key. No
// formatter prints the query, nor a user and password. The zero value is no
// robot.
//
// The address is behind a pointer because fmt calls no method on an unexported
// field: a struct that holds a Webhook shows a number there.
type Webhook struct{ address *url.URL }

// ParseWebhook reads the URL as WeCom's client shows it to the owner of the
// group: https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=…; another scheme
// and host is a proxy or a simulator. The error does not repeat it.
func ParseWebhook(text string) (Webhook, error) {
	address, err := url.Parse(text)
	switch {
	case err != nil:
		return Webhook{}, errors.New("the robot's URL cannot be parsed")
	case address.Scheme != "https" && address.Scheme != "http":
		return Webhook{}, errors.New("the robot's URL is neither https:// nor http://")
	case address.Host == "":
		return Webhook{}, errors.New("the robot's URL has no host")
	case address.Query().Get("key") == "":
		return Webhook{}, errors.New("the robot's URL has no key")
	}
	address.Fragment = ""
	return Webhook{address}, nil
}

// Set reports whether there is a robot.
func (w Webhook) Set() bool { return w.address != nil }

// String is the address without the key.
func (w Webhook) String() string {
	if w.address == nil {
		return ""
	}
	return w.address.Scheme + "://" + w.address.Host + w.address.EscapedPath()
}

// GoString hides the key from %#v.
func (w Webhook) GoString() string { return w.String() }

// Format hides the key from every verb.
func (w Webhook) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, w.String()) }

// LogValue hides the key from log/slog.
func (w Webhook) LogValue() slog.Value { return slog.StringValue(w.String()) }

// MarshalText hides the key from encoders.
func (w Webhook) MarshalText() ([]byte, error) { return []byte(w.String()), nil }

// secrets are the texts that nothing may show.
func (w Webhook) secrets() []string {
	out := []string{w.address.RawQuery}
	for _, values := range w.address.Query() {
		for _, value := range values {
			out = append(out, value, url.QueryEscape(value))
		}
	}
	if password, ok := w.address.User.Password(); ok {
		out = append(out, password, w.address.User.String())
	}
	return out
}
