//go:build integration

package e2e_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/pulsar-client-go/pulsar"
	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/redis/go-redis/v9"

	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/adapter/redisrotation"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/service"
	"github.com/rollcall-dev/rollcall/internal/wecomsim"
	"github.com/rollcall-dev/rollcall/internal/wecomsim/ledger"
	"github.com/rollcall-dev/rollcall/test/stack/stacktest"
)

// The backstop's rhythm in these tests: what takes minutes and hours in
// production takes seconds here.
const (
	auditBound = 2 * time.Second
	auditEvery = 2 * time.Second
)

// watchful sets the backstop to that rhythm, and has it ask WeCom about every
// code.
func (h *house) watchful() {
	h.cfg.Audit.Bound, h.cfg.Audit.Every, h.cfg.Audit.Rate, h.cfg.Audit.Chunk = auditBound, auditEvery, 2000, 50
	h.cfg.Spot.Share, h.cfg.Spot.Settle = 1, 100*time.Millisecond
	h.cfg.Refresher.ParkAfter, h.cfg.Refresher.MaxHold = time.Second, time.Second // a released code is given up on after these
}

// seededFault is something that no event follows.
type seededFault struct {
	name   string
	family roster.Family
	// seed does the damage to a code whose list is ann and its own staff member.
	seed func(h *house, code, own string)
	// finder is the part that is to find it, by the reason it gives.
	finder string
	why    reason.Reason
	// want is the list that WeCom holds in the end.
	want []string
}

// A fault that no event follows is found by the part that should find it, and
// mended.
func TestWhatNoEventFollowsIsFoundAndMended(t *testing.T) {
	h := newHouse(t, wecomsim.Options{})
	h.watchful()
	var buggy atomic.Bool
	faults := []seededFault{
		{"a lost event", roster.Native, func(h *house, _, own string) { h.goes(own) }, "audit", reason.Stale, []string{"ann"}},
		{"a lost dead letter", roster.Native, func(h *house, code, own string) { h.goes(own); h.poison(code) }, "audit", reason.Stale, []string{"ann"}},
		{"a record that lies about its list", roster.Native, (*house).garble, "audit", reason.RecordLies, []string{"ann", "own"}},
		{"a record that claims a push that never was", roster.Native, (*house).claim, "spot check", reason.ForeignEdit, []string{"ann"}},
		{"a foreign edit at WeCom", roster.Native, func(h *house, code, _ string) { h.edit(code, "mallory") }, "spot check", reason.ForeignEdit, []string{"ann", "own"}},
		{"a recompute that is wrong", roster.Native, func(h *house, code, own string) { buggy.Store(true); h.goes(own); h.publish("acme", code) }, "audit", reason.Stale, []string{"ann"}},
		{"a wiped rotation set", roster.Sequenced, func(h *house, code, _ string) { h.wipe(code) }, "audit", reason.SetMissing, []string{"ann", "own"}},
	}
	h.tenant("acme", "ann")
	for i, f := range faults {
		own := fmt.Sprint("own-", i)
		h.must(h.db.Facts().PutStaff(t.Context(), "acme", roster.Staff{ID: own, Presence: roster.Online}))
		h.code(roster.Code{ID: fmt.Sprint("c", i), Tenant: "acme", Family: f.family, Switches: roster.Switches{OfflineCheck: true}}, "ann", own)
	}
	cfg := h.cfg
	h.run("refresher", func(ctx context.Context) error {
		return service.RunRefresher(ctx, cfg, "test", service.Seams{Store: func(s push.Store) push.Store { return forgetful{s, &buggy, "own-5"} }})
	})
	for i := range faults {
		h.publish("acme", fmt.Sprint("c", i))
	}
	eventually(t, 30*time.Second, "the first lists are at WeCom", func() bool {
		for i := range faults {
			if len(h.listed("acme", fmt.Sprint("c", i))) != 2 {
				return false
			}
		}
		return h.backlog() == 0
	})
	for i, f := range faults {
		f.seed(h, fmt.Sprint("c", i), fmt.Sprint("own-", i))
	}
	eventually(t, 30*time.Second, "the events of the seeding are done with", func() bool { return h.backlog() == 0 })
	before := h.calls("get_contact_way")
	seeded := time.Now()
	h.run("keeper", func(ctx context.Context) error { return service.RunKeeper(ctx, cfg, "test") })

	found, mended := make([]time.Duration, len(faults)), make([]time.Duration, len(faults))
	eventually(t, 60*time.Second, "every fault is found", func() bool {
		all := true
		for i, f := range faults {
			if found[i] == 0 && h.foundBy(fmt.Sprint("c", i), f) {
				found[i] = time.Since(seeded)
			}
			all = all && found[i] != 0
		}
		return all
	})
	buggy.Store(false) // somebody has mended the code; the data mends itself
	eventually(t, 60*time.Second, "every fault is mended", func() bool {
		all := true
		for i, f := range faults {
			if mended[i] == 0 && h.mendedIs(i, f) {
				mended[i] = time.Since(seeded)
			}
			all = all && mended[i] != 0
		}
		return all
	})
	h.wantNothingDirty()
	gets := h.calls("get_contact_way") - before
	out := table.NewWriter()
	out.SetStyle(table.StyleLight)
	out.AppendHeader(table.Row{"fault that no event follows", "found by", "as", "found after", "right after"})
	bySpot := 0
	for i, f := range faults {
		out.AppendRow(table.Row{f.name, f.finder, f.why, found[i].Round(time.Millisecond), mended[i].Round(time.Millisecond)})
		if f.finder == "spot check" {
			bySpot++
		}
	}
	t.Logf("\n%s\nthe bound is %v, a pass every %v, every code is asked about in each\nvendor calls to find the %d faults of the audit: 0; of the spot check, for %d faults: %d get_contact_way in %v",
		out.Render(), auditBound, auditEvery, len(faults)-bySpot, bySpot, gets, time.Since(seeded).Round(time.Second))
}

