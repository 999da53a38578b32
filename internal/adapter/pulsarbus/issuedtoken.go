package pulsarbus

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/apache/pulsar-client-go/oauth2"
)

// IssuerOptions say who issues access tokens for the broker and as whom we ask
// for them. URL and KeyFile are required.
type IssuerOptions struct {
	URL      string // of the issuer; his endpoints are looked up below /.well-known
	Audience string // "" asks for none
	Scope    string // separated by spaces, beside the key file's
	ClientID string // "" is the key file's
	KeyFile  string // JSON with client_id and client_secret
	// Timeout bounds the look-up and the exchange together; 0 is
	// DefaultAdminTimeout.
	Timeout time.Duration
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

const (
	// renewBefore is how long before its end a token is replaced, or half of
	// its life for one that is shorter: the broker asks for another one only
	// when the old one has ended.
	renewBefore = time.Minute
	// renewPause is how long an issuer is left alone after an attempt that failed:
	// meanwhile the token that is still good is used, or the failure repeated. An
	// issuer who refuses our secret may lock us out when we ask at every
	// reconnection.
	renewPause = 5 * time.Second
	// maxTokenAnswer bounds what is read of an issuer's answer.
	maxTokenAnswer = 1 << 20
)

// IssuedToken gets access tokens by OAuth 2.0's client credentials and keeps one
// until shortly before its end. The broker takes it as it takes any JSON web
// token. The client library's own provider for this hangs for as long as the
// issuer does, and drops a token that is still good when he is away; its
// exchange is used here. It is safe for concurrent use.
type IssuedToken struct {
	o    IssuerOptions
	http *http.Client

	mu      sync.Mutex // held during an exchange, so that there is one at a time
	token   string
	ends    time.Time
	failure error     // of the last attempt; nil when it succeeded
	renewAt time.Time // no attempt before
}

// NewIssuedToken makes an IssuedToken; it asks for nothing yet.
func NewIssuedToken(o IssuerOptions) *IssuedToken {
	if o.Now == nil {
		o.Now = time.Now
	}
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true} // an hour lies between two tokens
	return &IssuedToken{o: o, http: &http.Client{Transport: transport, CheckRedirect: refuseRedirect}}
}

// refuseRedirect keeps the secret from following one to another host.
func refuseRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Token returns a token that has not ended. The error never holds the secret.
func (t *IssuedToken) Token() (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.o.Now().Before(t.renewAt) {
		t.renew()
	}
	if t.failure != nil && !t.o.Now().Before(t.ends) {
		return "", fmt.Errorf("pulsarbus: get a token from the issuer: %w", t.failure)
	}
	return t.token, nil
}

// renew asks for another token.
func (t *IssuedToken) renew() {
	issued, err := t.exchange()
	now := t.o.Now()
	t.failure = err
	if err != nil {
		t.renewAt = now.Add(renewPause)
		return
	}
	life := time.Duration(issued.ExpiresIn) * time.Second
	t.token, t.ends = issued.AccessToken, now.Add(life)
	t.renewAt = t.ends.Add(-min(renewBefore, life/2))
}

// exchange reads the key file and asks for a new token.
func (t *IssuedToken) exchange() (*oauth2.TokenResult, error) {
	key, err := oauth2.NewClientCredentialsProviderFromKeyFile(t.o.KeyFile).GetClientCredentials()
	switch {
	case isSyntax(err):
		return nil, errors.New("the key file is not JSON") // the error may quote it
	case err != nil:
		return nil, fmt.Errorf("read the key file: %w", err)
	}
	id := cmp.Or(t.o.ClientID, key.ClientID)
	if id == "" || key.ClientSecret == "" {
		return nil, errors.New("the key file lacks client_id or client_secret")
	}
	ctx, cancel := context.WithTimeout(context.Background(), cmp.Or(t.o.Timeout, DefaultAdminTimeout)) //nolint:forbidigo // the client library asks for a token without a context
	defer cancel()
	endpoint, err := t.endpoint(ctx)
	if err != nil {
		return nil, err
	}
	retriever := oauth2.NewTokenRetriever(bounded{t.http, ctx})
	issued, err := retriever.ExchangeClientCredentials(oauth2.ClientCredentialsExchangeRequest{
		TokenEndpoint: endpoint, ClientID: id, ClientSecret: key.ClientSecret, Audience: t.o.Audience,
		Scopes: strings.Fields(t.o.Scope + " " + key.Scope),
	})
	switch {
	case err != nil:
		return nil, without(bare(err), key.ClientSecret)
	case issued.AccessToken == "" || issued.ExpiresIn <= 0:
		return nil, errors.New("the answer holds no token, or none that lasts")
	}
	return issued, nil
}

func isSyntax(err error) bool {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	return errors.As(err, &syntax) || errors.As(err, &kind)
}

// endpoint asks the issuer where tokens are issued (OpenID Connect Discovery).
func (t *IssuedToken) endpoint(ctx context.Context) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(t.o.URL, "/")+"/.well-known/openid-configuration", http.NoBody)
	if err != nil {
		return "", errors.New("the issuer's address is not a URL")
	}
	answer, err := t.http.Do(request)
	if err != nil {
		return "", fmt.Errorf("look up the issuer's endpoints: %w", bare(err))
	}
	defer func() { _ = answer.Body.Close() }() // read or given up
	var found oauth2.OIDCWellKnownEndpoints
	if err := json.NewDecoder(io.LimitReader(answer.Body, maxTokenAnswer)).Decode(&found); err != nil || answer.StatusCode != http.StatusOK || found.TokenEndpoint == "" {
		return "", fmt.Errorf("look up the issuer's endpoints: the answer (http %d) names no token endpoint", answer.StatusCode)
	}
	return found.TokenEndpoint, nil
}

// bounded gives the library's requests a deadline.
type bounded struct {
	client *http.Client
	ctx    context.Context
}

// Do sends a request.
func (b bounded) Do(request *http.Request) (*http.Response, error) {
	answer, err := b.client.Do(request.WithContext(b.ctx)) //nolint:gosec // the address is what the configured issuer named
	if err != nil {
		return nil, err
	}
	answer.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(answer.Body, maxTokenAnswer), answer.Body}
	return answer, nil
}

// without gives an error up for its text when that repeats a secret.
func without(err error, secret string) error {
	if text := err.Error(); strings.Contains(text, secret) {
		return errors.New(strings.ReplaceAll(text, secret, "[redacted]"))
	}
	return err
}
