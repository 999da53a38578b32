//go:build integration

package e2e_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/apache/pulsar-client-go/pulsar"

	"github.com/rollcall-dev/rollcall/internal/adapter/pulsarbus"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/service"
	"github.com/rollcall-dev/rollcall/internal/wecomsim"
	"github.com/rollcall-dev/rollcall/internal/wecomsim/limits"
)

func TestFactReachesWeCom(t *testing.T) {
	h := newHouse(t, wecomsim.Options{})
	h.tenant("acme", "ann", "bob")
	h.code(roster.Code{ID: "c1", Tenant: "acme", Switches: roster.Switches{OfflineCheck: true}}, "ann", "bob")
	h.refresher("r1")
	h.publish("acme", "c1")
	eventually(t, 20*time.Second, "the first list is at WeCom", func() bool { return slices.Equal(h.listed("acme", "c1"), []string{"ann", "bob"}) })
	h.must(h.db.Facts().SetPresence(t.Context(), "acme", "ann", roster.OfflineNow))
	h.publish("acme", "c1")
	eventually(t, 10*time.Second, "ann is off the list", func() bool { return slices.Equal(h.listed("acme", "c1"), []string{"bob"}) })
	eventually(t, 10*time.Second, "every event is acked", func() bool { return h.backlog() == 0 })
}

// TestBadInputEndsWhereItCanBeListed sends what must not stop a consumer, and
// then a good event that has to get through.
func TestBadInputEndsWhereItCanBeListed(t *testing.T) {
	h := newHouse(t, wecomsim.Options{})
	h.tenant("acme", "ann", "bob")
	h.code(roster.Code{ID: "good", Tenant: "acme"}, "ann", "bob")
	h.must(h.db.Facts().PutTenant(t.Context(), roster.Tenant{ID: "bare"}))
	h.must(h.db.Facts().PutStaff(t.Context(), "bare", roster.Staff{ID: "ann", Presence: roster.Online}))
	h.code(roster.Code{ID: "bare-c1", Tenant: "bare"}, "ann")
	h.must(h.db.Facts().PutTenant(t.Context(), roster.Tenant{ID: "mars", TimeZone: "Mars/Olympus"}))
	h.code(roster.Code{ID: "mars-c1", Tenant: "mars"}, "ann")
	h.crowd("crowd-c1", 300)
	h.refresher("r1")

	h.publish("nobody", "c1")
	h.publish("acme", "c404")
	h.publish("bare", "bare-c1")
	h.publish("mars", "mars-c1")
	h.publish("acme", "crowd-c1")
	h.publish("mars", "good") // another tenant's code
	h.raw("", []byte(`{"v":1,"tenant":"acme","code":"good","reason":"x","occurred_at":"2026-03-01T00:00:00Z"}`))
	h.raw("good", []byte(`{"v":99,"tenant":"acme","code":"good","reason":"x","occurred_at":"2026-03-01T00:00:00Z"}`))
	h.raw("rubbish", rubbish(1<<20))
	h.publish("acme", "good")

	eventually(t, 20*time.Second, "the good event got through", func() bool { return slices.Equal(h.listed("acme", "good"), []string{"ann", "bob"}) })
	for _, want := range []struct {
		tenant, code string
		reason       reason.Reason
	}{
		{"nobody", "c1", reason.UnknownCode},
		{"acme", "c404", reason.UnknownCode},
		{"mars", "mars-c1", reason.InvalidFacts},
		{"mars", "good", reason.WrongTenant},
	} {
		eventually(t, 10*time.Second, fmt.Sprintf("%s of %s is in the dirty set for %s", want.code, want.tenant, want.reason), func() bool {
			entry, ok := h.dirty(want.tenant, want.code)
			return ok && slices.Contains(entry.Reasons, want.reason) && entry.Detail != ""
		})
	}
	eventually(t, 10*time.Second, "the tenant without credentials is suspended", func() bool {
		return h.suspension(push.Ref{Tenant: "bare", Code: "bare-c1"}).Detail != ""
	})
	eventually(t, 10*time.Second, "the crowd's first hundred are listed", func() bool { return len(h.listed("acme", "crowd-c1")) == roster.MaxListed })
	eventually(t, 10*time.Second, "the crowd's code is noted", func() bool {
		noted, err := h.db.Store().ListNoted(t.Context(), push.Ref{}, 10)
		return err == nil && len(noted) == 1 && noted[0].Code == "crowd-c1" && slices.Contains(noted[0].Record.Committed.Notes, reason.MemberCap)
	})
	eventually(t, 10*time.Second, "every message but the suspended tenant's is settled", func() bool { return h.backlog() == 1 })
	h.wantDeadLetters(reason.NoKey, reason.WrongVersion, reason.TooLarge)
}

