package pulsarbus

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// issuer is an authorization server that issues token-1, token-2, …
type issuer struct {
	*httptest.Server
	t       *testing.T
	issued  int
	asked   map[string]string // the last exchange's form
	refusal string            // answered instead of a token
	life    time.Duration
}

func newIssuer(t *testing.T) *issuer {
	i := &issuer{t: t, life: time.Hour}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /realm/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, `{"token_endpoint":%q}`, i.URL+"/exchange")
	})
	mux.HandleFunc("POST /exchange", i.exchange)
	i.Server = httptest.NewServer(mux)
	t.Cleanup(i.Close)
	return i
}

func (i *issuer) exchange(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		i.t.Error(err)
	}
	i.asked = map[string]string{}
	for name := range r.PostForm {
		i.asked[name] = r.PostForm.Get(name)
	}
	if i.refusal != "" {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, i.refusal)
		return
	}
	i.issued++
	_ = json.NewEncoder(w).Encode(map[string]any{"access_token": fmt.Sprintf("token-%d", i.issued), "expires_in": int(i.life / time.Second)})
}

func (i *issuer) keyFile(text string) string {
	i.t.Helper()
	file := filepath.Join(i.t.TempDir(), "key.json")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		i.t.Fatal(err)
	}
	return file
}

func (i *issuer) source(clock *time.Time, edit ...func(*IssuerOptions)) *IssuedToken {
	o := IssuerOptions{
		URL: i.URL + "/realm/", Audience: "urn:broker", Scope: "produce consume",
		KeyFile: i.keyFile(`{"client_id":"file-id","client_secret":"hunter2","scope":"more"}`),
		Now:     func() time.Time { return *clock },
	}
	for _, e := range edit {
		e(&o)
	}
	return NewIssuedToken(o)
}

func wantToken(t *testing.T, source *IssuedToken, want string) {
	t.Helper()
	if got, err := source.Token(); got != want || err != nil {
		t.Errorf("Token() = %q, %v; want %q", got, err, want)
	}
}

func TestATokenIsIssuedForTheCredentialsOfTheFile(t *testing.T) {
	i, now := newIssuer(t), time.Now()
	wantToken(t, i.source(&now), "token-1")
	want := map[string]string{
		"grant_type": "client_credentials", "client_id": "file-id", "client_secret": "hunter2",
		"audience": "urn:broker", "scope": "produce consume more",
	}
	if diff := cmp.Diff(want, i.asked); diff != "" {
		t.Errorf("exchange (-want +got):\n%s", diff)
	}
	wantToken(t, i.source(&now, func(o *IssuerOptions) { o.ClientID = "given" }), "token-2")
	if i.asked["client_id"] != "given" {
		t.Errorf("client_id %q; the one that was set comes before the file's", i.asked["client_id"])
	}
}

func TestATokenIsKeptUntilShortlyBeforeItsEnd(t *testing.T) {
	i, now := newIssuer(t), time.Now()
	source := i.source(&now)
	wantToken(t, source, "token-1")
	now = now.Add(59*time.Minute - time.Second)
	wantToken(t, source, "token-1")
	now = now.Add(time.Second)
	wantToken(t, source, "token-2")
}

func TestATokenOfAShortLifeIsReplacedHalfwayThrough(t *testing.T) {
	i, now := newIssuer(t), time.Now()
	i.life = 20 * time.Second
	source := i.source(&now)
	wantToken(t, source, "token-1")
	now = now.Add(9 * time.Second)
	wantToken(t, source, "token-1")
	now = now.Add(time.Second)
	wantToken(t, source, "token-2")
}

func TestATokenThatIsGoodOutlivesItsIssuersAbsence(t *testing.T) {
	i, now := newIssuer(t), time.Now()
	source := i.source(&now)
	wantToken(t, source, "token-1")
	i.refusal = `{"error":"temporarily_unavailable"}`
	now = now.Add(59*time.Minute + 30*time.Second)
	wantToken(t, source, "token-1")
	i.refusal = ""
	now = now.Add(renewPause - time.Second)
	wantToken(t, source, "token-1") // not asked again so soon
	now = now.Add(time.Second)
	wantToken(t, source, "token-2")
	i.refusal = `{"error":"temporarily_unavailable"}`
	now = now.Add(time.Hour)
	if got, err := source.Token(); err == nil {
		t.Errorf("Token() = %q after its end", got)
	}
}

func TestARotatedSecretIsReadForTheNextToken(t *testing.T) {
	i, now := newIssuer(t), time.Now()
	file := i.keyFile(`{"client_id":"id","client_secret":"first"}`)
	source := i.source(&now, func(o *IssuerOptions) { o.KeyFile = file })
	wantToken(t, source, "token-1")
	if err := os.WriteFile(file, []byte(`{"client_id":"id","client_secret":"second"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	now = now.Add(time.Hour)
	wantToken(t, source, "token-2")
	if i.asked["client_secret"] != "second" {
		t.Errorf("asked with %q", i.asked["client_secret"])
	}
}

func TestARefusalSaysWhyAndNoSecret(t *testing.T) {
	i, now := newIssuer(t), time.Now()
	for name, tt := range map[string]struct{ key, refusal, want string }{
		"refused":        {`{"client_id":"id","client_secret":"hunter2"}`, `{"error":"invalid_client","error_description":"no such secret: hunter2"}`, "invalid_client"},
		"not JSON":       {`hunter2`, "", "not JSON"},
		"no secret":      {`{"client_id":"id"}`, "", "lacks client_id or client_secret"},
		"another answer": {`{"client_id":"id","client_secret":"hunter2"}`, `<html>`, "get a token from the issuer"},
	} {
		i.refusal = tt.refusal
		_, err := i.source(&now, func(o *IssuerOptions) { o.KeyFile = i.keyFile(tt.key) }).Token()
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v; want %q and no secret", name, err, tt.want)
		}
	}
}

func TestAnIssuerThatHangsIsGivenUp(t *testing.T) {
	release := make(chan struct{})
	hanging := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	defer hanging.Close()
	defer close(release)
	i, now := newIssuer(t), time.Now()
	source := i.source(&now, func(o *IssuerOptions) { o.URL, o.Timeout = hanging.URL, 50*time.Millisecond })
	if _, err := source.Token(); err == nil {
		t.Error("a token from nowhere")
	}
}

// An issuer who refuses is left alone for a while: he may lock us out.
func TestARefusalIsRepeatedForAWhileWithoutAsking(t *testing.T) {
	i, now := newIssuer(t), time.Now()
	i.refusal = `{"error":"invalid_client"}`
	source := i.source(&now)
	fail := func() {
		t.Helper()
		if token, err := source.Token(); err == nil {
			t.Errorf("Token() = %q", token)
		}
	}
	fail()
	i.asked = nil
	now = now.Add(renewPause - time.Millisecond)
	fail()
	if i.asked != nil {
		t.Error("it was asked again within the pause")
	}
	now = now.Add(time.Millisecond)
	i.refusal = ""
	wantToken(t, source, "token-1")
}
