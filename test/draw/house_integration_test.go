//go:build integration

package draw_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.uber.org/goleak"

	"github.com/rollcall-dev/rollcall/internal/access"
	"github.com/rollcall-dev/rollcall/internal/adapter/redisrotation"
	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/draw"
	"github.com/rollcall-dev/rollcall/internal/publish"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/service"
	"github.com/rollcall-dev/rollcall/test/stack/stacktest"
)

var full = flag.Bool("full", false, "longer, and with the limits that a quiet machine has to meet")

func TestMain(m *testing.M) {
	flag.Parse()
	goleak.VerifyTestMain(m)
}

const (
	clients = 64
	bearer  = "rc_test"
)

var hot = push.Ref{Tenant: "acme", Code: "hot"}

// house is an ingress's draw on a real Redis, and all that it stands on: a
// truth that counts additions, and refreshers that write the set.
type house struct {
	*testing.T
	server   *httptest.Server
	client   *http.Client
	redis    *redis.Client           // the refreshers' own
	rotation *redisrotation.Rotation // on it

	truth     truth
	refreshes atomic.Int64 // asked for by the desk
	reads     atomic.Int64 // of the store
	trips     roundTrips   // to Redis, of the ingress
}

// roundTrips counts the requests of a Redis client.
type roundTrips struct{ atomic.Int64 }

func (r *roundTrips) DialHook(next redis.DialHook) redis.DialHook { return next }

func (r *roundTrips) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		r.Add(1)
		return next(ctx, cmd)
	}
}

func (r *roundTrips) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		r.Add(1)
		return next(ctx, cmds)
	}
}

// store is where the facts are.
type store interface {
	draw.Codes
	draw.Facts
}

// newHouse returns a house of one code whose facts are the truth: a member for
// each quota.
func newHouse(t *testing.T, quotas ...int) *house {
	t.Helper()
	h := &house{T: t, truth: newTruth(quotas)}
	h.open(h)
	return h
}

