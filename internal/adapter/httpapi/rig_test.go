package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/access"
	"github.com/rollcall-dev/rollcall/internal/adapter/httpapi"
	"github.com/rollcall-dev/rollcall/internal/fanout"
	"github.com/rollcall-dev/rollcall/internal/notify"
	"github.com/rollcall-dev/rollcall/internal/publish"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/ratelimit"
	"github.com/rollcall-dev/rollcall/internal/registry"
	"github.com/rollcall-dev/rollcall/internal/registry/registrytest"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/shadow"
	"github.com/rollcall-dev/rollcall/internal/shadow/shadowtest"
)

// Tokens of the rig.
const (
	everything = "everything" // all scopes, all tenants
	nothing    = "nothing"    // no scope, all tenants
	acmeOnly   = "acme-only"  // all scopes, tenant acme
	globexOnly = "globex-only"
	storeAway  = "store-away" // nobody can be asked whether it is good
	expired    = "expired"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// rig is the API on stores in memory.
type rig struct {
	*httpapi.API
	facts    *registrytest.Memory
	tokens   tokens
	events   *events
	fanOuts  *fanOuts
	ways     *ways
	secrets  *secrets
	shadows  *shadowtest.Memory
	answers  *answers
	observed *observed
	logged   *bytes.Buffer
}

func newRig(t *testing.T) *rig {
	t.Helper()
	return newPacedRig(t, ratelimit.Limit{PerSecond: 1e6, Burst: 1e6})
}

func newPacedRig(t *testing.T, pace ratelimit.Limit) *rig {
	t.Helper()
	now := func() time.Time { return noon }
	r := &rig{
		facts: registrytest.NewMemory(now), events: &events{}, fanOuts: &fanOuts{}, ways: &ways{},
		secrets: &secrets{}, shadows: shadowtest.NewMemory(now), answers: &answers{Answers: registrytest.NewAnswers()}, observed: &observed{}, logged: &bytes.Buffer{},
		tokens: tokens{
			everything: {Token: everything, Scopes: access.Scopes()},
			nothing:    {Token: nothing},
			acmeOnly:   {Token: acmeOnly, Tenant: "acme", Scopes: access.Scopes()},
			globexOnly: {Token: globexOnly, Tenant: "globex", Scopes: access.Scopes()},
		},
	}
	r.ways.facts = r.facts
	r.API = httpapi.New(httpapi.Options{
		Registry: registry.New(registry.Options{
			Facts: r.facts, Publisher: r.events, FanOuts: r.fanOuts, Ways: r.ways, Now: now,
		}),
		FanOuts: r.fanOuts, Secrets: r.secrets, Shadows: shadow.NewDesk(r.shadows, r.shadows, now), Answers: r.answers,
		Gate: httpapi.NewGate(r.tokens, pace, r.observed), Observer: r.observed,
		Logger: slog.New(slog.NewTextHandler(r.logged, nil)), ImportLimit: importLimit, Rate: 40, Now: now,
	})
	r.facts.Seed(registry.Tenant{Tenant: roster.Tenant{ID: "acme", Fallback: []string{"boss"}}},
		[]registry.Staff{{Staff: roster.Staff{ID: "zhang.san"}}},
		[]registry.Code{{Code: roster.Code{
			ID: "c-1", ConfigID: "42b34949e138eb6e027c123cba77fAAA", Family: roster.Native, Members: []roster.Member{{Staff: "zhang.san"}}, Revision: 1,
		}}})
	r.facts.Seed(registry.Tenant{Tenant: roster.Tenant{ID: "globex"}}, nil,
		[]registry.Code{{Code: roster.Code{ID: "theirs", ConfigID: "cfg-2", Family: roster.Native}}})
	for ref, is := range map[push.Ref]bool{{Tenant: "acme", Code: "c-1"}: true, {Tenant: "globex", Code: "theirs"}: false} {
		r.shadows.PutTenant(ref.Tenant, time.UTC)
		r.shadows.PutCode(ref, shadow.Mode{Shadow: is})
	}
	r.fanOuts.jobs = []fanout.Job{{
		Ticket: fanout.Ticket{ID: "acme", Epoch: 3}, Scope: fanout.Scope{Tenant: "acme"}, Why: "tenant_changed",
		State: fanout.InProgress, Total: 100, Released: 20, Requested: noon,
	}}
	return r
}

// importLimit bounds the rig's imports, in bytes.
const importLimit = 1 << 20

// lines is the media type of imports. The validator takes each for one JSON
// document; the tests of imports look at them.
const lines = "application/x-ndjson"

// call is one request.
type call struct {
	method, path string
	token        string // a name of the rig's; "" sends none
	// authorization is sent instead of the token's header.
	authorization string
	body          string
	media         string // "" is JSON for a call with a body
	key           string // Idempotency-Key
}

func (c call) request() *http.Request {
	var body io.Reader = http.NoBody
	if c.body != "" {
		body = strings.NewReader(c.body)
	}
	r := httptest.NewRequest(c.method, c.path, body)
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	if c.authorization != "" {
		r.Header.Set("Authorization", c.authorization)
	}
	if c.body != "" && c.media == "" {
		c.media = "application/json"
	}
	if c.media != "" {
		r.Header.Set("Content-Type", c.media)
	}
	if c.key != "" {
		r.Header.Set("Idempotency-Key", c.key)
	}
	return r
}

// reply is an answer.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// do sends a call, and holds the answer to the document.
func (r *rig) do(t *testing.T, c call) reply {
	t.Helper()
	return send(t, r, c)
}

func send(t *testing.T, h http.Handler, c call) reply {
	t.Helper()
	got := serve(h, c)
	theContract(t).check(t, c, got)
	return got
}

// serve sends a call and holds the answer to nothing.
func serve(h http.Handler, c call) reply {
	recorder := httptest.NewRecorder()
	h.ServeHTTP(recorder, c.request())
	return reply{status: recorder.Code, header: recorder.Header(), body: recorder.Body.Bytes()}
}

// into reads a JSON answer.
func into[T any](t *testing.T, r reply) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(r.body, &v); err != nil {
		t.Fatalf("%d %s: %v", r.status, r.body, err)
	}
	return v
}

