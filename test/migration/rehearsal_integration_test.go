//go:build integration

package migration

import (
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/access"
	"github.com/rollcall-dev/rollcall/internal/fanout"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/service"
	"github.com/rollcall-dev/rollcall/internal/shadow"
	"github.com/rollcall-dev/rollcall/internal/wecomsim"
	"github.com/rollcall-dev/rollcall/internal/wecomsim/ledger"
	"github.com/rollcall-dev/rollcall/test/await"
	"github.com/rollcall-dev/rollcall/test/history"
)

// patience is how long a machine with two busy processors may take for what takes
// an idle one a second or two.
const patience = 60 * time.Second

// A company of 300 posters moves over from a system that pushes partial views,
// and back, and over again, while its facts change several times a second. The
// report names exactly the lists that are wrong at WeCom. Once Rollcall writes
// them none is, no push brings an older list, and no event is lost. Once it does
// not, not one call of its reaches WeCom.
func TestACompanyMovesOverAndBackUnderLoad(t *testing.T) {
	r := newRehearsal(t)
	r.takeOver()

	stopOld, stopLoad := r.old.run(), r.live()
	r.during(80)
	stopLoad()
	stopOld()
	r.wantReport()

	stopOld, stopLoad = r.old.run(), r.live()
	r.during(10)
	stopOld()
	since := r.goLive()
	r.during(50)
	stopLoad()
	r.wantConverged("first", since)

	stopLoad = r.live()
	r.during(10)
	quiet := r.goShadow()
	stopOld = r.old.run()
	r.editInConsole(20)
	r.during(50)
	stopOld()
	r.wantNoCallSince(quiet)
	since = r.goLive()
	r.during(20)
	stopLoad()
	r.wantConverged("second", since)
	r.wantNothingLost()
}

// rehearsal is a company with its old system and Rollcall beside it.
type rehearsal struct {
	*company
	old  *oldSystem
	told uint64 // the last entry of the ledger that the histories know
}

func newRehearsal(t *testing.T) *rehearsal {
	r := &rehearsal{company: newCompany(newInstallation(t))}
	secret, oldSecret := rand.Text(), rand.Text()
	r.must(r.sim.SetCorp(wecomsim.Corp{ID: corp, Apps: []wecomsim.App{{Secret: secret}, {Secret: oldSecret}}, OpenRoster: true}))
	r.must(r.db.Facts().PutTenant(t.Context(), roster.Tenant{ID: tenant, TimeZone: noonZone().String(), Mode: roster.Shadow}))
	r.must(r.db.Facts().PutCredentials(t.Context(), tenant, corp, secret))
	for i, p := range r.posters {
		users := r.wanted(p)
		if i < 3 {
			users = append(users, "long-gone") // the old system has forgotten to take him off
		}
		p.config = r.sim.AddWay(corp, wecomsim.Way{Type: wecomsim.MultiUser, Users: users, State: p.id, Remark: p.id})
		p.Ask(time.Now(), r.wanted(p))
	}
	r.start()
	bearer, _, err := service.CreateToken(t.Context(), r.cfg, access.Order{Tenant: tenant, Scopes: []access.Scope{access.Write}})
	r.must(err)
	r.old = newOldSystem(r.company, oldSecret, bearer)
	return r
}

// takeOver imports the posters, gives Rollcall the facts that WeCom does not
// have, and reports once what WeCom holds.
func (r *rehearsal) takeOver() {
	job, err := service.ImportWays(r.Context(), r.cfg, service.ImportOrder{Tenant: tenant, Rate: 1000, Observer: unseen{}})
	r.must(err)
	if job.Imported != posters {
		r.Fatalf("%d posters were imported: %+v", job.Imported, job.Tally)
	}
	for _, p := range r.posters {
		r.must(r.seat(r.Context(), p))
		r.must(r.publish(r.Context(), p.id, "imported"))
	}
	r.awaits("the ingress serves, and knows what WeCom holds", r.old.tellAll)
}

// during waits for a number of changes.
func (r *rehearsal) during(changes int64) {
	r.Helper()
	until := r.changes.Load() + changes
	r.awaits(fmt.Sprint(changes, " changes"), func() bool { return r.changes.Load() >= until })
}

func (r *rehearsal) awaits(what string, is func() bool) {
	r.Helper()
	await.Until(r.T, patience, 50*time.Millisecond, what, is)
}

