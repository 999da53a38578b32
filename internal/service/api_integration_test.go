//go:build integration

package service

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.opentelemetry.io/otel/metric/noop"

	"github.com/rollcall-dev/rollcall/internal/access"
	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/publish"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/registry"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/seal"
	"github.com/rollcall-dev/rollcall/test/await"
	"github.com/rollcall-dev/rollcall/test/stack/stacktest"
)

// The API on a real store: a token is made, facts go in, a verdict can be
// decided from them, and the token is revoked.
func TestTheAPIOnARealStore(t *testing.T) {
	s := newSite(t)
	secret, token, err := CreateToken(t.Context(), s.cfg, access.Order{Scopes: []access.Scope{access.Read, access.Write, access.Admin}, Note: "test"})
	if err != nil {
		t.Fatalf("CreateToken: %v", err)
	}
	s.token = secret
	s.want(t, 201, "PUT", "/v1/tenants/acme", `{"time_zone":"Asia/Shanghai","fallback":["boss"]}`)
	s.want(t, 201, "PUT", "/v1/tenants/acme/staff/zhang.san", `{"schedule":{"weekly":[[],[{"from":540,"to":1080}]]}}`)
	s.want(t, 201, "PUT", "/v1/tenants/acme/codes/c-1", `{"config_id":"cfg","family":"quota","members":[{"staff":"zhang.san","daily_limit":2}],"switches":{"daily_limit":true}}`)
	s.want(t, 200, "PUT", "/v1/tenants/acme/codes/c-1/lane", `{"lane":"slow"}`)
	s.want(t, 200, "PUT", "/v1/tenants/acme/credentials", `{"corp_id":"ww1","secret":"hunter2"}`)
	if got := s.want(t, 200, "GET", "/v1/tenants/acme/credentials", ""); strings.Contains(got, "hunter2") || !strings.Contains(got, `"sealed_by":"a"`) {
		t.Errorf("credentials: %s", got)
	}
	facts, _, err := s.db.Store().Load(t.Context(), push.Ref{Tenant: "acme", Code: "c-1"})
	if err != nil {
		t.Fatalf("Load: %v", err)
	}
	verdict, err := roster.Decide(facts, roster.Last{}, roster.LaneRules{}, time.Now())
	if err != nil || len(verdict.Members) != 1 || facts.Code.Lane != roster.LaneSlow || facts.Code.Revision != 3 {
		t.Errorf("verdict %+v, %v from %+v", verdict, err, facts.Code)
	}
	if got := s.want(t, 200, "GET", "/v1/tenants/acme/fanouts", ""); !strings.Contains(got, `"why":"staff_changed"`) {
		t.Errorf("fan-outs: %s", got)
	}
	if err := RevokeToken(t.Context(), s.cfg, token.ID); err != nil {
		t.Fatalf("RevokeToken: %v", err)
	}
	await.Until(t, 30*time.Second, 50*time.Millisecond, "the revoked token is refused", func() bool {
		status, _ := s.send(s.token, "GET", "/v1/tenants/acme", "", "")
		return status == 401
	})
}

// 32 clients write 20 codes of two tenants at once, some with the same
// idempotency key; two tenants fight for each ID. Every code has one owner at
// the end, who was told so, and each of his codes was published.
func TestTenantsFightForIDs(t *testing.T) {
	const clients, codes = 32, 20
	s := newSite(t)
	tokens := map[string]string{}
	for _, tenant := range []string{"acme", "globex"} {
		secret, _, err := CreateToken(t.Context(), s.cfg, access.Order{Tenant: tenant, Scopes: []access.Scope{access.Read, access.Write}})
		if err != nil {
			t.Fatalf("CreateToken: %v", err)
		}
		tokens[tenant], s.token = secret, secret
		s.want(t, 201, "PUT", "/v1/tenants/"+tenant, `{}`)
	}
	var all sync.WaitGroup
	for c := range clients {
		tenant := []string{"acme", "globex"}[c%2]
		all.Go(func() {
			for i := range codes / 4 {
				id := fmt.Sprintf("c-%d", (i*7+c)%codes)
				body := `{"config_id":"cfg","family":"native","remark":"` + tenant + `"}`
				status, _ := s.send(tokens[tenant], "PUT", "/v1/tenants/"+tenant+"/codes/"+id, body, "key-"+id)
				if status != 200 && status != 201 && status != 409 {
					t.Errorf("%s of %s: %d", id, tenant, status)
				}
			}
		})
	}
	all.Wait()
	for i := range codes {
		id := fmt.Sprintf("c-%d", i)
		owners := 0
		for tenant, token := range tokens {
			status, body := s.send(token, "GET", "/v1/tenants/"+tenant+"/codes/"+id, "", "")
			if status == 200 {
				owners++
				if !strings.Contains(body, `"remark":"`+tenant+`"`) {
					t.Errorf("%s of %s: %s", id, tenant, body)
				}
				if _, told := s.published.Load(tenant + "/" + id); !told {
					t.Errorf("%s of %s was not published", id, tenant)
				}
			}
		}
		if owners != 1 {
			t.Errorf("%s has %d owners", id, owners)
		}
	}
}

