//go:build integration

package operator_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/access"
	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/adapter/pulsarbus"
	"github.com/rollcall-dev/rollcall/internal/fanout"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/seal"
	"github.com/rollcall-dev/rollcall/internal/wecomsim"
	"github.com/rollcall-dev/rollcall/internal/wecomsim/limits"
	"github.com/rollcall-dev/rollcall/pkg/refresh"
	"github.com/rollcall-dev/rollcall/test/await"
	"github.com/rollcall-dev/rollcall/test/fleet"
	"github.com/rollcall-dev/rollcall/test/stack"
	"github.com/rollcall-dev/rollcall/test/stack/stacktest"
	"github.com/rollcall-dev/rollcall/test/standin"
)

// planTenant is the company that is planned and played.
const (
	planTenant = "acme"
	planCorp   = "corp-acme"
)

// WeCom's limits, scaled to runs of a minute: the tenant has 29 calls a second
// after a burst of 200.
const (
	planShort, planLong        = 6 * time.Second, time.Minute
	planPerMinute, planPerHour = 600, 2000
	planBurst                  = 200
	planRefill                 = 7 * time.Second // from an empty bucket to a full one
	planFanOutBurst            = 100
	planSlow                   = 8 * time.Second // between two pushes of a code in the slow lane
)

// planHouse is one installation on the real servers: two ingresses, two
// refreshers, a keeper, and a WeCom of its own whose customers scan.
type planHouse struct {
	*testing.T
	name, topic, binary, sealKeys, token string
	servers                              stack.Addresses
	env                                  []string
	sim                                  *wecomsim.Sim
	db                                   *mongostore.Database
	admin                                *pulsarbus.Admin
	fleet                                *fleet.Fleet
	front                                *httptest.Server // in front of the ingresses
	turn                                 atomic.Uint64
	codes                                []roster.Code

	mu     sync.Mutex
	pushes []time.Time // that WeCom took
	other  int         // that it refused
}

func newPlanHouse(t *testing.T) *planHouse {
	t.Helper()
	h := &planHouse{T: t, name: "plan-" + rand.Text()[:10], sealKeys: seal.Generate("test"), servers: stack.Addresses{
		PulsarURL: stacktest.PulsarURL(t), PulsarAdminURL: stacktest.PulsarAdminURL(t),
		MongoURI: stacktest.MongoURI(t), RedisURL: stacktest.RedisURL(t),
	}}
	h.topic = "persistent://public/default/" + h.name
	h.sim = wecomsim.New(wecomsim.Options{
		Latency: wecomsim.Latency{P50: 120 * time.Millisecond, P99: 250 * time.Millisecond},
		Limits: &limits.Config{Corp: []limits.Window{
			{Calls: planPerMinute, Length: planShort, Block: planShort}, {Calls: planPerHour, Length: planLong, Block: planLong},
		}},
		OnCall: h.note,
	})
	h.Cleanup(h.sim.Close)
	keys, err := seal.ParseKeys(h.sealKeys)
	h.must(err)
	h.db, err = mongostore.Open(mongostore.Options{URI: h.servers.MongoURI, Database: h.name, Keys: keys})
	h.must(err)
	h.Cleanup(func() { _ = h.db.Close(context.WithoutCancel(h.Context())) })
	standin.IndexConditions(h.T, h.servers.MongoURI, h.name, map[string]string{"records": "epoch", "dirty": "version", "contacts": "version"})
	h.admin, err = pulsarbus.NewAdmin(pulsarbus.AdminOptions{URL: h.servers.PulsarAdminURL})
	h.must(err)
	h.Cleanup(h.admin.Close)
	h.must(h.admin.EnsureTopic(h.Context(), h.topic, 0))
	h.front = httptest.NewServer(&httputil.ReverseProxy{Rewrite: h.route})
	h.Cleanup(h.front.Close)
	return h
}

// route sends each request to the next ingress.
func (h *planHouse) route(r *httputil.ProxyRequest) {
	ingresses := slices.DeleteFunc(h.fleet.Members(), func(m *fleet.Member) bool { return m.Role() != "ingress" })
	at, err := url.Parse(ingresses[int(h.turn.Add(1))%len(ingresses)].URL())
	if err == nil {
		r.SetURL(at)
	}
}

