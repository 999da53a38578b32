package contactway_test

import (
	"context"
	"errors"
	"iter"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/contactway"
	"github.com/rollcall-dev/rollcall/internal/contactway/waytest"
	"github.com/rollcall-dev/rollcall/internal/publish"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

var acme = push.Ref{Tenant: "acme", Code: "booth"}

// world is a store, WeCom and a clock, and what was announced and observed.
type world struct {
	mu        sync.Mutex
	now       time.Time
	store     *waytest.Store
	vendor    *waytest.Vendor
	announced int
	events    map[contactway.Event]int
}

func newWorld() *world {
	w := &world{
		now: time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC), store: waytest.NewStore(),
		events: map[contactway.Event]int{},
	}
	w.vendor = waytest.NewVendor(w.clock)
	w.store.PutFacts(facts(nil))
	// What else the company has at WeCom, made at the same time.
	for _, remark := range []string{"", "their own", "rollcallers' desk"} {
		w.vendor.Put(contactway.Way{ConfigID: "theirs " + remark, Kind: contactway.Multi, Remark: remark, State: "booth-7"})
	}
	return w
}

func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

func (w *world) WayEvent(_ context.Context, _ contactway.Kind, event contactway.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events[event]++
}

func (w *world) Refresh(context.Context, push.Ref, string) (publish.Place, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.announced++
	return publish.Broker, nil
}

// facts are those of the code acme, changed.
func facts(change func(*roster.Facts)) roster.Facts {
	f := roster.Facts{
		Tenant: roster.Tenant{ID: acme.Tenant, TimeZone: "Asia/Shanghai"},
		Code: roster.Code{
			ID: acme.Code, Tenant: acme.Tenant, Family: roster.Sequenced, State: "booth-7", Remark: "our booth", SkipVerify: true,
			Members: []roster.Member{{Staff: "amy"}, {Staff: "bob"}},
		},
		Staff: map[string]roster.Staff{"amy": {ID: "amy"}, "bob": {ID: "bob"}},
	}
	if change != nil {
		change(&f)
	}
	return f
}

// maker is a process that never dies.
func (w *world) maker() *contactway.Maker { return w.process(&process{}) }

// process is a Maker whose every operation passes through p.
func (w *world) process(p *process) *contactway.Maker {
	p.world = w
	return contactway.NewMaker(contactway.Ports{
		Vendor: vendorOf{p, w.vendor}, Rows: rowsOf{p, w.store}, Codes: codesOf{p, w.store},
		Announcer: announcerOf{p}, Observer: w,
	}, contactway.Options{Owner: "p", Now: w.clock, Patience: time.Millisecond})
}

// settle sweeps with a process of its own until nothing is left to do.
func (w *world) settle(t *testing.T) {
	t.Helper()
	m := w.maker()
	for range 40 {
		if _, err := m.Sweep(t.Context()); err != nil {
			t.Fatalf("Sweep: %v", err)
		}
		if !w.unsettled() {
			return
		}
		w.pass(time.Minute)
	}
	t.Fatalf("not settled: %+v", w.store.Rows())
}

func (w *world) unsettled() bool {
	for _, row := range w.store.Rows() {
		if !row.Settled() {
			return true
		}
	}
	return false
}

// ours are the contact ways that carry a marker.
func (w *world) ours() []contactway.Way {
	var ways []contactway.Way
	for _, way := range w.vendor.Ways() {
		if strings.HasPrefix(way.Remark, "rollcall:") {
			ways = append(ways, way)
		}
	}
	return ways
}

// wantOne fails the test unless WeCom has exactly one contact way for the code
// and the code has it.
func (w *world) wantOne(t *testing.T) {
	t.Helper()
	held, err := w.store.Held(t.Context(), acme)
	if err != nil {
		t.Fatal(err)
	}
	ways := w.ours()
	if len(ways) != 1 || ways[0].ConfigID != held.ConfigID || ways[0].QRCode != held.QRCode {
		t.Errorf("the code has %+v, WeCom has %+v", held, ways)
	}
	if len(w.store.Rows()) != 0 {
		t.Errorf("rows are left: %+v", w.store.Rows())
	}
	if w.announced == 0 {
		t.Error("the code was not announced")
	}
}

// process dies at an operation, or pauses before it, as told.
type process struct {
	world *world
	// dieAt is the operation (from 1) at which it dies; 0: never.
	dieAt int
	// applied: the operation at which it dies takes effect.
	applied bool
	// before runs ahead of each operation, and with sees its context then.
	before func(op string)
	with   func(ctx context.Context, op string)

	mu   sync.Mutex
	done int
	dead bool
}

