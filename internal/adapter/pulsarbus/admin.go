package pulsarbus

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/rollcall-dev/rollcall/internal/adapter/tlsfile"
)

// DefaultAdminTimeout bounds one call of the admin API.
const DefaultAdminTimeout = 10 * time.Second

// maxAnswer bounds what is read of an answer; the statistics of a topic with
// many consumers are large.
const maxAnswer = 64 << 20

// AdminOptions of an Admin. URL is required.
type AdminOptions struct {
	URL            string // of the admin API: "http://host:8080" or "https://host:8443"
	Token          func() (string, error)
	TrustCertsFile string        // CA certificates for https; "" uses the system's
	CertFile       string        // our own certificate for mutual TLS (PEM), read anew for each connection; with KeyFile, or neither
	KeyFile        string        // its key
	Timeout        time.Duration // of one call; 0 is DefaultAdminTimeout
}

// Admin asks the broker's admin API. It speaks HTTP itself, because the client
// library's structs lack the fields that show a draining hash or an ack hole.
type Admin struct {
	base  string
	token func() (string, error)
	http  *http.Client
}

// NewAdmin makes an Admin; it does not connect.
func NewAdmin(o AdminOptions) (*Admin, error) {
	base, err := url.Parse(o.URL)
	if err != nil || base.Host == "" || (base.Scheme != "http" && base.Scheme != "https") {
		return nil, errors.New("pulsarbus: the admin URL is not an http or https URL")
	}
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: 2, IdleConnTimeout: 30 * time.Second}
	files := tlsfile.Files{CA: o.TrustCertsFile, Cert: o.CertFile, Key: o.KeyFile}
	if transport.TLSClientConfig, err = files.Config(); err != nil {
		return nil, fmt.Errorf("pulsarbus: admin: %w", err)
	}
	client := &http.Client{Transport: transport, Timeout: cmp.Or(o.Timeout, DefaultAdminTimeout)}
	return &Admin{base: strings.TrimRight(o.URL, "/"), token: o.Token, http: client}, nil
}

// Close releases idle connections.
func (a *Admin) Close() { a.http.CloseIdleConnections() }

// EnsureTopic creates a topic that is not there yet: a plain one for 0
// partitions. An existing topic is left as it is, whatever its partitions.
func (a *Admin) EnsureTopic(ctx context.Context, topic string, partitions int) error {
	name, err := topicPath(topic)
	if err != nil {
		return err
	}
	path, body := name, []byte(nil)
	if partitions > 0 {
		path, body = name+"/partitions", fmt.Appendf(nil, "%d", partitions)
	}
	err = a.call(ctx, http.MethodPut, path, body, nil)
	var refused *AdminError
	if errors.As(err, &refused) && refused.Status == http.StatusConflict {
		return nil
	}
	return err
}

// partitions returns the partitions of a topic; 0 is a plain topic.
func (a *Admin) partitions(ctx context.Context, name string) (int, error) {
	var meta struct {
		Partitions int `json:"partitions"`
	}
	err := a.call(ctx, http.MethodGet, name+"/partitions", nil, &meta)
	return meta.Partitions, err
}

// AdminError is an answer of the admin API that is not a success.
type AdminError struct {
	Op     string // method and path
	Status int    // HTTP status
	Reason string // the broker's, cut to 200 bytes
}

// Error names the call and the answer.
func (e *AdminError) Error() string {
	return fmt.Sprintf("pulsarbus: admin %s: http %d: %s", e.Op, e.Status, e.Reason)
}

// call makes one request below /admin/v2 and decodes a JSON answer into out.
func (a *Admin) call(ctx context.Context, method, path string, body []byte, out any) error {
	op := method + " " + path
	answer, err := a.do(ctx, method, path, body)
	if err != nil {
		return fmt.Errorf("pulsarbus: admin %s: %w", op, err)
	}
	defer func() { _ = answer.Body.Close() }() // read to its end or given up
	payload, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("pulsarbus: admin %s: read the answer: %w", op, err)
	}
	if answer.StatusCode/100 != 2 {
		return &AdminError{Op: op, Status: answer.StatusCode, Reason: string(head(payload, 200))}
	}
	if out == nil || answer.StatusCode == http.StatusNoContent || len(payload) == 0 && isRaw(out) {
		return nil
	}
	if err := json.Unmarshal(payload, out); err != nil {
		return fmt.Errorf("pulsarbus: admin %s: decode the answer: %w", op, err)
	}
	return nil
}

// isRaw reports whether an answer is taken as it is, be it empty: so the broker
// says that something is not set.
func isRaw(out any) bool {
	_, raw := out.(*json.RawMessage)
	return raw
}

func (a *Admin) do(ctx context.Context, method, path string, body []byte) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, a.base+"/admin/v2/"+path, bytes.NewReader(body))
	if err != nil {
		return nil, bare(err)
	}
	request.Header.Set("Content-Type", "application/json")
	if a.token != nil {
		token, err := a.token()
		if err != nil {
			return nil, fmt.Errorf("get the token: %w", err)
		}
		if err := ctx.Err(); err != nil { // getting it may have taken its time
			return nil, err
		}
		request.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := a.http.Do(request)
	return answer, bare(err)
}

// bare strips the URL from an error: it may hold credentials.
func bare(err error) error {
	var withURL *url.Error
	if errors.As(err, &withURL) {
		return withURL.Err
	}
	return err
}

// topicPath is a topic's place in the admin API: "persistent/tenant/ns/name".
func topicPath(topic string) (string, error) {
	scheme, rest, ok := strings.Cut(topic, "://")
	if !ok {
		scheme, rest = "persistent", topic
	}
	parts := strings.Split(rest, "/")
	if len(parts) == 1 {
		parts = []string{"public", "default", parts[0]}
	}
	if len(parts) != 3 || scheme != "persistent" {
		return "", fmt.Errorf("pulsarbus: %q is not the name of a persistent topic", topic)
	}
	for i, part := range parts {
		if part == "" {
			return "", fmt.Errorf("pulsarbus: %q is not the name of a persistent topic", topic)
		}
		parts[i] = url.PathEscape(part)
	}
	return scheme + "/" + strings.Join(parts, "/"), nil
}
