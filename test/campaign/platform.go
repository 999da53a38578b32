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
)

// platform is the companies' side: it changes facts through Rollcall's API, and
// stands in the way of WeCom's callbacks to know the truth before Rollcall does.
// One writer a tenant keeps the facts and the truth in one order.
type platform struct {
	api     *api
	store   *mongostore.Store
	truths  map[string]*truth
	writers map[string]*sync.Mutex
	codec   map[string]*wecomcrypto.Codec
	log     *slog.Logger

	mu     sync.Mutex
	seen   map[string]struct{} // customers counted
	failed error
}

func newPlatform(db *mongostore.Database, plans []tenantPlan, t *tally, log *slog.Logger) *platform {
	p := &platform{
		store: db.Store(), truths: map[string]*truth{}, writers: map[string]*sync.Mutex{},
		codec: map[string]*wecomcrypto.Codec{}, log: log, seen: map[string]struct{}{},
	}
	for _, plan := range plans {
		p.truths[plan.tenant.ID] = newTruth(plan, t)
		p.writers[plan.tenant.ID] = &sync.Mutex{}
	}
	return p
}

// write changes facts: in the truth, then in Rollcall.
func (p *platform) write(ctx context.Context, tenant, why string, edit func(*truth) []string, tell func(context.Context) error) {
	ctx = context.WithoutCancel(ctx) // a write that was begun is finished
	p.writers[tenant].Lock()
	defer p.writers[tenant].Unlock()
	tr := p.truths[tenant]
	change := tr.change(time.Now(), func() []string { return edit(tr) })
	if err := tell(ctx); err != nil {
		p.fail(fmt.Errorf("%s of %s: %w", why, tenant, err))
		return
	}
	p.advance(ctx, tenant, change.advanced)
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
	}, func(ctx context.Context) error {
		return p.api.put(ctx, pathOf("v1", "tenants", tenant, "staff", staff, "presence"), map[string]string{"presence": string(presence)})
	})
}

// editMembers replaces the members of a code.
func (p *platform) editMembers(ctx context.Context, tenant, code string, members []roster.Member) {
	var edited roster.Code
	p.write(ctx, tenant, "code_edited", func(tr *truth) []string {
		c := tr.codes[code]
		c.code.Members = members
		c.code.Revision++
		tr.seat(c.code)
		edited = c.code
		return []string{code}
	}, func(ctx context.Context) error {
		return p.api.put(ctx, pathOf("v1", "tenants", tenant, "codes", code), factsOfCode(edited))
	})
}

// shiftsTurned looks at the codes whose schedule has just changed somebody.
// Nobody says so: Rollcall's keeper knows by itself.
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

// callback is the part of WeCom's event that the truth needs.
type callback struct {
	ChangeType     string
	UserID         string
	ExternalUserID string
	State          string
}

// maxCallback bounds the body of a callback.
const maxCallback = 64 << 10

// ServeHTTP passes WeCom's callbacks at /callback/TENANT on to Rollcall, as they
// are, and counts each addition in the truth before.
func (p *platform) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet { // WeCom checks the URL
		text, err := p.api.call(r.Context(), http.MethodGet, r.URL.RequestURI(), "", nil)
		if err != nil {
			p.fail(fmt.Errorf("check a callback URL: %w", err))
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		_, _ = w.Write(text)
		return
	}
	tenant := strings.TrimPrefix(r.URL.Path, "/callback/")
	codec, known := p.codec[tenant]
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxCallback))
	if !known || err != nil {
		http.NotFound(w, r)
		return
	}
	var event callback
	plain, err := codec.Open(wecomcrypto.StampOf(r.URL.Query()), body)
	if err == nil {
		err = xml.Unmarshal(plain, &event)
	}
	if err != nil {
		p.fail(fmt.Errorf("read a callback of the simulator: %w", err))
		http.Error(w, "callback", http.StatusBadRequest)
		return
	}
	failed := p.failure()
	p.write(r.Context(), tenant, event.ChangeType, func(tr *truth) []string { return p.count(tr, event) },
		func(ctx context.Context) error {
			_, err := p.api.call(ctx, http.MethodPost, r.URL.RequestURI(), "text/xml", body)
			return err
		})
	if failed == nil && p.failure() != nil {
		p.log.Warn("a callback was not taken", "tenant", tenant)
		w.WriteHeader(http.StatusServiceUnavailable)
	}
}

// count notes an addition once, however often and in whatever halves WeCom
// tells of it, and returns the codes that it concerns.
func (p *platform) count(tr *truth, event callback) []string {
	p.mu.Lock()
	_, again := p.seen[event.ExternalUserID]
	p.seen[event.ExternalUserID] = struct{}{}
	p.mu.Unlock()
	if again {
		return nil
	}
	day := roster.DayOf(time.Now(), shanghai)
	tr.count(event.State, event.UserID, event.ExternalUserID, day)
	if total := tr.tenant.DailyTotal; total > 0 && tr.staff[event.UserID].Added[day] >= total {
		return tr.sits[event.UserID] // at the company's ceiling: off every code
	}
	return []string{event.State}
}

var shanghai = time.FixedZone("Asia/Shanghai", 8*60*60)