// note sees every call at WeCom.
func (h *planHouse) note(call wecomsim.Call) {
	if call.API != "update_contact_way" {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if call.ErrCode != 0 {
		h.other++
		return
	}
	h.pushes = append(h.pushes, call.Applied)
}

// since are the pushes after an instant, in the order of their times.
func (h *planHouse) since(t time.Time) []time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	var after []time.Time
	for _, at := range h.pushes {
		if at.After(t) {
			after = append(after, at)
		}
	}
	slices.SortFunc(after, time.Time.Compare)
	return after
}

// calm reports that WeCom was not called for a while.
func (h *planHouse) calm(pause time.Duration) bool { return len(h.since(time.Now().Add(-pause))) == 0 }

// open stores the company, starts the processes, and lets every code have its
// first list.
func (h *planHouse) open(tenant roster.Tenant, staff []roster.Staff, codes []roster.Code) {
	h.Helper()
	h.seed(tenant, staff, codes)
	h.launch()
	secret, token, err := access.Mint(access.Order{Scopes: []access.Scope{access.Write}, Note: "the company"}, time.Now())
	h.must(err)
	h.must(h.db.Tokens().Create(h.Context(), token))
	h.token = secret
	producer, err := refresh.Dial(h.servers.PulsarURL, refresh.Options{Topic: h.topic, Logger: slog.New(slog.DiscardHandler)})
	h.must(err)
	defer producer.Close()
	for _, code := range codes {
		h.must(producer.Publish(h.Context(), refresh.Event{Tenant: planTenant, Code: code.ID, Reason: "created", OccurredAt: time.Now()}))
	}
	await.Until(h, 2*time.Minute, 200*time.Millisecond, "every code has its first list", func() bool {
		return len(h.since(time.Time{})) >= len(codes) && h.calm(planRefill) && h.idle()
	})
}

func (h *planHouse) seed(tenant roster.Tenant, staff []roster.Staff, codes []roster.Code) {
	h.Helper()
	ctx, facts := h.Context(), h.db.Facts()
	var aes [32]byte
	_, _ = rand.Read(aes[:]) // never fails
	secret, sign, aesKey := rand.Text(), rand.Text(), base64.RawStdEncoding.EncodeToString(aes[:])
	h.must(h.sim.SetCorp(wecomsim.Corp{
		ID: planCorp, OpenRoster: true, Apps: []wecomsim.App{{Secret: secret}},
		Callback: wecomsim.Callback{URL: h.front.URL + "/callback/" + planTenant, Token: sign, EncodingAESKey: aesKey},
	}))
	h.must(facts.PutTenant(ctx, tenant))
	h.must(facts.PutCredentials(ctx, planTenant, planCorp, secret))
	h.must(facts.PutCallback(ctx, planTenant, mongostore.Callback{Token: sign, AESKey: aesKey, ReceiveIDs: []string{planCorp}}))
	h.must(facts.PutStaff(ctx, planTenant, staff...))
	for i := range codes {
		c := &codes[i]
		c.Tenant, c.ConfigID, c.State, c.Revision, c.Family = planTenant, "cfg-"+c.ID, c.ID, 1, roster.Native
		h.sim.AddWay(planCorp, wecomsim.Way{ConfigID: c.ConfigID, Type: wecomsim.MultiUser, Users: []string{"nobody"}, State: c.State})
	}
	h.must(facts.PutCodes(ctx, codes...))
	h.codes = codes
}

