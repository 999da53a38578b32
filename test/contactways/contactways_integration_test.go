//go:build integration

package contactways

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/adapter/wecom"
	"github.com/rollcall-dev/rollcall/internal/contactway"
	"github.com/rollcall-dev/rollcall/internal/publish"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/seal"
	"github.com/rollcall-dev/rollcall/internal/wecomsim"
	"github.com/rollcall-dev/rollcall/internal/wecomsim/fault"
	"github.com/rollcall-dev/rollcall/test/await"
	"github.com/rollcall-dev/rollcall/test/stack/stacktest"
)

const (
	tenant = "acme"
	corp   = "corp-acme"
	codes  = 40
)

// Two processes make the contact ways of the same codes, and of a member on
// each, at once, while 32 of the calls that make one are broken off, half of
// them after WeCom has done what was asked. Sweeps find what was made. At the
// end WeCom has one contact way for each, and no more.
func TestEveryCodeGetsOneContactWay(t *testing.T) {
	h := newHouse(t)
	for _, rule := range []fault.Rule{
		{Action: fault.Reset, Phase: fault.After, Probability: 0.2, Count: 8},
		{Action: fault.Status, Status: http.StatusBadGateway, Phase: fault.After, Probability: 0.2, Count: 8},
		{Action: fault.ErrCode, ErrCode: -1, Phase: fault.Before, Probability: 0.2, Count: 8},
		{Action: fault.Reset, Phase: fault.Before, Probability: 0.2, Count: 8},
	} {
		rule.API = wecom.OpAdd
		if _, err := h.sim.AddFault(rule); err != nil {
			t.Fatal(err)
		}
	}
	processes := []*contactway.Maker{h.maker("p1"), h.maker("p2")}
	var pending atomic.Int64
	var asking sync.WaitGroup
	for i := range codes {
		for _, m := range processes {
			asking.Go(func() {
				_, _, err := m.Create(t.Context(), refOf(i))
				_, memberErr := m.MemberWay(t.Context(), refOf(i), "amy")
				for _, err := range []error{err, memberErr} {
					switch {
					case errors.Is(err, contactway.ErrPending):
						pending.Add(1)
					case err != nil:
						t.Errorf("code %d: %v", i, err)
					}
				}
			})
		}
	}
	asking.Wait()
	stop := h.sweep(processes)
	defer stop()
	await.Until(t, 30*time.Second, 50*time.Millisecond, "every code and member has its contact way", func() bool { return h.sim.WayCount(corp) >= 2*codes && h.allThere() })
	stop()
	h.wantOneEach()
	t.Logf("%d answers were pending; WeCom has %d contact ways after %d calls that make one; %d announced",
		pending.Load(), h.sim.WayCount(corp), h.adds(), h.announced.Load())
}

func TestAdoption(t *testing.T) {
	h := newHouse(t)
	configID := h.sim.AddWay(corp, wecomsim.Way{Type: wecomsim.MultiUser, Users: []string{"amy"}, State: "theirs"})
	m := h.maker("p1")
	held, err := m.Adopt(t.Context(), refOf(0), configID)
	if err != nil || held.ConfigID != configID || held.QRCode == "" {
		t.Fatalf("Adopt = %+v, %v", held, err)
	}
	facts, err := h.db.Store().Facts(t.Context(), refOf(0))
	if err != nil || facts.Code.ConfigID != configID {
		t.Errorf("the code has %q, %v", facts.Code.ConfigID, err)
	}
	_, err = m.Adopt(t.Context(), refOf(1), configID)
	if _, refused := errors.AsType[*contactway.RefusedError](err); !refused {
		t.Errorf("a second code may have it: %v", err)
	}
	if n := h.sim.WayCount(corp); n != 1 {
		t.Errorf("WeCom has %d contact ways", n)
	}
}

// house is a company with codes that have no contact way yet.
type house struct {
	*testing.T
	db        *mongostore.Database
	sim       *wecomsim.Sim
	vendor    *wecom.Vendor
	announced atomic.Int64
}

func newHouse(t *testing.T) *house {
	t.Helper()
	h := &house{T: t, sim: wecomsim.New(wecomsim.Options{Seed: 7})}
	t.Cleanup(h.sim.Close)
	server := httptest.NewServer(h.sim.Handler())
	t.Cleanup(server.Close)
	h.openStore()
	h.openVendor(server)
	h.seed()
	return h
}

func (h *house) openStore() {
	h.Helper()
	keys, err := seal.ParseKeys(seal.Generate("test"))
	h.must(err)
	name := "contactways_" + rand.Text()[:10]
	h.db, err = mongostore.Open(mongostore.Options{URI: stacktest.MongoURI(h.T), Database: name, Timeout: 20 * time.Second, Keys: keys})
	h.must(err)
	h.Cleanup(func() { _ = h.db.Close(context.WithoutCancel(h.Context())) })
}

