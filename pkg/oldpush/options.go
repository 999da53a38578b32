package oldpush

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// Defaults of Options.
const (
	DefaultTryTimeout = 2 * time.Second
	DefaultTries      = 3
	DefaultMaxWait    = 5 * time.Second
)

// Options of a Reporter. URL and Token are required.
type Options struct {
	// URL is where Rollcall's API is, such as "https://rollcall.example.com";
	// what comes before /v1 of its routes.
	URL string
	// Token returns a bearer token with the scope write. It is asked for each
	// report, so that tokens can be exchanged; it must not wait.
	Token func() string
	// TryTimeout bounds one try; 0 is DefaultTryTimeout.
	TryTimeout time.Duration
	// Tries is the most tries of a report, 1 to 10; 0 is DefaultTries.
	Tries int
	// MaxWait bounds the wait before another try, whatever Retry-After says; 0
	// is DefaultMaxWait. A longer Retry-After ends the report at once.
	MaxWait time.Duration
	// Client sends the requests; nil is one of the package's own. Redirections
	// are not followed: a token goes to no other place.
	Client *http.Client
}

func (o Options) withDefaults() Options {
	if o.TryTimeout == 0 {
		o.TryTimeout = DefaultTryTimeout
	}
	if o.Tries == 0 {
		o.Tries = DefaultTries
	}
	if o.MaxWait == 0 {
		o.MaxWait = DefaultMaxWait
	}
	if o.Client == nil {
		o.Client = &http.Client{}
	}
	client := *o.Client
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	o.Client = &client
	return o
}

func (o Options) validate() (*url.URL, error) {
	base, err := url.Parse(o.URL)
	switch {
	case err != nil, base.Scheme != "https" && base.Scheme != "http", base.Host == "":
		return nil, errors.New("oldpush: the URL is not one of http or https")
	case base.User != nil || base.RawQuery != "" || base.Fragment != "":
		return nil, errors.New("oldpush: the URL has a user, a query or a fragment")
	case o.Token == nil:
		return nil, errors.New("oldpush: options without a token")
	case o.Tries < 1 || o.Tries > 10:
		return nil, fmt.Errorf("oldpush: %d tries are not within 1 and 10", o.Tries)
	case o.TryTimeout < 0 || o.MaxWait < 0:
		return nil, errors.New("oldpush: a negative time")
	}
	return base, nil
}