func (h *planHouse) launch() {
	h.Helper()
	wecom := httptest.NewServer(h.sim.Handler())
	h.Cleanup(wecom.Close)
	var key [32]byte
	_, _ = rand.Read(key[:]) // never fails
	h.env = append(h.servers.Env(),
		"ROLLCALL_MONGODB_DATABASE="+h.name, "ROLLCALL_REDIS_KEY_PREFIX="+h.name+":",
		"ROLLCALL_PULSAR_TOPIC="+h.topic, "ROLLCALL_PULSAR_SUBSCRIPTION=rollcall", "ROLLCALL_PULSAR_DEAD_LETTER_TOPIC="+h.topic+"-dead",
		"ROLLCALL_WECOM_BASE_URL="+wecom.URL, "ROLLCALL_SEAL_KEYS="+h.sealKeys,
		"ROLLCALL_WECOM_TOKEN_KEY="+base64.StdEncoding.EncodeToString(key[:]),
		"ROLLCALL_BUDGET_MINUTE="+planShort.String(), "ROLLCALL_BUDGET_HOUR="+planLong.String(),
		fmt.Sprint("ROLLCALL_BUDGET_TENANT_PER_MINUTE=", planPerMinute), fmt.Sprint("ROLLCALL_BUDGET_TENANT_PER_HOUR=", planPerHour),
		fmt.Sprint("ROLLCALL_BUDGET_TENANT_BURST=", planBurst), "ROLLCALL_BUDGET_INSTANCES=2",
		fmt.Sprint("ROLLCALL_BUDGET_IP_PER_MINUTE=", 10*planPerMinute), fmt.Sprint("ROLLCALL_BUDGET_IP_PER_HOUR=", 10*planPerHour),
		fmt.Sprint("ROLLCALL_BUDGET_IP_BURST=", 10*planBurst), fmt.Sprint("ROLLCALL_INGRESS_FAN_OUT_BURST=", planFanOutBurst),
		"ROLLCALL_LANE_SLOW_INTERVAL="+planSlow.String(), "ROLLCALL_KEEPER_CONFIRM=2s",
		"ROLLCALL_AUDIT_RATE=1", // a page costs the stand-in a scan
	)
	h.binary = filepath.Join(h.TempDir(), "rollcall")
	build := exec.CommandContext(h.Context(), "go", "build", "-o", h.binary, "../../cmd/rollcall")
	if out, err := build.CombinedOutput(); err != nil {
		h.Fatalf("build rollcall: %v\n%s", err, out)
	}
	h.fleet = fleet.New(h.binary, h.env, h.TempDir())
	h.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(h.Context()), 30*time.Second)
		defer cancel()
		if err := h.fleet.Stop(ctx); err != nil {
			h.Error(err)
		}
	})
	for _, role := range []string{"refresher", "refresher", "ingress", "ingress", "keeper"} {
		_, err := h.fleet.Start(h.Context(), role)
		h.must(err)
	}
}

// idle reports that nothing is on its way to a push.
func (h *planHouse) idle() bool {
	ctx := h.Context()
	stats, err := h.admin.Stats(ctx, h.topic, "rollcall")
	if err != nil || stats.Backlog > 0 {
		return false
	}
	dirty, err := h.db.Dirty().List(ctx, push.Ref{}, 1)
	if err != nil || len(dirty) > 0 {
		return false
	}
	open, err := h.db.Quota().Open(ctx, time.Now().Add(time.Hour), 1)
	if err != nil || len(open) > 0 {
		return false
	}
	jobs, err := h.db.FanOuts().List(ctx, planTenant, "", 1000)
	return err == nil && !slices.ContainsFunc(jobs, func(job fanout.Job) bool { return job.State != fanout.Done })
}

// planned is what the command says, in seconds since its start.
type planned struct {
	Pushes   int     `json:"pushes"`
	Least    int     `json:"pushes_least"`
	Most     int     `json:"pushes_most"`
	Events   int     `json:"events"`
	Changes  int     `json:"changes"`
	AtLimit  int     `json:"people_at_company_ceiling"`
	Last     float64 `json:"last_push_s"`
	Drain    float64 `json:"drain_s"`
	Saturate struct {
		From    float64 `json:"from_s"`
		Longest float64 `json:"longest_s"`
		Peak    int     `json:"peak_codes"`
	} `json:"saturated"`
}

// plan asks the command, with what is announced of the campaign.
func (h *planHouse) plan(args ...string) planned {
	h.Helper()
	out, complaint, err := h.rollcall(append([]string{"plan", "--tenant", planTenant, "--from", "now", "-o", "json"}, args...)...)
	if err != nil {
		h.Fatalf("rollcall plan %s: %v\n%s", strings.Join(args, " "), err, complaint)
	}
	var answer struct {
		AsItIs planned `json:"as_it_is"`
	}
	h.must(json.Unmarshal(out, &answer))
	return answer.AsItIs
}