var errDead = errors.New("the process is dead")

// do runs one operation.
func (p *process) do(ctx context.Context, op string, run func() error) error {
	p.mu.Lock()
	p.done++
	dies := p.done == p.dieAt
	p.dead = p.dead || dies
	dead := p.dead
	p.mu.Unlock()
	if dead && (!dies || !p.applied) {
		return errDead
	}
	if p.before != nil {
		p.before(op)
	}
	if p.with != nil {
		p.with(ctx, op)
	}
	err := run()
	if dies {
		return errDead
	}
	return err
}

type vendorOf struct {
	*process
	to *waytest.Vendor
}

func (v vendorOf) Add(ctx context.Context, tenant string, order contactway.Order) (way contactway.Way, err error) {
	err = v.do(ctx, "vendor.add", func() error { way, err = v.to.Add(ctx, tenant, order); return err })
	return way, err
}

func (v vendorOf) Get(ctx context.Context, tenant, configID string) (way contactway.Way, there bool, err error) {
	err = v.do(ctx, "vendor.get", func() error { way, there, err = v.to.Get(ctx, tenant, configID); return err })
	return way, there, err
}

func (v vendorOf) Delete(ctx context.Context, tenant, configID string) error {
	return v.do(ctx, "vendor.delete", func() error { return v.to.Delete(ctx, tenant, configID) })
}

func (v vendorOf) List(ctx context.Context, tenant string, made contactway.Window) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		if err := v.do(ctx, "vendor.list", func() error { return nil }); err != nil {
			yield("", err)
			return
		}
		v.to.List(ctx, tenant, made)(yield)
	}
}

type rowsOf struct {
	*process
	to *waytest.Store
}

func (r rowsOf) Get(ctx context.Context, key contactway.Key) (row contactway.Row, found bool, err error) {
	err = r.do(ctx, "rows.get", func() error { row, found, err = r.to.Get(ctx, key); return err })
	return row, found, err
}

func (r rowsOf) Insert(ctx context.Context, row contactway.Row) (ok bool, err error) {
	err = r.do(ctx, "rows.insert", func() error { ok, err = r.to.Insert(ctx, row); return err })
	return ok, err
}

func (r rowsOf) Replace(ctx context.Context, row contactway.Row) (ok bool, err error) {
	err = r.do(ctx, "rows.replace", func() error { ok, err = r.to.Replace(ctx, row); return err })
	return ok, err
}

func (r rowsOf) Remove(ctx context.Context, row contactway.Row) (ok bool, err error) {
	err = r.do(ctx, "rows.remove", func() error { ok, err = r.to.Remove(ctx, row); return err })
	return ok, err
}

func (r rowsOf) DueTenants(ctx context.Context, now time.Time) (tenants []string, err error) {
	err = r.do(ctx, "rows.tenants", func() error { tenants, err = r.to.DueTenants(ctx, now); return err })
	return tenants, err
}

func (r rowsOf) Due(ctx context.Context, tenant string, now time.Time, limit int) (rows []contactway.Row, err error) {
	err = r.do(ctx, "rows.due", func() error { rows, err = r.to.Due(ctx, tenant, now, limit); return err })
	return rows, err
}

type codesOf struct {
	*process
	to *waytest.Store
}

func (c codesOf) Facts(ctx context.Context, ref push.Ref) (facts roster.Facts, err error) {
	err = c.do(ctx, "codes.facts", func() error { facts, err = c.to.Facts(ctx, ref); return err })
	return facts, err
}

func (c codesOf) Held(ctx context.Context, ref push.Ref) (held contactway.Held, err error) {
	err = c.do(ctx, "codes.held", func() error { held, err = c.to.Held(ctx, ref); return err })
	return held, err
}

func (c codesOf) Give(ctx context.Context, ref push.Ref, way contactway.Way) (given bool, err error) {
	err = c.do(ctx, "codes.give", func() error { given, err = c.to.Give(ctx, ref, way); return err })
	return given, err
}

func (c codesOf) HolderOf(ctx context.Context, tenant, configID string) (code string, err error) {
	err = c.do(ctx, "codes.holder", func() error { code, err = c.to.HolderOf(ctx, tenant, configID); return err })
	return code, err
}

type announcerOf struct{ *process }

func (a announcerOf) Refresh(ctx context.Context, ref push.Ref, why string) (place publish.Place, err error) {
	err = a.do(ctx, "announce", func() error { place, err = a.world.Refresh(ctx, ref, why); return err })
	return place, err
}