// problem is what the tests read of one.
type problem struct {
	Code   string
	Detail string
	Field  string
	Value  string
	Want   string
	Stored bool
	Import *imported
}

type imported struct {
	LastLine   int `json:"last_line"`
	Stored     int
	Unchanged  int
	Refused    int
	InDirtySet int `json:"in_dirty_set"`
	Errors     []lineError
}

type lineError struct {
	Line  int
	Code  string
	Field string
	Want  string
}

func (r *rig) wantProblem(t *testing.T, c call, status int, code string) problem {
	t.Helper()
	got := r.do(t, c)
	p := into[problem](t, got)
	if got.status != status || p.Code != code {
		t.Errorf("%s %s answers %d %s, want %d %s", c.method, c.path, got.status, got.body, status, code)
	}
	return p
}

func (r *rig) want(t *testing.T, c call, status int) reply {
	t.Helper()
	got := r.do(t, c)
	if got.status != status {
		t.Fatalf("%s %s answers %d %s, want %d", c.method, c.path, got.status, got.body, status)
	}
	return got
}

var errAway = errors.New("mongodb://rollcall:hunter2@10.0.0.1 is away")

// tokens know grants by name.
type tokens map[string]access.Grant

func (t tokens) Verify(_ context.Context, bearer string) (access.Grant, error) {
	switch bearer {
	case storeAway:
		return access.Grant{}, errAway
	case expired:
		return access.Grant{}, access.ErrExpired
	}
	grant, known := t[bearer]
	if !known {
		return access.Grant{}, access.ErrUnknown
	}
	return grant, nil
}

// events is the publisher.
type events struct {
	mu     sync.Mutex
	place  publish.Place // "" is the broker
	err    error
	before func() // called before each event
	// failAfter is how many events the broker takes; 0 is all.
	failAfter int
	sent      []string
}