func (h *house) openVendor(server *httptest.Server) {
	h.Helper()
	endpoint, err := wecom.NewEndpoint(wecom.EndpointOptions{BaseURL: server.URL, HTTP: server.Client(), Timeout: time.Second})
	h.must(err)
	tokens := wecom.NewTokens(endpoint, credentials{h.db}, wecom.TokensOptions{})
	h.Cleanup(tokens.Close)
	// The breaker has tests of its own; open, it would only hold this one up.
	h.vendor = wecom.NewVendor(wecom.NewClient(endpoint, tokens), wecom.VendorOptions{TenantFailures: 1000, VendorFailures: 10_000})
}

type credentials struct{ db *mongostore.Database }

func (c credentials) Credentials(ctx context.Context, tenant string) (string, wecom.Secret, error) {
	corpID, secret, err := c.db.Credentials(ctx, tenant)
	return corpID, wecom.NewSecret(secret), err
}

func refOf(i int) push.Ref { return push.Ref{Tenant: tenant, Code: fmt.Sprintf("code-%02d", i)} }

func (h *house) seed() {
	h.Helper()
	secret := rand.Text()
	h.must(h.sim.SetCorp(wecomsim.Corp{ID: corp, Apps: []wecomsim.App{{Secret: secret}}, OpenRoster: true}))
	facts, ctx := h.db.Facts(), h.Context()
	h.must(facts.PutTenant(ctx, roster.Tenant{ID: tenant}))
	h.must(facts.PutCredentials(ctx, tenant, corp, secret))
	h.must(facts.PutStaff(ctx, tenant, roster.Staff{ID: "amy"}, roster.Staff{ID: "bob"}))
	var all []roster.Code
	for i := range codes {
		all = append(all, roster.Code{
			ID: refOf(i).Code, Tenant: tenant, Family: roster.Sequenced, State: refOf(i).Code, SkipVerify: true,
			Members: []roster.Member{{Staff: "amy"}, {Staff: "bob"}},
		})
	}
	h.must(facts.PutCodes(ctx, all...))
}

// maker is one process. Its times are a tenth of the product's, so that what
// was broken off is found within the test.
func (h *house) maker(name string) *contactway.Maker {
	ways := h.db.Ways()
	return contactway.NewMaker(contactway.Ports{
		Vendor: wecom.NewWays(h.vendor, wecom.WaysOptions{PerSecond: 200, Burst: 500}),
		Rows:   ways, Codes: ways, Announcer: h, Observer: h,
	}, contactway.Options{
		Owner: name, SendWithin: time.Second, Margin: 2500 * time.Millisecond, Patience: 100 * time.Millisecond,
		Step: 20 * time.Second, Retry: push.Backoff{Base: 50 * time.Millisecond, Cap: 200 * time.Millisecond},
	})
}

// Refresh counts what is announced.
func (h *house) Refresh(context.Context, push.Ref, string) (publish.Place, error) {
	h.announced.Add(1)
	return publish.Broker, nil
}

// WayEvent is of no interest here.
func (h *house) WayEvent(context.Context, contactway.Kind, contactway.Event) {}

// sweep lets the processes sweep until the function that is returned is called.
func (h *house) sweep(processes []*contactway.Maker) (stop func()) {
	ctx, cancel := context.WithCancel(h.Context())
	var sweeping sync.WaitGroup
	for _, m := range processes {
		sweeping.Go(func() {
			tick := time.NewTicker(100 * time.Millisecond)
			defer tick.Stop()
			for {
				if _, err := m.Sweep(ctx); err != nil && ctx.Err() == nil {
					h.Errorf("Sweep: %v", err)
				}
				select {
				case <-ctx.Done():
					return
				case <-tick.C:
				}
			}
		})
	}
	return func() { cancel(); sweeping.Wait() }
}

// allThere reports whether every code has a contact way and nothing is left to
// do.
func (h *house) allThere() bool {
	ways, far := h.db.Ways(), time.Now().Add(time.Hour)
	for i := range codes {
		if held, err := ways.Held(h.Context(), refOf(i)); err != nil || held.ConfigID == "" {
			return false
		}
	}
	open, err := ways.DueTenants(h.Context(), far)
	return err == nil && len(open) == 0
}

func (h *house) wantOneEach() {
	h.Helper()
	made, members := map[string][]string{}, map[string]int{}
	for way := range h.sim.Ways(corp) {
		if !strings.HasPrefix(way.Remark, "rollcall:") {
			h.Errorf("a contact way without a marker: %+v", way)
		}
		if way.Type == wecomsim.SingleUser {
			members[way.State]++
			continue
		}
		made[way.State] = append(made[way.State], way.ConfigID)
	}
	for i := range codes {
		held, err := h.db.Ways().Held(h.Context(), refOf(i))
		h.must(err)
		if ids := made[refOf(i).Code]; len(ids) != 1 || ids[0] != held.ConfigID {
			h.Errorf("code %d has %s, WeCom has %v", i, held.ConfigID, ids)
		}
		if n := members[refOf(i).Code]; n != 1 {
			h.Errorf("code %d: WeCom has %d contact ways for amy", i, n)
		}
	}
}

// adds is how often a contact way was asked for, whatever became of it.
func (h *house) adds() int {
	n := 0
	for call := range h.sim.Ledger().All() {
		if call.API == wecom.OpAdd {
			n++
		}
	}
	return n
}

func (h *house) must(err error) {
	h.Helper()
	if err != nil {
		h.Fatal(err)
	}
}