// open starts the ingress's part on a store.
func (h *house) open(facts store) {
	t := h.T
	t.Helper()
	h.redis = connect(t)
	ingress := connect(t)
	ingress.AddHook(&h.trips)
	cfg, err := config.Load()
	if err != nil {
		t.Fatal(err)
	}
	cfg.Redis.KeyPrefix = "test-" + rand.Text() + ":"
	cfg.Draw.PageRate, cfg.Draw.PageBurst = 1e6, 1e6 // all customers have one address here
	if h.rotation, err = redisrotation.New(h.redis, redisrotation.Options{Prefix: cfg.Redis.KeyPrefix}); err != nil {
		t.Fatal(err)
	}
	drawing, err := service.NewDrawing(cfg, service.DrawingParts{
		Redis: ingress, Store: facts, Refresher: h, Ways: h,
		Meter: sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader())).Meter("test"),
		Log:   slog.New(slog.NewJSONHandler(nowhere{}, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	h.serve(drawing)
	t.Cleanup(func() { h.forget(cfg.Redis.KeyPrefix) })
}

func connect(t *testing.T) *redis.Client {
	t.Helper()
	opts, err := redis.ParseURL(stacktest.RedisURL(t))
	if err != nil {
		t.Fatal(err)
	}
	opts.PoolSize, opts.MaxRetries = clients, -1
	client := redis.NewClient(opts)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// serve puts the handlers behind a server of the product's kind, and a client
// with a connection for each customer before it.
func (h *house) serve(drawing *service.Drawing) {
	mux := http.NewServeMux()
	mux.Handle("/c/", drawing.Page)
	mux.HandleFunc("/v1/draw/", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "Bearer "+bearer {
			grant := access.Grant{Token: "t1", Tenant: hot.Tenant, Scopes: []access.Scope{access.Draw, access.Read}}
			r = r.WithContext(access.WithGrant(r.Context(), grant))
		}
		drawing.API.ServeHTTP(w, r)
	})
	h.server = httptest.NewServer(mux)
	h.Cleanup(h.server.Close)
	transport := &http.Transport{
		MaxIdleConnsPerHost: clients, MaxConnsPerHost: clients,
		DialContext: (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
	}
	h.Cleanup(transport.CloseIdleConnections)
	h.client = &http.Client{Transport: transport, Timeout: 30 * time.Second}
}

// nowhere takes the log, which is written as in the product: that is part of
// the price of a draw.
type nowhere struct{}

func (nowhere) Write(line []byte) (int, error) { return len(line), nil }

// forget removes what the test wrote: within a second, not key by key.
func (h *house) forget(prefix string) {
	ctx := context.WithoutCancel(h.Context())
	keys := h.redis.Scan(ctx, 0, prefix+"*", 10_000).Iterator()
	var batch []string
	flush := func() {
		if len(batch) > 0 {
			_ = h.redis.Unlink(ctx, batch...).Err()
			batch = nil
		}
	}
	for keys.Next(ctx) {
		if batch = append(batch, keys.Val()); len(batch) == 1000 {
			flush()
		}
	}
	flush()
}

// drawn is the API's answer.
type drawn struct {
	Staff    string `json:"staff"`
	Round    int64  `json:"round"`
	Lap      int64  `json:"lap"`
	Position int    `json:"position"`
}

// draw asks for the next member of the hot code; false is "nobody free".
func (h *house) draw(ctx context.Context, key string) (drawn, bool, error) {
	return h.drawFrom(ctx, hot.Code, key)
}

func (h *house) drawFrom(ctx context.Context, code, key string) (drawn, bool, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.server.URL+"/v1/draw/"+code, http.NoBody)
	if err != nil {
		return drawn{}, false, err
	}
	req.Header.Set("Authorization", "Bearer "+bearer)
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	resp, err := h.client.Do(req)
	if err != nil {
		return drawn{}, false, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		return drawn{}, false, err
	case resp.StatusCode == http.StatusConflict:
		return drawn{}, false, nil
	case resp.StatusCode != http.StatusOK:
		return drawn{}, false, fmt.Errorf("%s: %s", resp.Status, body)
	}
	var d drawn
	err = json.Unmarshal(body, &d)
	return d, true, err
}

// visit opens the landing page as a phone does.
func (h *house) visit(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, h.server.URL+"/c/"+hot.Code, http.NoBody)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "text/html")
	req.Header.Set("User-Agent", "MicroMessenger")
	resp, err := h.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK || len(resp.Cookies()) != 1 {
		return fmt.Errorf("%s, cookies %v", resp.Status, resp.Cookies())
	}
	return nil
}

// refreshers write the set as refreshers do: the version read before the facts,
// and written only if it is still the one, else again at once. Two at a time get
// in each other's way, as they do when a consumer joins. Each writes so often a
// second until the stop.
func (h *house) refreshers(many int, each float64) (stop func() (won, lost int64)) {
	ctx, cancel := context.WithCancel(h.Context())
	var won, lost atomic.Int64
	var wg sync.WaitGroup
	for range many {
		wg.Go(func() {
			tick := time.NewTicker(time.Duration(float64(time.Second) / each))
			defer tick.Stop()
			for {
				ok, err := h.refresh(ctx)
				switch {
				case ctx.Err() != nil:
					return
				case err != nil:
					h.Error(err)
					return
				case !ok:
					lost.Add(1)
					continue
				}
				won.Add(1)
				select {
				case <-ctx.Done():
					return
				case <-tick.C:
				}
			}
		})
	}
	return func() (int64, int64) {
		cancel()
		wg.Wait()
		return won.Load(), lost.Load()
	}
}

func (h *house) refresh(ctx context.Context) (bool, error) {
	version, err := h.rotation.Version(ctx, hot)
	if err != nil {
		return false, err
	}
	set := push.Set{Seats: h.truth.seats()}
	_, ok, err := h.rotation.Replace(ctx, hot, version, set)
	return ok, err
}