// An import of staff is stored, can be repeated, and is announced.
func TestAnImportOnARealStore(t *testing.T) {
	const n = 600
	s := newSite(t)
	secret, _, err := CreateToken(t.Context(), s.cfg, access.Order{Scopes: []access.Scope{access.Read, access.Write}})
	if err != nil {
		t.Fatalf("CreateToken: %v", err)
	}
	s.token = secret
	s.want(t, 201, "PUT", "/v1/tenants/acme", `{}`)
	var body strings.Builder
	for i := range n {
		fmt.Fprintf(&body, "{\"staff\":\"s%04d\",\"resigned\":false}\n", i)
	}
	begun := time.Now()
	var got struct {
		Stored, Unchanged int
		LastLine          int `json:"last_line"`
	}
	for _, want := range []int{n, 0} {
		if err := json.Unmarshal([]byte(s.want(t, 200, "POST", "/v1/tenants/acme/imports/staff", body.String())), &got); err != nil {
			t.Fatal(err)
		}
		if got.Stored != want || got.Stored+got.Unchanged != n || got.LastLine != n {
			t.Errorf("%+v, want %d stored", got, want)
		}
	}
	t.Logf("%d staff members imported twice in %s", n, time.Since(begun).Round(time.Millisecond))
}

// site is the API on a database of its own. Its events go nowhere but are
// remembered, its fan-outs are only requested.
type site struct {
	cfg       config.Config
	db        *mongostore.Database
	server    *httptest.Server
	token     string
	published sync.Map // "tenant/code"
}

func newSite(t *testing.T) *site {
	t.Helper()
	name := "rollcall_test_" + bson.NewObjectID().Hex()
	for variable, value := range map[string]string{
		"ROLLCALL_MONGODB_URI": stacktest.MongoURI(t), "ROLLCALL_MONGODB_DATABASE": name,
		"ROLLCALL_SEAL_KEYS":       "a:" + base64.StdEncoding.EncodeToString(make([]byte, seal.KeySize)),
		"ROLLCALL_API_TOKEN_FRESH": "1s", "ROLLCALL_API_RATE": "100000", "ROLLCALL_API_BURST": "100000",
	} {
		t.Setenv(variable, value)
	}
	s := &site{}
	var err error
	if s.cfg, err = config.Load(config.NeedMongoDB); err != nil {
		t.Fatalf("config: %v", err)
	}
	if s.db, err = openMongo(s.cfg, "test"); err != nil {
		t.Fatalf("open the store: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := errors.Join(dropDatabase(ctx, s.cfg.MongoDB.URI.Reveal(), name), s.db.Close(ctx)); err != nil {
			t.Errorf("clean up: %v", err)
		}
	})
	api, err := NewAPI(s.cfg, APIParts{
		DB: s.db, Publisher: s, FanOuts: s.db.FanOuts(), Ways: s, Meter: noop.NewMeterProvider().Meter(""),
		Log: slog.New(slog.DiscardHandler), Rate: 40,
	})
	if err != nil {
		t.Fatalf("NewAPI: %v", err)
	}
	s.server = httptest.NewServer(api.Handler)
	t.Cleanup(s.server.Close)
	return s
}

func dropDatabase(ctx context.Context, uri, name string) error {
	client, err := mongo.Connect(options.Client().ApplyURI(uri))
	if err != nil {
		return err
	}
	return errors.Join(client.Database(name).Drop(ctx), client.Disconnect(ctx))
}

// Refresh is the publisher's.
func (s *site) Refresh(_ context.Context, ref push.Ref, _ string) (publish.Place, error) {
	s.published.Store(ref.Tenant+"/"+ref.Code, true)
	return publish.Broker, nil
}

// Create is the maker's of contact ways.
func (s *site) Create(ctx context.Context, ref push.Ref) error { return s.Adopt(ctx, ref, "made") }

// Adopt is the maker's of contact ways.
func (s *site) Adopt(ctx context.Context, ref push.Ref, configID string) error {
	return s.db.Registry().ChangeCode(ctx, ref.Tenant, registry.CodeEdit{Code: ref.Code, ConfigID: registry.To(configID)})
}

func (s *site) send(token, method, path, body, key string) (status int, answer string) {
	request, err := http.NewRequest(method, s.server.URL+path, strings.NewReader(body))
	if err != nil {
		return 0, err.Error()
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	if strings.Contains(path, "/imports/") {
		request.Header.Set("Content-Type", "application/x-ndjson")
	}
	if key != "" {
		request.Header.Set("Idempotency-Key", key)
	}
	response, err := s.server.Client().Do(request)
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close()
	read, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, err.Error()
	}
	return response.StatusCode, string(read)
}

func (s *site) want(t *testing.T, status int, method, path, body string) string {
	t.Helper()
	got, answer := s.send(s.token, method, path, body, "")
	if got != status {
		t.Fatalf("%s %s answers %d %s, want %d", method, path, got, answer, status)
	}
	return answer
}