// wantReport fails unless the report names exactly the lists that are wrong, and
// why, and says that the company is not ready.
func (r *rehearsal) wantReport() {
	r.Helper()
	r.awaits("no event is left", r.acked)
	var report shadow.Readiness
	r.awaits("every poster is compared", func() bool {
		var err error
		report, err = service.MigrationReport(r.Context(), r.cfg, tenant)
		r.must(err)
		return report.Codes.Compared == posters && report.Codes.Settling == 0
	})
	wrong := r.wrong()
	causes := map[shadow.Cause]int{}
	for _, differences := range wrong {
		for _, cause := range shadow.Causes(differences) {
			causes[cause]++
		}
	}
	if diff := cmp.Diff(wrong, r.named()); diff != "" {
		r.Errorf("posters whose lists are wrong (-at WeCom +named):\n%s", diff)
	}
	reported := map[shadow.Cause]int{}
	for _, c := range report.Causes {
		reported[c.Cause] = c.Codes
	}
	if diff := cmp.Diff(causes, reported); diff != "" || report.Codes.Mismatching != len(wrong) || report.Ready {
		r.Errorf("%s %d differ, want %d; causes (-at WeCom +reported):\n%s", report.Verdict, report.Codes.Mismatching, len(wrong), diff)
	}
	for _, example := range report.Examples {
		if diff := cmp.Diff(wrong[example.Code], example.Differences); diff != "" {
			r.Errorf("example %s (-at WeCom +reported):\n%s", example.Code, diff)
		}
	}
	r.Logf("shadow: %d changes, %d pushes of the old system; %d posters compared, %d named as wrong, %d are: %v; %s",
		r.changes.Load(), r.old.pushes.Load(), report.Codes.Compared, report.Codes.Mismatching, len(wrong), causes, report.Verdict)
}

// named are all posters whose lists differ by Rollcall's last comparison; the
// report shows some of them.
func (r *rehearsal) named() map[string][]shadow.Difference {
	ids := make([]string, len(r.posters))
	for i, p := range r.posters {
		ids[i] = p.id
	}
	states, err := r.db.Shadows().States(r.Context(), tenant, ids)
	r.must(err)
	named := map[string][]shadow.Difference{}
	for id, state := range states {
		if state.Verdict.Outcome == shadow.Mismatch {
			named[id] = state.Verdict.Differences
		}
	}
	return named
}

// goLive switches to live although the report says not to, and returns when that
// began.
func (r *rehearsal) goLive() time.Time {
	r.Helper()
	order := service.SwitchOrder{Tenant: tenant, Mode: roster.Live, By: "ann", Progress: func(fanout.Job) {}}
	_, err := service.SwitchMode(r.Context(), r.cfg, order)
	if refused, is := errors.AsType[*service.NotReadyError](err); !is {
		r.Errorf("a company that is not ready went live: %v", err)
	} else if len(refused.Because) == 0 {
		r.Error("it is refused without a reason")
	}
	order.Insist = true
	since := time.Now()
	r.switches(order)
	switched := time.Since(since)
	r.awaits("every poster is pushed", func() bool {
		pushed := map[string]bool{}
		for e := range r.updates(since) {
			pushed[e.ConfigID] = true
		}
		return len(pushed) == posters
	})
	r.Logf("live: the switch took %v, the last of %d posters was pushed after %v, under load",
		switched.Round(time.Millisecond), posters, time.Since(since).Round(time.Millisecond))
	return since
}

// goShadow switches back, waits as the command does, and returns since when
// nothing of Rollcall's may reach WeCom.
func (r *rehearsal) goShadow() time.Time {
	r.Helper()
	r.switches(service.SwitchOrder{Tenant: tenant, Mode: roster.Shadow, By: "ann", Progress: func(fanout.Job) {}})
	quiet := time.Now().Add(callTimeout + margin)
	r.awaits("calls under way have landed", func() bool { return time.Now().After(quiet) })
	return quiet
}

func (r *rehearsal) switches(order service.SwitchOrder) {
	r.Helper()
	switched, err := service.SwitchMode(r.Context(), r.cfg, order)
	r.must(err)
	if !switched {
		r.Fatalf("the company is in mode %s already", order.Mode)
	}
}