// The store and the other ports of the draw.

func (h *house) TenantOf(_ context.Context, code string) (string, error) {
	h.reads.Add(1)
	if code != hot.Code {
		return "", push.ErrUnknownCode
	}
	return hot.Tenant, nil
}

func (h *house) Load(context.Context, push.Ref) (roster.Facts, push.Record, error) {
	h.reads.Add(1)
	return h.truth.facts(), push.Record{}, nil
}

func (h *house) AdvanceRound(context.Context, push.Ref, int64) (bool, error) { return true, nil }

func (h *house) Refresh(context.Context, push.Ref, string) (publish.Place, error) {
	h.refreshes.Add(1)
	return publish.Broker, nil
}

func (h *house) MemberWay(_ context.Context, _ push.Ref, staff string) (string, error) {
	return "https://wework.qpic.cn/" + staff, nil
}

// truth are the facts of the code: each member's quota (negative: none) and the
// additions that were counted.
type truth struct {
	mu      *sync.Mutex
	quotas  []int
	counted []int
	coming  []int // members whose customers are not counted yet
	behind  int   // how many these were when the facts were last read
}

func newTruth(quotas []int) truth {
	return truth{mu: new(sync.Mutex), quotas: quotas, counted: make([]int, len(quotas))}
}

func name(member int) string { return fmt.Sprintf("staff-%03d", member) }

// memberOf is the inverse of name; -1 for who is nobody.
func memberOf(name string) int {
	member := -1
	_, _ = fmt.Sscanf(name, "staff-%d", &member)
	return member
}

// add notes a customer who will be counted with the next count.
func (t *truth) add(member int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.coming = append(t.coming, member)
}

// count counts the customers who have come.
func (t *truth) count() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, member := range t.coming {
		t.counted[member]++
	}
	t.coming = t.coming[:0]
}

// counting counts now and then, as callbacks do, until the stop.
func (h *house) counting(interval time.Duration) (stop func()) {
	return h.every(interval, func(context.Context) { h.truth.count() })
}

// every does something again and again until the stop.
func (h *house) every(interval time.Duration, do func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(h.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(interval)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				do(ctx)
			}
		}
	})
	return func() { cancel(); wg.Wait() }
}

func (t *truth) facts() roster.Facts {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.behind = len(t.coming)
	f := roster.Facts{
		Code: roster.Code{
			ID: hot.Code, Tenant: hot.Tenant, ConfigID: "cfg", Family: roster.Quota, Switches: roster.Switches{AddLimit: true},
		},
		Tenant:   roster.Tenant{ID: hot.Tenant},
		Staff:    map[string]roster.Staff{},
		Counters: roster.Counters{Total: map[string]int{}},
	}
	for i, quota := range t.quotas {
		f.Code.Members = append(f.Code.Members, roster.Member{Staff: name(i), AddLimit: max(quota, 0)})
		f.Staff[name(i)] = roster.Staff{ID: name(i)}
		f.Counters.Total[name(i)] = t.counted[i]
	}
	return f
}

// seats are those of all members, who stay in the set at their ceilings too,
// so that every turn has its place.
func (t *truth) seats() []roster.Seat {
	t.mu.Lock()
	defer t.mu.Unlock()
	seats := make([]roster.Seat, len(t.quotas))
	for i, quota := range t.quotas {
		seats[i] = roster.Seat{Staff: name(i), Headroom: -1, Counted: t.counted[i]}
		if quota >= 0 {
			seats[i].Headroom = max(0, quota-t.counted[i])
		}
	}
	return seats
}

// quantile returns a quantile of durations.
func quantile(took []time.Duration, q float64) time.Duration {
	if len(took) == 0 {
		return 0
	}
	slices.Sort(took)
	return took[min(len(took)-1, int(q*float64(len(took))))]
}
