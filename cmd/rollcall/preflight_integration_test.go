//go:build integration

package main

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/pulsar-client-go/pulsar"
	"github.com/apache/pulsar-client-go/pulsar/log"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/adapter/tlsfile/tlsfiletest"
	"github.com/rollcall-dev/rollcall/internal/preflight"
	"github.com/rollcall-dev/rollcall/internal/seal"
	"github.com/rollcall-dev/rollcall/internal/wecomsim"
	"github.com/rollcall-dev/rollcall/test/stack"
	"github.com/rollcall-dev/rollcall/test/stack/stacktest"
)

const sealKey = "2026a:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="

// runway is an installation of one test's own, on the real servers: a namespace,
// a database, a prefix, and a simulated WeCom.
type runway struct {
	t         *testing.T
	namespace string // "public/…"
	topic     string
	sim       *wecomsim.Sim
}

func newRunway(t *testing.T) *runway {
	t.Helper()
	name := "preflight-" + strings.ToLower(rand.Text())
	r := &runway{t: t, namespace: "public/" + name, topic: "persistent://public/" + name + "/refresh", sim: wecomsim.New(wecomsim.Options{})}
	t.Cleanup(r.sim.Close)
	server := httptest.NewServer(r.sim.Handler())
	t.Cleanup(server.Close)
	for variable, value := range map[string]string{
		"ROLLCALL_PULSAR_URL": stacktest.PulsarURL(t), "ROLLCALL_PULSAR_ADMIN_URL": stacktest.PulsarAdminURL(t),
		"ROLLCALL_PULSAR_TOPIC": r.topic, "ROLLCALL_PULSAR_DEAD_LETTER_TOPIC": r.topic + "-letters",
		"ROLLCALL_MONGODB_URI": stacktest.MongoURI(t), "ROLLCALL_MONGODB_DATABASE": name,
		"ROLLCALL_REDIS_URL": stacktest.RedisURL(t), "ROLLCALL_REDIS_KEY_PREFIX": name + ":",
		"ROLLCALL_WECOM_BASE_URL": server.URL, "ROLLCALL_SEAL_KEYS": sealKey,
		"ROLLCALL_WECOM_TOKEN_KEY": strings.TrimPrefix(sealKey, "2026a:"),
	} {
		t.Setenv(variable, value)
	}
	r.admin(http.MethodPut, "namespaces/"+r.namespace, "")
	return r
}

// admin is a call of the broker's admin API, as an administrator makes it.
func (r *runway) admin(method, path, body string) {
	r.t.Helper()
	request, err := http.NewRequestWithContext(r.t.Context(), method, stacktest.PulsarAdminURL(r.t)+"/admin/v2/"+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		r.t.Fatal(err)
	}
	defer answer.Body.Close()
	if text, _ := io.ReadAll(answer.Body); answer.StatusCode/100 != 2 {
		r.t.Fatalf("%s %s: %s %s", method, path, answer.Status, text)
	}
}

// preflight runs the command and returns its results by name.
func (r *runway) preflight(code int, args ...string) map[string]shownResult {
	r.t.Helper()
	var out, complaint strings.Builder
	if got := run(r.t.Context(), append([]string{"preflight", "-o", "json"}, args...), &out, &complaint); got != code {
		r.t.Errorf("exit %d, want %d: %s\n%s", got, code, complaint.String(), out.String())
	}
	var shown shownPreflight
	if err := json.Unmarshal([]byte(out.String()), &shown); err != nil {
		r.t.Fatalf("%v in %s", err, out.String())
	}
	results := map[string]shownResult{}
	for _, result := range shown.Checks {
		results[result.Check] = result
	}
	return results
}

// screen is what a person sees.
func (r *runway) screen(args ...string) string {
	var out, complaint strings.Builder
	run(r.t.Context(), append([]string{"preflight"}, args...), &out, &complaint)
	return out.String() + complaint.String()
}

// fixed makes the installation whole.
func (r *runway) fixed() *runway {
	r.t.Helper()
	r.preflight(exitOK, "--fix", "--partitions", "2")
	return r
}