// crowd stores a code with so many members.
func (h *house) crowd(code string, n int) {
	h.Helper()
	var staff []roster.Staff
	var members []string
	for i := range n {
		id := fmt.Sprintf("p%03d", i)
		staff = append(staff, roster.Staff{ID: id, Presence: roster.Online})
		members = append(members, id)
	}
	h.must(h.db.Facts().PutStaff(h.Context(), "acme", staff...))
	h.code(roster.Code{ID: code, Tenant: "acme"}, members...)
}

func rubbish(n int) []byte {
	rnd := rand.New(rand.NewPCG(1, 2))
	out := make([]byte, n)
	for i := range out {
		out[i] = byte(rnd.Uint32())
	}
	return out
}

// raw publishes as a producer that does not use the SDK.
func (h *house) raw(key string, payload []byte) {
	h.Helper()
	p, err := h.client.CreateProducer(pulsar.ProducerOptions{Topic: h.cfg.Pulsar.Topic, DisableBatching: true})
	h.must(err)
	defer p.Close()
	_, err = p.Send(h.Context(), &pulsar.ProducerMessage{Key: key, Payload: payload})
	h.must(err)
}

func (h *house) wantDeadLetters(want ...reason.Reason) {
	h.Helper()
	var got []reason.Reason
	for letter, err := range pulsarbus.ListDeadLetters(h.Context(), pulsarbus.Options{
		URL: h.cfg.Pulsar.URL, Topic: h.cfg.Pulsar.Topic, DeadLetterTopic: h.cfg.Pulsar.DeadLetterTopic,
	}, 100) {
		h.must(err)
		if letter.Detail == "" {
			h.Errorf("dead letter %s has no detail", letter.ID)
		}
		got = append(got, letter.Cause)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		h.Errorf("dead letters %v; want %v", got, want)
	}
}

// TestStormOfOneTenantLeavesTheOthersFresh compares calm tenants' freshness
// while one tenant storms with the same tenants' before it.
func TestStormOfOneTenantLeavesTheOthersFresh(t *testing.T) {
	const calmTenants, stormCodes, stormEvents = 10, 500, 50_000
	const stormFor = 80 * time.Second // 625 events a second: with the servers on the same two cores, more measures the cores
	h := newHouse(t, wecomsim.Options{Latency: wecomsim.Latency{P50: 25 * time.Millisecond, P99: 120 * time.Millisecond}, Limits: scaledLimits()})
	scaleBudget(h)
	probe := newProbe(h, calmTenants)
	h.tenant("storm", "ann", "bob")
	for j := range stormCodes {
		h.code(roster.Code{ID: fmt.Sprintf("storm-c%d", j), Tenant: "storm", Switches: roster.Switches{OfflineCheck: true}}, "ann", "bob")
	}
	h.refresher("r1")
	h.refresher("r2")
	probe.warmUp()
	// A machine that does something else for a while makes the ratio worse and
	// never better: a second look is allowed.
	ratio := stormRatio(t, h, probe, stormCodes, stormEvents, stormFor)
	if ratio > 1.3 {
		ratio = min(ratio, stormRatio(t, h, probe, stormCodes, stormEvents, stormFor))
	}
	if ratio > 1.3 {
		t.Errorf("calm tenants' p95 is %.2f times its calm value during the storm; want 1.3 at most", ratio)
	}
	if n := h.sim.Counters().Of("update_contact_way", 45009); n != 0 {
		t.Errorf("%d answers of 45009; want none", n)
	}
}

// stormRatio measures calm tenants before and during a storm and returns the
// ratio of the 95th percentiles.
func stormRatio(t *testing.T, h *house, probe *probe, stormCodes, stormEvents int, stormFor time.Duration) float64 {
	t.Helper()
	calm := probe.measure(20 * time.Second)
	storming, stop := context.WithCancel(t.Context())
	defer stop()
	stormed := make(chan int, 1)
	go func() { stormed <- h.storm(storming, stormCodes, stormEvents, stormFor) }()
	during := probe.measure(stormFor)
	sent := <-stormed
	ratio := float64(during.q(0.95)) / float64(calm.q(0.95))
	t.Logf("calm p50 %v p95 %v (%d pushes); during a storm of %d events p50 %v p95 %v (%d pushes); ratio of p95 %.2f",
		calm.q(0.5), calm.q(0.95), len(calm), sent, during.q(0.5), during.q(0.95), len(during), ratio)
	return ratio
}

func scaledLimits() *limits.Config {
	w := []limits.Window{{Calls: 300, Length: 6 * time.Second, Block: 6 * time.Second}, {Calls: 1500, Length: time.Minute, Block: time.Minute}}
	return &limits.Config{Corp: w}
}

func scaleBudget(h *house) {
	b := &h.cfg.Budget
	b.Minute, b.Hour = 6*time.Second, time.Minute
	b.TenantPerMinute, b.TenantPerHour, b.TenantBurst = 300, 1500, 120
}