// wantNothingDirty waits until every dirty code agrees with its facts.
func (h *house) wantNothingDirty() {
	h.Helper()
	var left []mongostore.DirtyEntry
	defer func() {
		for _, e := range left {
			h.Logf("still dirty: %+v", e)
		}
	}()
	eventually(h.T, 60*time.Second, "the dirty set is empty", func() bool {
		var err error
		left, err = h.db.Dirty().List(h.Context(), push.Ref{}, 10)
		h.must(err)
		return len(left) == 0
	})
}

// foundBy reports that a fault is found, by whom it is to be found.
func (h *house) foundBy(code string, f seededFault) bool {
	if f.finder == "spot check" {
		d, there, err := h.db.Spots().Get(h.Context(), push.Ref{Tenant: "acme", Code: code})
		h.must(err)
		return there && d.Cause == f.why
	}
	entry, there := h.dirty("acme", code)
	return there && slices.Contains(entry.Reasons, f.why)
}

func (h *house) mendedIs(i int, f seededFault) bool {
	code := fmt.Sprint("c", i)
	want := make([]string, len(f.want))
	for n, who := range f.want {
		want[n] = strings.Replace(who, "own", fmt.Sprint("own-", i), 1)
	}
	if !slices.Equal(h.listed("acme", code), want) {
		return false
	}
	if !f.family.Rotates() {
		return true
	}
	seats, err := h.rotation().Seats(h.Context(), push.Ref{Tenant: "acme", Code: code})
	return err == nil && len(seats) == 2
}

// calls is how many calls of one API WeCom has seen.
func (h *house) calls(api string) int {
	n := 0
	for range (ledger.Query{API: api}).Select(h.sim.Ledger().All()) {
		n++
	}
	return n
}

// goes takes a member off line and tells nobody.
func (h *house) goes(staff string) {
	h.must(h.db.Facts().SetPresence(h.Context(), "acme", staff, roster.OfflineNow))
}

// poison publishes a message that becomes a dead letter, and loses that too: its
// topic is nobody's to read.
func (h *house) poison(code string) {
	out, err := h.client.CreateProducer(pulsar.ProducerOptions{Topic: h.cfg.Pulsar.Topic, DisableBatching: true})
	h.must(err)
	defer out.Close()
	_, err = out.Send(h.Context(), &pulsar.ProducerMessage{Key: code, Payload: []byte(`{"v":1,"tenant":"acme","code":`)})
	h.must(err)
}

func (h *house) record(code string) push.Record {
	record, err := h.db.Store().Record(h.Context(), push.Ref{Tenant: "acme", Code: code})
	h.must(err)
	return record
}

// garble writes other members beside the hash of the list that was pushed.
func (h *house) garble(code, _ string) {
	committed := h.record(code).Committed
	committed.Members = []string{"ann", "somebody"}
	h.commit(code, committed)
}

// claim changes a fact and has the record say that its list was pushed.
func (h *house) claim(code, own string) {
	h.goes(own)
	facts, record, err := h.db.Store().Load(h.Context(), push.Ref{Tenant: "acme", Code: code})
	h.must(err)
	verdict, err := roster.Decide(facts, record.Last(), roster.LaneRules{}, time.Now())
	h.must(err)
	committed := record.Committed
	committed.Members, committed.Hash = verdict.Members, verdict.Hash
	h.commit(code, committed)
}

func (h *house) commit(code string, committed push.Committed) {
	ok, err := h.db.Store().Commit(h.Context(), push.Ref{Tenant: "acme", Code: code}, committed, nil, time.Time{})
	h.must(err)
	if !ok {
		h.Fatalf("the record of %s is at another epoch", code)
	}
}

// edit is somebody's edit in WeCom's admin console.
func (h *house) edit(code string, users ...string) {
	h.sim.AddWay("corp-acme", wecomsim.Way{ConfigID: "cfg-" + code, Type: wecomsim.MultiUser, Users: users})
}

func (h *house) rotation() *redisrotation.Rotation {
	options, err := redis.ParseURL(stacktest.RedisURL(h))
	h.must(err)
	client := redis.NewClient(options)
	h.Cleanup(func() { _ = client.Close() })
	rotation, err := redisrotation.New(client, redisrotation.Options{Prefix: h.cfg.Redis.KeyPrefix})
	h.must(err)
	return rotation
}

func (h *house) wipe(code string) {
	h.must(h.rotation().Delete(h.Context(), push.Ref{Tenant: "acme", Code: code}))
}

// forgetful is a store through which a refresher sees one member as on line,
// whatever his facts say: a recompute that is consistently wrong.
type forgetful struct {
	push.Store
	on    *atomic.Bool
	staff string
}

func (f forgetful) Load(ctx context.Context, ref push.Ref) (roster.Facts, push.Record, error) {
	facts, record, err := f.Store.Load(ctx, ref)
	return f.wrong(facts), record, err
}

func (f forgetful) Facts(ctx context.Context, ref push.Ref) (roster.Facts, error) {
	facts, err := f.Store.Facts(ctx, ref)
	return f.wrong(facts), err
}

func (f forgetful) wrong(facts roster.Facts) roster.Facts {
	if s, there := facts.Staff[f.staff]; there && f.on.Load() {
		s.Presence = roster.Online
		facts.Staff[f.staff] = s
	}
	return facts
}