func (r *runway) want(results map[string]shownResult, check string, verdict preflight.Verdict, found string) {
	r.t.Helper()
	if got := results[check]; got.Verdict != verdict || !strings.Contains(got.Found, found) {
		r.t.Errorf("%s: %+v; want %s with %q", check, got, verdict, found)
	}
}

func TestPreflightOfAnEmptyInstallationAndItsMending(t *testing.T) {
	r := newRunway(t)
	before := r.preflight(exitFailure)
	r.want(before, "pulsar.topic", preflight.Fail, "not there")
	r.want(before, "pulsar.subscription", preflight.Skip, "pulsar.topic failed")
	r.want(before, "pulsar.produce", preflight.Skip, "not tried")
	r.want(before, "mongodb.indexes", preflight.Warn, "missing")

	mended := r.preflight(exitOK, "--fix", "--partitions", "2")
	for check, did := range map[string]string{
		"pulsar.topic": "2 partitions", "pulsar.subscription": "rollcall", "pulsar.dead_letters": "rollcall-operator", "mongodb.indexes": "indexes",
	} {
		if !strings.Contains(mended[check].Did, did) || mended[check].Verdict != preflight.OK {
			t.Errorf("%s: %+v; want it made (%q)", check, mended[check], did)
		}
	}
	after := r.preflight(exitOK, "--fix")
	for check, result := range after {
		if result.Did != "" {
			t.Errorf("%s was mended twice: %+v", check, result)
		}
		// A single server is what the stack has, of an old version.
		if result.Verdict != preflight.OK && check != "mongodb.replica_set" && check != "mongodb.version" && check != "config.variables" {
			t.Errorf("%s: %+v; want ok", check, result)
		}
	}
	t.Log(r.screen())
}

// A broker that makes topics for whoever asks makes none for preflight.
func TestPreflightMakesNothingByLooking(t *testing.T) {
	r := newRunway(t)
	r.admin(http.MethodPost, "namespaces/"+r.namespace+"/autoTopicCreation", `{"allowAutoTopicCreation":true,"topicType":"partitioned","defaultNumPartitions":3}`)
	for range 2 {
		results := r.preflight(exitFailure)
		r.want(results, "pulsar.connect", preflight.OK, "")
		r.want(results, "pulsar.topic", preflight.Fail, "not there")
	}
}

func TestPreflightFindsWhatLosesEvents(t *testing.T) {
	r := newRunway(t).fixed()
	below := "persistent/" + r.namespace + "/refresh"
	r.admin(http.MethodPost, "namespaces/"+r.namespace+"/messageTTL", "3600")
	r.admin(http.MethodPost, "namespaces/"+r.namespace+"/backlogQuota?backlogQuotaType=destination_storage", `{"limitSize":1048576,"policy":"consumer_backlog_eviction"}`)
	r.admin(http.MethodPost, "namespaces/"+r.namespace+"/subscriptionExpirationTime", "60")
	r.admin(http.MethodPost, "namespaces/"+r.namespace+"/maxUnackedMessagesPerConsumer", "5000")
	results := r.preflight(exitFailure)
	r.want(results, "pulsar.ttl", preflight.Fail, "1h0m0s")
	r.want(results, "pulsar.backlog_quota", preflight.Fail, "consumer_backlog_eviction")
	r.want(results, "pulsar.expiration", preflight.Fail, "1h0m0s")
	r.want(results, "pulsar.unacked", preflight.Fail, "5000 a consumer")
	r.want(results, "pulsar.dead_letters", preflight.Fail, "dropped")
	r.admin(http.MethodPost, below+"/messageTTL?messageTTL=0", "")
	within(t, func() error { // a topic's policy takes effect a moment later
		if got := r.preflight(exitFailure)["pulsar.ttl"]; got.Verdict != preflight.OK {
			return fmt.Errorf("pulsar.ttl: %+v; the topic's own policy counts", got)
		}
		return nil
	})
}

