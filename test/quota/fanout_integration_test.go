//go:build integration

package quota

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/fanout"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/test/await"
	"github.com/rollcall-dev/rollcall/test/fleet"
)

// Limits under which a fan-out is released at some 480 codes a second.
var quick = []string{
	"ROLLCALL_BUDGET_TENANT_PER_MINUTE=30000", "ROLLCALL_BUDGET_TENANT_PER_HOUR=1800000", "ROLLCALL_BUDGET_TENANT_BURST=100",
	"ROLLCALL_BUDGET_IP_PER_MINUTE=60000", "ROLLCALL_BUDGET_IP_PER_HOUR=3600000", "ROLLCALL_BUDGET_IP_BURST=200",
	"ROLLCALL_INGRESS_FAN_OUT_BURST=100", "ROLLCALL_KEEPER_LEASE_TTL=1s", "ROLLCALL_KEEPER_LEASE_RENEW=300ms",
}

// A member of 5 000 codes resigns, and comes back while his fan-out is on its
// way, while ingress and keeper are killed again and again. Each code is
// published by the newer fan-out, none by the older one once the newer one has
// begun, and progress never goes back.
func TestAFanOutIsCompletedWhoeverDies(t *testing.T) {
	kills := 2
	if *full {
		kills = 5
	}
	const codes = 5_000
	h := newHouse(t, quick...)
	h.seedMember(codes)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	ingress, keeper := h.start("ingress"), h.start("keeper")
	w := newWeCom(h.codecs)
	w.joined(ingress.URL())

	begun := time.Now()
	at := begun.Add(-time.Minute).Truncate(time.Second)
	h.must(w.tell(ctx, told{tenant: "acme", event: "change_contact", change: "delete_user", staff: "zhang", at: at}))
	p := h.watchProgress(ctx, "acme/zhang")
	p.await(t, 1, 600)
	h.must(w.tell(ctx, told{tenant: "acme", event: "change_contact", change: "update_user", staff: "zhang", at: at.Add(time.Second), more: "<Status>1</Status>"}))
	for i := range kills {
		p.await(t, 2, 300+i*codes/(2*kills))
		w.left(ingress.URL())
		h.must(h.fleet.Kill(ingress))
		ingress = h.start("ingress")
		w.joined(ingress.URL())
		p.await(t, 2, 300+i*codes/(2*kills)+codes/(4*kills))
		h.must(h.fleet.Kill(keeper))
		keeper = h.start("keeper")
	}
	p.await(t, 2, codes)
	job := p.done(t)
	took := time.Since(begun)

	// The last events are with the broker, and whoever reads the topic is behind it.
	await.Until(t, 20*time.Second, 50*time.Millisecond, "each code is on the topic", func() bool {
		_, newer := h.perEpoch()
		return len(newer.codes) >= codes
	})
	older, newer := h.perEpoch()
	if len(newer.codes) != codes {
		t.Errorf("%d codes were published by the newer fan-out, want %d", len(newer.codes), codes)
	}
	if older.last > newer.first {
		t.Errorf("the older fan-out published event %d, after the newer one's first, %d", older.last, newer.first)
	}
	if job.Released != codes || job.Total != codes {
		t.Errorf("the fan-out ended at %d of %d codes, want %d", job.Released, job.Total, codes)
	}
	t.Logf("%d codes, superseded after %d events; %d ingresses and %d keepers killed; %.1f s; %d events for %d codes (%d again); progress seen %d times, never back",
		codes, older.events, kills, kills, took.Seconds(), newer.events, len(newer.codes), newer.events-len(newer.codes), p.seen())
}

func (h *house) start(role string) *fleet.Member {
	h.Helper()
	m, err := h.fleet.Start(h.Context(), role)
	h.must(err)
	return m
}

// seedMember stores a member with so many codes, on half of them as a backup.
func (h *house) seedMember(codes int) {
	h.Helper()
	h.addTenant(roster.Tenant{ID: "acme"})
	h.must(h.db.Facts().PutStaff(h.Context(), "acme", roster.Staff{ID: "zhang"}, roster.Staff{ID: "li"}))
	var all []roster.Code
	for i := range codes {
		code := roster.Code{
			ID: fmt.Sprintf("c%05d", i), Tenant: "acme", ConfigID: "cfg", Family: roster.Native, Revision: 1,
			Members: []roster.Member{{Staff: "li"}}, Backups: []string{"zhang"},
		}
		if i%2 == 0 {
			code.Members = append(code.Members, roster.Member{Staff: "zhang"})
		}
		all = append(all, code)
	}
	// Those of others are left alone.
	all = append(all, roster.Code{ID: "other", Tenant: "acme", ConfigID: "cfg", Family: roster.Native, Members: []roster.Member{{Staff: "li"}}})
	h.must(h.db.Facts().PutCodes(h.Context(), all...))
}

// progress is a fan-out as a person watches it.
type progress struct {
	mu   sync.Mutex
	last fanout.Job
	n    int
}

// watchProgress looks at a fan-out all the time and fails when it goes back.
func (h *house) watchProgress(ctx context.Context, id string) *progress {
	p := &progress{}
	ctx, stop := context.WithCancel(ctx)
	var watching sync.WaitGroup
	watching.Go(func() {
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			job, found, err := h.db.FanOuts().Job(ctx, id)
			if err != nil || !found {
				continue
			}
			if back := p.note(job); back != "" {
				h.Errorf("progress went back: %s", back)
			}
		}
	})
	h.Cleanup(func() { stop(); watching.Wait() })
	return p
}

func (p *progress) note(job fanout.Job) (back string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := p.last
	p.last = job
	p.n++
	if job.Epoch < before.Epoch || (job.Epoch == before.Epoch && (job.Released < before.Released || job.Total < before.Total)) {
		return fmt.Sprintf("epoch %d, %d of %d, after epoch %d, %d of %d", job.Epoch, job.Released, job.Total, before.Epoch, before.Released, before.Total)
	}
	return ""
}

func (p *progress) now() fanout.Job {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last
}

func (p *progress) seen() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.n
}

func (p *progress) await(t *testing.T, epoch int64, released int) {
	t.Helper()
	await.Until(t, time.Minute, 5*time.Millisecond, fmt.Sprintf("epoch %d at %d codes", epoch, released), func() bool {
		job := p.now()
		return job.Epoch > epoch || (job.Epoch == epoch && job.Released >= released)
	})
}

func (p *progress) done(t *testing.T) fanout.Job {
	t.Helper()
	await.Until(t, time.Minute, 5*time.Millisecond, "the fan-out is done", func() bool { return p.now().State == fanout.Done })
	return p.now()
}

// epochs is what was published by one fan-out.
type epoch struct {
	codes       map[string]bool
	events      int
	first, last int // places on the topic
}

// perEpoch tells the events of the two fan-outs apart by their reason.
func (h *house) perEpoch() (older, newer epoch) {
	h.Helper()
	byReason := map[string]*epoch{}
	for i, e := range h.published() {
		of := byReason[e.Reason]
		if of == nil {
			of = &epoch{codes: map[string]bool{}, first: i}
			byReason[e.Reason] = of
		}
		of.codes[e.Code] = true
		of.events++
		of.last = i
	}
	reasons := []string{"resigned", "staff_changed"}
	for reason := range byReason {
		if !slices.Contains(reasons, reason) {
			h.Errorf("events of reason %q were published", reason)
		}
	}
	if byReason[reasons[0]] == nil || byReason[reasons[1]] == nil {
		h.Fatalf("one of the fan-outs published nothing: %d events", len(h.published()))
	}
	return *byReason[reasons[0]], *byReason[reasons[1]]
}