// storm publishes events for the storm tenant's codes, spread over d, while
// its staff come and go.
func (h *house) storm(ctx context.Context, codes, events int, d time.Duration) int {
	const beat = 10 * time.Millisecond
	tick := time.NewTicker(beat)
	defer tick.Stop()
	sent := 0
	for perBeat := max(1, events*int(beat)/int(d)); sent < events; {
		select {
		case <-ctx.Done():
			return sent
		case <-tick.C:
		}
		if (sent/perBeat)%200 == 0 { // every two seconds
			h.comeOrGo(ctx, (sent/perBeat)%400 == 0)
		}
		for range perBeat {
			h.producer.PublishAsync(ctx, event("storm", fmt.Sprintf("storm-c%d", sent%codes)), func(err error) {
				if err != nil && ctx.Err() == nil {
					h.Errorf("storm: %v", err)
				}
			})
			sent++
		}
	}
	return sent
}

func (h *house) comeOrGo(ctx context.Context, comes bool) {
	presence := roster.OfflineNow
	if comes {
		presence = roster.Online
	}
	if err := h.db.Facts().SetPresence(ctx, "storm", "ann", presence); err != nil && ctx.Err() == nil {
		h.Errorf("storm: %v", err)
	}
}

// TestRemovalGoesFirstWhenTheWindowIsExhausted fills a tenant's budget with
// additions and then takes somebody off a code.
func TestRemovalGoesFirstWhenTheWindowIsExhausted(t *testing.T) {
	h := newHouse(t, wecomsim.Options{Limits: scaledLimits()})
	scaleBudget(h)
	h.tenant("acme", "ann", "bob", "cyd")
	for j := range 400 {
		h.code(roster.Code{ID: fmt.Sprintf("c%d", j), Tenant: "acme"}, "ann")
	}
	h.code(roster.Code{ID: "urgent", Tenant: "acme", Switches: roster.Switches{OfflineCheck: true}}, "bob", "cyd")
	h.refresher("r1")
	h.publish("acme", "urgent")
	eventually(t, 20*time.Second, "the code has its first list", func() bool { return len(h.listed("acme", "urgent")) == 2 })
	for j := range 400 {
		h.publish("acme", fmt.Sprintf("c%d", j))
	}
	eventually(t, 30*time.Second, "additions have to wait", func() bool { return h.backlog() > 100 && h.sim.Counters().Of("update_contact_way", 0) > 120 })
	h.must(h.db.Facts().SetPresence(t.Context(), "acme", "bob", roster.OfflineNow))
	began := time.Now()
	h.publish("acme", "urgent")
	eventually(t, 10*time.Second, "bob is off the list", func() bool { return slices.Equal(h.listed("acme", "urgent"), []string{"cyd"}) })
	took := time.Since(began)
	t.Logf("the removal went after %v, with %d codes waiting", took, h.backlog())
	if took > 2*time.Second {
		t.Errorf("the removal took %v; want 2 s at most", took)
	}
	if h.backlog() < 50 {
		t.Error("nothing was waiting any more: the test proves nothing")
	}
}

// TestParkedCodeComesBack lets a tenant's wait exceed what is held.
func TestParkedCodeComesBack(t *testing.T) {
	h := newHouse(t, wecomsim.Options{Limits: scaledLimits()})
	scaleBudget(h)
	h.cfg.Refresher.ParkAfter, h.cfg.Refresher.MaxHold = 3*time.Second, time.Second
	h.tenant("acme", "ann")
	const codes = 300
	for j := range codes {
		h.code(roster.Code{ID: fmt.Sprintf("c%d", j), Tenant: "acme"}, "ann")
	}
	h.refresher("r1")
	keeper := h.cfg
	h.run("keeper", func(ctx context.Context) error { return service.RunKeeper(ctx, keeper, "test") })
	for j := range codes {
		h.publish("acme", fmt.Sprintf("c%d", j))
	}
	parked := false
	eventually(t, 60*time.Second, "every code has its list", func() bool {
		entries, err := h.db.Dirty().List(t.Context(), push.Ref{}, 1000)
		h.must(err)
		parked = parked || len(entries) > 0
		if h.backlog() != 0 || len(entries) > 0 {
			return false
		}
		for j := range codes {
			if !slices.Equal(h.listed("acme", fmt.Sprintf("c%d", j)), []string{"ann"}) {
				return false
			}
		}
		return true
	})
	if !parked {
		t.Error("nothing was ever parked: the test proves nothing")
	}
	if n := h.sim.Counters().Of("update_contact_way", 0); n > codes*105/100 {
		t.Errorf("%d pushes for %d codes; want at most 1.05 each", n, codes)
	}
}