// updates are Rollcall's pushes that arrived since an instant.
func (r *rehearsal) updates(since time.Time) func(func(ledger.Entry) bool) {
	return func(yield func(ledger.Entry) bool) {
		for e := range (ledger.Query{API: "update_contact_way", Since: since}).Select(r.sim.Ledger().All()) {
			if e.IP != oldIP && !yield(e) {
				return
			}
		}
	}
}

func (r *rehearsal) wantNoCallSince(quiet time.Time) {
	r.Helper()
	calls := slices.Collect(r.updates(quiet))
	for _, e := range calls[:min(3, len(calls))] {
		r.Errorf("Rollcall pushes %s in shadow mode, %v after it may", e.ConfigID, e.Received.Sub(quiet))
	}
	r.Logf("shadow again: %d update calls of Rollcall's in %v under load", len(calls), time.Since(quiet).Round(time.Millisecond))
}

// editInConsole has somebody edit lists at WeCom, which nobody reports.
func (r *rehearsal) editInConsole(n int) {
	for _, p := range r.posters[:n] {
		if !r.sim.EditInConsole(corp, p.config, []string{"mallory"}) {
			r.Fatalf("poster %s is not there to be edited", p.id)
		}
	}
}

// wantConverged waits, when the load has ended, until every list is what the
// facts ask for and nothing is left to do, and judges the pushes since the
// switch.
func (r *rehearsal) wantConverged(which string, since time.Time) {
	r.Helper()
	ended := time.Now()
	r.awaits("no event is left", r.acked)
	r.awaits("every list is what the facts ask for", func() bool { return len(r.wrong()) == 0 })
	converged := time.Since(ended)
	r.awaits("no code is dirty", r.nothingDirty)
	for _, p := range r.posters {
		r.wantDecided(p)
	}
	r.tellHistories()
	pushes, repeated := 0, 0
	for _, p := range r.posters {
		j := p.Judge(since)
		pushes, repeated = pushes+j.Pushes, repeated+j.Extra
		for _, story := range j.Stale {
			r.Errorf("%s: a stale push:%s", p.id, story)
		}
	}
	r.Logf("%s time live: %d pushes, %d of them of the list that WeCom had, none stale; 0 divergent %v after the load's end, all settled after %v",
		which, pushes, repeated, converged.Round(time.Millisecond), time.Since(ended).Round(time.Millisecond))
}

// wantDecided fails unless WeCom holds what is decided from the stored facts, and
// the record says so.
func (r *rehearsal) wantDecided(p *poster) {
	r.Helper()
	facts, record, err := r.db.Store().Load(r.Context(), push.Ref{Tenant: tenant, Code: p.id})
	r.must(err)
	verdict, err := roster.Decide(facts, record.Last(), roster.LaneRules{}, time.Now())
	r.must(err)
	if held := r.atWeCom(p); !slices.Equal(held, verdict.Members) || verdict.Hash != record.Committed.Hash || len(record.Intents) > 0 {
		r.Errorf("%s: WeCom holds %v, decided is %v, the record is %+v", p.id, held, verdict.Members, record)
	}
}

// tellHistories takes in what WeCom took since it was last called.
func (r *rehearsal) tellHistories() {
	byConfig := map[string]*poster{}
	for _, p := range r.posters {
		byConfig[p.config] = p
	}
	for e := range (ledger.Query{API: "update_contact_way", After: r.told}).Select(r.sim.Ledger().All()) {
		r.told = e.Seq
		if !e.Applied.IsZero() {
			byConfig[e.ConfigID].Take(history.Taken{Members: e.Members, Written: e.Version, Received: e.Received, Applied: e.Applied})
		}
	}
}

// wantNothingLost fails when a message became a dead letter, or a switch is not in
// the book as done. A lost event would have left a list that is wrong.
func (r *rehearsal) wantNothingLost() {
	r.Helper()
	letters, err := r.admin.DeadLetters(r.Context(), r.cfg.Pulsar.DeadLetterTopic, "")
	r.must(err)
	if letters > 0 {
		r.Errorf("%d dead letters", letters)
	}
	decisions, err := r.db.Decisions().List(r.Context(), 10)
	r.must(err)
	var book []string
	for _, d := range decisions {
		book = append(book, fmt.Sprint(d.By, " ", d.Action, " ", d.State))
	}
	if diff := cmp.Diff([]string{"ann migrate_live done", "ann migrate_shadow done", "ann migrate_live done"}, book); diff != "" {
		r.Errorf("decisions (-want +got):\n%s", diff)
	}
}