// rollcall runs a command of an operator.
func (h *planHouse) rollcall(args ...string) (out []byte, complaint string, err error) {
	cmd := exec.CommandContext(h.Context(), h.binary, args...)
	cmd.Env = append(os.Environ(), h.env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err = cmd.Output()
	return out, stderr.String(), err
}

// plansOfAll asks about all tenants, of which there is one, and about one that is
// not there.
func (h *planHouse) plansOfAll() {
	h.Helper()
	out, complaint, err := h.rollcall("plan", "--presence", "2/day", "-o", "json")
	if err != nil {
		h.Fatalf("rollcall plan: %v\n%s", err, complaint)
	}
	var answer struct {
		Whole  bool `json:"all_tenants"`
		AsItIs struct {
			Tenants int `json:"tenants"`
			Codes   int `json:"codes"`
			Pushes  int `json:"pushes"`
		} `json:"as_it_is"`
	}
	h.must(json.Unmarshal(out, &answer))
	if all := answer.AsItIs; !answer.Whole || all.Tenants != 1 || all.Codes == 0 || all.Pushes == 0 {
		h.Errorf("of all tenants: %s", out)
	}
	if _, complaint, err := h.rollcall("plan", "--tenant", "nobody"); err == nil || !strings.Contains(complaint, "there is no tenant nobody") {
		h.Errorf("of a tenant that is not there: %v, %q", err, complaint)
	}
}

// setPresence changes a staff member through the API.
func (h *planHouse) setPresence(staff string, to roster.Presence) {
	body := strings.NewReader(fmt.Sprintf(`{"presence": %q}`, to))
	req, err := http.NewRequestWithContext(h.Context(), http.MethodPut, h.front.URL+"/v1/tenants/"+planTenant+"/staff/"+staff+"/presence", body)
	if err != nil {
		h.Error(err)
		return
	}
	req.Header.Set("Authorization", "Bearer "+h.token)
	req.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		h.Error(err)
		return
	}
	text, _ := io.ReadAll(answer.Body)
	_ = answer.Body.Close()
	if answer.StatusCode >= http.StatusMultipleChoices {
		h.Errorf("set the presence of %s: %s: %s", staff, answer.Status, text)
	}
}

// scan lets so many customers come to codes, evenly over a time, and waits for the
// last.
func (h *planHouse) scan(customers int, over time.Duration, codes []roster.Code) {
	h.Helper()
	scans := wecomsim.Scans{Rate: float64(customers) / over.Seconds(), Count: customers, Seed: 7}
	for _, code := range codes {
		scans.Codes = append(scans.Codes, wecomsim.ScanCode{Corp: planCorp, ConfigID: code.ConfigID})
	}
	stream, err := h.sim.StartScans(h.Context(), scans)
	h.must(err)
	<-stream.Done()
}

// campaign is a run: what is announced of it, and what really happens.
type campaign struct {
	announced []string
	happens   func() // returns when the last addition or change was made
}

// planWithin is how far a plan may be off. The goal is a tenth, and the figures are
// printed; on a machine that does other work the pace of what happens is off first.
var planWithin = flag.Float64("plan-within", 0.3, "how far pushes and drain may be from what was planned, as a share")

// compare plans a campaign, lets it happen, and sets both side by side: pushes, and
// how long it takes after the last addition or change until 99 % of them are made. The
// drain may be off by a second in any case.
func (h *planHouse) compare(c campaign) {
	h.Helper()
	want := h.plan(c.announced...)
	begun := time.Now()
	c.happens()
	quiet := time.Now()
	await.Until(h, 3*time.Minute, 200*time.Millisecond, "everything is pushed", func() bool {
		return h.calm(2*time.Second) && time.Since(quiet) > 2*time.Second && h.idle()
	})
	times := h.since(begun)
	pushes := len(times)
	if pushes == 0 {
		h.Fatal("nothing was pushed")
	}
	drain := times[pushes*99/100].Sub(quiet).Seconds()
	h.Logf("planned: %d events, %d changes, %d to %d pushes, %d people at the company's ceiling, the quota short at %.1f s for %.1f s, %d codes waiting",
		want.Events, want.Changes, want.Least, want.Most, want.AtLimit, want.Saturate.From, want.Saturate.Longest, want.Saturate.Peak)
	ended := times[pushes-1].Sub(begun).Seconds()
	h.Logf("            planned  measured  ratio\n"+
		"pushes      %7d  %8d  %5.2f\n"+
		"last push   %5.1f s  %6.1f s  %5.2f\n"+
		"drain       %5.1f s  %6.1f s  %5.2f   (99 %% of the pushes)",
		want.Pushes, pushes, float64(want.Pushes)/float64(pushes),
		want.Last, ended, want.Last/ended, want.Drain, drain, want.Drain/drain)
	within := func(what string, planned, measured, least float64) {
		if off := max(planned-measured, measured-planned); off > max(least, measured**planWithin) {
			h.Errorf("%s: planned %.1f, measured %.1f; want it within %.0f %%", what, planned, measured, 100**planWithin)
		}
	}
	within("pushes", float64(want.Pushes), float64(pushes), 0)
	within("drain", want.Drain, drain, 1) // a lane and the keeper have a rhythm of a second
	if h.other > 0 {
		h.Errorf("WeCom refused %d calls", h.other)
	}
}

func (h *planHouse) must(err error) {
	h.Helper()
	if err != nil {
		h.Fatal(err)
	}
}