func (e *events) Refresh(_ context.Context, ref push.Ref, why string) (publish.Place, error) {
	if e.before != nil {
		e.before()
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.err != nil || e.failAfter > 0 && len(e.sent) >= e.failAfter {
		return "", errors.Join(errAway, e.err)
	}
	e.sent = append(e.sent, ref.Tenant+"/"+ref.Code+" "+why)
	if e.place != "" {
		return e.place, nil
	}
	return publish.Broker, nil
}

// fanOuts takes requests and shows jobs.
type fanOuts struct {
	mu        sync.Mutex
	err       error
	requested []string
	jobs      []fanout.Job
}

func (f *fanOuts) Request(_ context.Context, r fanout.Request) (fanout.Ticket, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return fanout.Ticket{}, f.err
	}
	ticket := fanout.Ticket{ID: r.Tenant, Epoch: 1}
	if r.Staff != "" {
		ticket.ID += "/" + r.Staff
	}
	for _, before := range f.requested {
		if strings.HasPrefix(before, ticket.ID+" ") {
			ticket.Epoch++
		}
	}
	f.requested = append(f.requested, ticket.ID+" "+r.Why)
	return ticket, nil
}

func (f *fanOuts) List(_ context.Context, tenant, after string, limit int) ([]fanout.Job, error) {
	if f.err != nil {
		return nil, f.err
	}
	var found []fanout.Job
	for _, job := range f.jobs {
		if job.Tenant == tenant && job.ID > after && len(found) < limit {
			found = append(found, job)
		}
	}
	return found, nil
}

func (f *fanOuts) Job(_ context.Context, id string) (fanout.Job, bool, error) {
	if f.err != nil {
		return fanout.Job{}, false, f.err
	}
	for _, job := range f.jobs {
		if job.ID == id {
			return job, true, nil
		}
	}
	return fanout.Job{}, false, nil
}

// ways makes contact ways.
type ways struct {
	facts *registrytest.Memory
	err   error
	made  int
}

func (w *ways) Create(ctx context.Context, ref push.Ref) error {
	if w.err != nil {
		return w.err
	}
	w.made++
	return w.Adopt(ctx, ref, "made-for-"+ref.Code)
}

func (w *ways) Adopt(ctx context.Context, ref push.Ref, configID string) error {
	if w.err != nil {
		return w.err
	}
	return w.facts.ChangeCode(ctx, ref.Tenant, registry.CodeEdit{Code: ref.Code, ConfigID: registry.To(configID)})
}

// secrets keeps what was put.
type secrets struct {
	err      error
	view     httpapi.SecretsView
	channels notify.Channels
}

func (s *secrets) PutCredentials(_ context.Context, _, corpID, _ string) error {
	s.view.CorpID, s.view.Secret = corpID, httpapi.Kept{Set: true, KeyID: "2026a"}
	return s.err
}

func (s *secrets) PutCallback(_ context.Context, _ string, c httpapi.Callback) error {
	s.view.ReceiveIDs, s.view.CallbackToken = c.ReceiveIDs, httpapi.Kept{Set: true, KeyID: "2026a"}
	s.view.CallbackKey = s.view.CallbackToken
	return s.err
}

func (s *secrets) Describe(context.Context, string) (httpapi.SecretsView, error) {
	return s.view, s.err
}

func (s *secrets) PutChannels(_ context.Context, _ string, c notify.Channels) error {
	s.channels = c
	return s.err
}

func (s *secrets) Channels(context.Context, string) (notify.Channels, error) {
	return s.channels, s.err
}

// answers are in memory, unless a test wants one state of all claims.
type answers struct {
	registry.Answers
	busy, reused bool
}

func (a *answers) Claim(ctx context.Context, claim registry.Claim, now time.Time) (registry.ClaimState, registry.Answer, error) {
	switch {
	case a.busy:
		return registry.InProgress, registry.Answer{}, nil
	case a.reused:
		return registry.Reused, registry.Answer{}, nil
	}
	return a.Answers.Claim(ctx, claim, now)
}

// observed is told what the API does.
type observed struct {
	mu       sync.Mutex
	answered []string
	refused  []string
}

func (o *observed) Answered(_ context.Context, route string, status int, _ time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.answered = append(o.answered, route+" "+http.StatusText(status))
}

func (o *observed) Refused(_ context.Context, cause string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.refused = append(o.refused, cause)
}