func TestPreflightFindsASubscriptionOfAnotherType(t *testing.T) {
	r := newRunway(t).fixed()
	client, err := pulsar.NewClient(pulsar.ClientOptions{
		URL: stacktest.PulsarURL(t), Logger: log.NewLoggerWithSlog(slog.New(slog.DiscardHandler)), MetricsRegisterer: prometheus.NewRegistry(),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	consumer, err := client.Subscribe(pulsar.ConsumerOptions{Topic: r.topic, SubscriptionName: "rollcall", Type: pulsar.Shared})
	if err != nil {
		t.Fatal(err)
	}
	r.want(r.preflight(exitFailure), "pulsar.subscription", preflight.Fail, "of type Shared")
	consumer.Close()
	results := r.preflight(exitOK)
	r.want(results, "pulsar.subscription", preflight.Warn, "last consumers were Shared")
	consumer, err = client.Subscribe(pulsar.ConsumerOptions{
		Topic: r.topic, SubscriptionName: "rollcall", Type: pulsar.KeyShared,
		KeySharedPolicy: &pulsar.KeySharedPolicy{Mode: pulsar.KeySharedPolicyModeAutoSplit, AllowOutOfOrderDelivery: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer consumer.Close()
	results = r.preflight(exitFailure)
	r.want(results, "pulsar.subscription", preflight.OK, "Key_Shared")
	r.want(results, "pulsar.draining", preflight.Fail, "out-of-order")
}

func TestPreflightOfATenant(t *testing.T) {
	r := newRunway(t).fixed()
	keys, err := seal.ParseKeys(sealKey)
	if err != nil {
		t.Fatal(err)
	}
	db, err := mongostore.Open(mongostore.Options{URI: stacktest.MongoURI(t), Database: os.Getenv("ROLLCALL_MONGODB_DATABASE"), Keys: keys})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close(context.WithoutCancel(t.Context())) }()
	results := r.preflight(exitFailure, "--tenant", "acme")
	r.want(results, "tenant.credentials", preflight.Fail, "no WeCom credentials")
	r.want(results, "tenant.callback", preflight.Warn, "no callback settings")

	corp := wecomsim.Corp{ID: "ww1", Apps: []wecomsim.App{{Secret: "hunter2-secret"}}}
	must(t, r.sim.SetCorp(corp))
	must(t, db.Facts().PutCredentials(t.Context(), "acme", "ww1", "hunter2-secret"))
	must(t, db.Facts().PutCallback(t.Context(), "acme", mongostore.Callback{Token: "hunter2", AESKey: strings.Repeat("a", 43), ReceiveIDs: []string{"ww1"}}))
	results = r.preflight(exitOK, "--tenant", "acme")
	r.want(results, "tenant.credentials", preflight.OK, "accepted")
	r.want(results, "tenant.callback", preflight.OK, "open")

	corp.TrustedIPs = []string{"10.9.9.9"}
	must(t, r.sim.SetCorp(corp))
	r.want(r.preflight(exitFailure, "--tenant", "acme"), "tenant.credentials", preflight.Fail, "the address 127.0.0.1 is not trusted")
	corp.TrustedIPs, corp.Apps[0].NotAllowed = nil, true
	must(t, r.sim.SetCorp(corp))
	r.want(r.preflight(exitFailure, "--tenant", "acme"), "tenant.credentials", preflight.Fail, "48002")
	must(t, db.Facts().PutCredentials(t.Context(), "acme", "ww1", "hunter2-wrong"))
	r.want(r.preflight(exitFailure, "--tenant", "acme"), "tenant.credentials", preflight.Fail, "40001")

	t.Setenv("ROLLCALL_SEAL_KEYS", strings.Replace(sealKey, "2026a", "2026b", 1))
	results = r.preflight(exitFailure, "--tenant", "acme")
	r.want(results, "mongodb.secrets", preflight.Fail, "do not open")
	r.want(results, "tenant.callback", preflight.Fail, "not configured")
	if screen := r.screen("--tenant", "acme"); strings.Contains(screen, "hunter2") {
		t.Errorf("a secret on the screen:\n%s", screen)
	}
}

func TestPreflightOfOtherRedises(t *testing.T) {
	r := newRunway(t).fixed()
	authority := tlsfiletest.New(t)
	files := authority.Issue("redis")
	overTLS := func(port string) []string {
		return []string{"--port", "0", "--tls-port", port, "--tls-cert-file", files.Cert, "--tls-key-file", files.Key, "--tls-ca-cert-file", files.CA, "--tls-auth-clients", "yes"}
	}
	plain := func(more ...string) func(string) []string {
		return func(port string) []string { return append([]string{"--port", port}, more...) }
	}

	redisFor(t, "redis", plain("--maxmemory", "64mb", "--maxmemory-policy", "allkeys-lru", "--save", ""))
	results := r.preflight(exitFailure)
	r.want(results, "redis.eviction", preflight.Fail, "allkeys-lru")
	r.want(results, "redis.persistence", preflight.Warn, "none")
	r.want(results, "redis.scripts", preflight.OK, "")

	redisFor(t, "redis", plain("--requirepass", "hunter2"))
	results = r.preflight(exitFailure)
	r.want(results, "redis.reach", preflight.Fail, "NOAUTH")
	r.want(results, "redis.scripts", preflight.Skip, "redis.reach failed")

	bus, err := stack.FreePorts(1) // the one it takes by itself may be an outgoing connection's
	must(t, err)
	redisFor(t, "redis", plain("--cluster-enabled", "yes", "--cluster-port", fmt.Sprint(bus[0])))
	r.want(r.preflight(exitFailure), "redis.topology", preflight.Fail, "Redis Cluster")

	redisFor(t, "rediss", overTLS)
	for variable, file := range map[string]string{"CA": files.CA, "CERT": files.Cert, "KEY": files.Key} {
		t.Setenv("ROLLCALL_REDIS_TLS_"+variable+"_FILE", file)
	}
	results = r.preflight(exitOK)
	r.want(results, "redis.reach", preflight.OK, "")
	r.want(results, "redis.scripts", preflight.OK, "")
	t.Setenv("ROLLCALL_REDIS_TLS_CA_FILE", tlsfiletest.New(t).CAFile)
	r.want(r.preflight(exitFailure), "redis.reach", preflight.Fail, "unknown authority")
	t.Setenv("ROLLCALL_REDIS_TLS_CA_FILE", t.TempDir()+"/none.pem")
	var complaint strings.Builder
	if code := run(t.Context(), []string{"preflight"}, io.Discard, &complaint); code != exitUsage {
		t.Errorf("exit %d for a file that is not there: %s", code, complaint.String())
	}
}

// MongoDB behind a proxy that speaks TLS and asks for our certificate.
func TestPreflightOfMongoDBOverTLS(t *testing.T) {
	r := newRunway(t).fixed()
	authority := tlsfiletest.New(t)
	files := authority.Issue("rollcall")
	config := authority.Server()
	config.ClientAuth = tls.RequireAndVerifyClientCert
	t.Setenv("ROLLCALL_MONGODB_URI", "mongodb://"+secured(t, config, strings.TrimPrefix(stacktest.MongoURI(t), "mongodb://"))+"/?directConnection=true")
	for variable, file := range map[string]string{"CA": files.CA, "CERT": files.Cert, "KEY": files.Key} {
		t.Setenv("ROLLCALL_MONGODB_TLS_"+variable+"_FILE", file)
	}
	results := r.preflight(exitOK)
	r.want(results, "mongodb.reach", preflight.OK, "")
	r.want(results, "mongodb.write", preflight.OK, "")
	t.Setenv("ROLLCALL_MONGODB_TLS_CA_FILE", tlsfiletest.New(t).CAFile)
	results = r.preflight(exitFailure)
	r.want(results, "mongodb.reach", preflight.Fail, "unknown authority")
	r.want(results, "mongodb.indexes", preflight.Skip, "mongodb.reach failed")
	t.Setenv("ROLLCALL_MONGODB_TLS_CA_FILE", files.CA)
	t.Setenv("ROLLCALL_MONGODB_TLS_CERT_FILE", "")
	t.Setenv("ROLLCALL_MONGODB_TLS_KEY_FILE", "")
	r.want(r.preflight(exitFailure), "mongodb.reach", preflight.Fail, "certificate required")
}

// secured is the address of a TLS server that passes everything on.
func secured(t *testing.T, config *tls.Config, to string) string {
	t.Helper()
	listener, err := tls.Listen("tcp", "127.0.0.1:0", config)
	must(t, err)
	var passing sync.WaitGroup
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	t.Cleanup(func() { _ = listener.Close(); cancel(); passing.Wait() })
	passing.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			passing.Go(func() { pass(ctx, conn, to) })
		}
	})
	return listener.Addr().String()
}

func pass(ctx context.Context, from net.Conn, to string) {
	defer from.Close()
	there, err := new(net.Dialer).DialContext(ctx, "tcp", strings.TrimSuffix(to, "/"))
	if err != nil {
		return
	}
	defer there.Close()
	stop := context.AfterFunc(ctx, func() { _ = from.Close(); _ = there.Close() })
	defer stop()
	go func() { _, _ = io.Copy(from, there); _ = from.Close() }()
	_, _ = io.Copy(there, from)
}

// redisFor starts a Redis of this test's own, and has ROLLCALL_REDIS_URL name it
// until the test or the next one.
func redisFor(t *testing.T, scheme string, arguments func(port string) []string) {
	t.Helper()
	ports, err := stack.FreePorts(1)
	if err != nil {
		t.Fatal(err)
	}
	port := fmt.Sprint(ports[0])
	args := append([]string{"--bind", "127.0.0.1", "--dir", t.TempDir()}, arguments(port)...)
	server := exec.CommandContext(context.WithoutCancel(t.Context()), "redis-server", args...)
	must(t, server.Start())
	t.Cleanup(func() { _ = server.Process.Kill(); _ = server.Wait() })
	t.Setenv("ROLLCALL_REDIS_URL", scheme+"://127.0.0.1:"+port)
	if scheme == "rediss" {
		within(t, func() error { return listens(t, port) })
		return
	}
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:" + port})
	defer client.Close()
	within(t, func() error {
		if err := client.Ping(t.Context()).Err(); err != nil && !strings.Contains(err.Error(), "NOAUTH") {
			return err
		}
		return nil
	})
}

func listens(t *testing.T, port string) error {
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", "127.0.0.1:"+port)
	if err != nil {
		return err
	}
	return conn.Close()
}

func TestPreflightOfServersThatAreAway(t *testing.T) {
	r := newRunway(t)
	t.Setenv("ROLLCALL_PULSAR_URL", "pulsar://127.0.0.1:1")
	t.Setenv("ROLLCALL_PULSAR_ADMIN_URL", "http://127.0.0.1:1")
	t.Setenv("ROLLCALL_MONGODB_URI", "mongodb://user:hunter2@127.0.0.1:1")
	t.Setenv("ROLLCALL_REDIS_URL", "redis://:hunter2@127.0.0.1:1")
	t.Setenv("ROLLCALL_WECOM_BASE_URL", "http://127.0.0.1:1")
	begun := time.Now()
	results := r.preflight(exitFailure, "--timeout", "2s")
	if took := time.Since(begun); took > 30*time.Second {
		t.Errorf("took %s; the checks wait beside each other", took)
	}
	for check, result := range results {
		first := check == "pulsar.connect" || check == "pulsar.admin" || strings.HasSuffix(check, ".reach")
		switch {
		case strings.HasPrefix(check, "config."):
		case first && (result.Verdict != preflight.Fail || !strings.Contains(result.Found, "refused")):
			t.Errorf("%s: %+v; want fail with the cause", check, result)
		case !first && result.Verdict != preflight.Skip:
			t.Errorf("%s: %+v; want skip", check, result)
		}
	}
	if screen := r.screen("--timeout", "1s"); strings.Contains(screen, "hunter2") {
		t.Errorf("a secret on the screen:\n%s", screen)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// within polls until it succeeds, for ten seconds.
func within(t *testing.T, check func() error) {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(10 * time.Second); ; <-tick.C {
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}
