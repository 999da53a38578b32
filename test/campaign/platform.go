package campaign

import (
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/wecomcrypto"
	"github.com/rollcall-dev/rollcall/pkg/refresh"
)

// platform is the producer: it writes facts to the store and publishes the
// reason afterwards. One writer a tenant keeps store and truth in one order.
type platform struct {
	facts    *mongostore.Facts
	store    *mongostore.Store
	producer *refresh.Producer
	truths   map[string]*truth
	writers  map[string]*sync.Mutex
	tally    *tally
	codec    map[string]*wecomcrypto.Codec
	log      *slog.Logger
	pending  sync.WaitGroup

	mu     sync.Mutex
	seen   map[string]struct{} // customers counted
	failed error
}

func newPlatform(db *mongostore.Database, producer *refresh.Producer, plans []tenantPlan, t *tally, log *slog.Logger) *platform {
	p := &platform{
		facts: db.Facts(), store: db.Store(), producer: producer, truths: map[string]*truth{}, writers: map[string]*sync.Mutex{}, tally: t,
		codec: map[string]*wecomcrypto.Codec{}, log: log, seen: map[string]struct{}{},
	}
	for _, plan := range plans {
		p.truths[plan.tenant.ID] = newTruth(plan, t)
		p.writers[plan.tenant.ID] = &sync.Mutex{}
	}
	return p
}

// write changes facts: in the truth, then in the store, and publishes for
// every code touched.
func (p *platform) write(ctx context.Context, tenant, why string, edit func(*truth) []string, store func(context.Context) error) {
	ctx = context.WithoutCancel(ctx) // a write that was begun is finished, and published
	p.writers[tenant].Lock()
	defer p.writers[tenant].Unlock()
	tr := p.truths[tenant]
	change := tr.change(time.Now(), func() []string { return edit(tr) })
	if err := store(ctx); err != nil {
		p.fail(fmt.Errorf("write the fact of %s for %s: %w", why, tenant, err))
		return
	}
	p.advance(ctx, tenant, change.advanced)
	for _, code := range change.touched {
		p.publish(ctx, tenant, code, why)
	}
}

// advance ends the rotation rounds that are over. A refresher would do the
// same; done here, before another addition, store and truth agree on the round
// in which an addition counts.
func (p *platform) advance(ctx context.Context, tenant string, rounds map[string]int64) {
	for code, round := range rounds {
		if _, err := p.store.AdvanceRound(ctx, push.Ref{Tenant: tenant, Code: code}, round); err != nil {
			p.fail(fmt.Errorf("advance the round of %s: %w", code, err))
		}
	}
}

func (p *platform) publish(ctx context.Context, tenant, code, why string) {
	event := refresh.Event{Tenant: tenant, Code: code, Reason: why, OccurredAt: time.Now()}
	p.pending.Add(1)
	p.producer.PublishAsync(ctx, event, func(err error) {
		defer p.pending.Done()
		if err != nil {
			p.fail(fmt.Errorf("publish %s for %s: %w", why, code, err))
			return
		}
		p.tally.publishedOne()
	})
}

// fail keeps the first failure of the platform itself: the run is void then.
func (p *platform) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failed == nil {
		p.failed = err
		p.log.Error("the platform failed; the run is void", "error", err)
	}
}

func (p *platform) failure() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failed
}

func (p *platform) setPresence(ctx context.Context, tenant, staff string, presence roster.Presence) {
	p.write(ctx, tenant, "staff_"+string(presence), func(tr *truth) []string {
		s := tr.staff[staff]
		s.Presence = presence
		tr.staff[staff] = s
		return tr.sits[staff]
	}, func(ctx context.Context) error { return p.facts.SetPresence(ctx, tenant, staff, presence) })
}

// editMembers replaces the members of a code.
func (p *platform) editMembers(ctx context.Context, tenant, code string, members []roster.Member) {
	p.write(ctx, tenant, "code_edited", func(tr *truth) []string {
		c := tr.codes[code]
		c.code.Members = members
		c.code.Revision++
		tr.seat(c.code)
		return []string{code}
	}, func(ctx context.Context) error {
		return p.facts.EditCode(ctx, push.Ref{Tenant: tenant, Code: code}, mongostore.CodeEdit{Members: &members})
	})
}

// shiftsTurned publishes the codes whose schedule has just changed somebody.
func (p *platform) shiftsTurned(ctx context.Context) {
	for tenant := range p.truths {
		p.write(ctx, tenant, "shift_turned", func(tr *truth) []string {
			var touched []string
			for staff, s := range tr.staff {
				if s.Schedule != nil {
					touched = append(touched, tr.sits[staff]...)
				}
			}
			return touched
		}, func(context.Context) error { return nil })
	}
}

// addition counts a customer once, however often WeCom tells of him.
func (p *platform) addition(ctx context.Context, tenant, code, staff, customer string) error {
	p.mu.Lock()
	_, again := p.seen[customer]
	p.seen[customer] = struct{}{}
	p.mu.Unlock()
	if again {
		return nil
	}
	day := roster.DayOf(time.Now(), shanghai)
	p.write(ctx, tenant, "addition", func(tr *truth) []string {
		tr.count(code, staff, day)
		if total := tr.tenant.DailyTotal; total > 0 && tr.staff[staff].Added[day] >= total {
			return tr.sits[staff] // at the company's ceiling: off every code
		}
		return []string{code}
	}, func(ctx context.Context) error {
		return p.facts.CountAddition(ctx, mongostore.Addition{Ref: push.Ref{Tenant: tenant, Code: code}, Staff: staff, Day: day})
	})
	return p.failure()
}

var shanghai = time.FixedZone("Asia/Shanghai", 8*60*60)

// callback is the part of WeCom's event that the platform reads.
type callback struct {
	ChangeType     string
	UserID         string
	ExternalUserID string
	State          string
}

// maxCallback bounds the body of a callback.
const maxCallback = 64 << 10

// ServeHTTP takes WeCom's callbacks at /callback/TENANT.
func (p *platform) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	tenant := strings.TrimPrefix(r.URL.Path, "/callback/")
	codec, known := p.codec[tenant]
	if !known {
		http.NotFound(w, r)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxCallback))
	if err != nil {
		http.Error(w, "body", http.StatusBadRequest)
		return
	}
	plain, err := codec.Open(wecomcrypto.StampOf(r.URL.Query()), body)
	if err != nil {
		http.Error(w, "refused", http.StatusForbidden)
		return
	}
	var event callback
	if err := xml.Unmarshal(plain, &event); err != nil {
		http.Error(w, "xml", http.StatusBadRequest)
		return
	}
	if event.ChangeType != "add_external_contact" {
		return
	}
	if err := p.addition(r.Context(), tenant, event.State, event.UserID, event.ExternalUserID); err != nil {
		w.WriteHeader(http.StatusInternalServerError)
	}
}
