package wecom_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/adapter/wecom"
)

// roundTrip is a transport that reads what it is to send and ends as told.
type roundTrip func(*http.Request) (*http.Response, error)

func (end roundTrip) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return nil, err
		}
	}
	return end(r)
}

func newVendor(t *testing.T, end roundTrip, options wecom.VendorOptions) *wecom.Vendor {
	t.Helper()
	endpoint := newEndpoint(t, wecom.EndpointOptions{HTTP: &http.Client{Transport: end}})
	return wecom.NewVendor(wecom.NewClient(endpoint, fixedToken(tokenTag)), options)
}

func answers200(body string) roundTrip {
	return func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(body))}, nil
	}
}

func answersStatus(status int) roundTrip {
	return func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: status, Body: http.NoBody}, nil
	}
}

func fails(err error) roundTrip {
	return func(*http.Request) (*http.Response, error) { return nil, err }
}

// delayed succeeds after a time, or ends with the request's context.
func delayed(after time.Duration) roundTrip {
	return func(r *http.Request) (*http.Response, error) {
		select {
		case <-time.After(after):
			return answers200(`{"errcode":0,"errmsg":"ok"}`)(r)
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
}
