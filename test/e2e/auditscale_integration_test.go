//go:build integration

package e2e_test

import (
	"context"
	"flag"
	"fmt"
	"syscall"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/backstop/audit"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/service"
	"github.com/rollcall-dev/rollcall/internal/wecomsim"
)

var auditCodes = flag.Int("codes", 10_000, "codes of the audit at scale")

// A pass over many codes finds each of a few faults and nothing else, without a
// vendor call. Its rate is told for a core of its own: what the stand-in for
// MongoDB takes beside it is no measure of a real one.
func TestTheAuditAtScale(t *testing.T) {
	h := newHouse(t, wecomsim.Options{})
	h.cfg.Audit.Bound, h.cfg.Audit.Chunk = time.Second, 2000
	const tenants, staff, faults = 40, 50, 20
	for i := range tenants {
		tenant := fmt.Sprint("t", i)
		h.must(h.db.Facts().PutTenant(t.Context(), roster.Tenant{ID: tenant, DailyTotal: 100}))
		for j := range staff {
			h.must(h.db.Facts().PutStaff(t.Context(), tenant, roster.Staff{ID: fmt.Sprint("s", j), Presence: roster.Online}))
		}
	}
	seeding := time.Now()
	h.stock(*auditCodes, tenants, staff)
	t.Logf("%d codes seeded in %v", *auditCodes, time.Since(seeding).Round(time.Second))
	for i := range faults {
		code := fmt.Sprintf("code-%07d", i*(*auditCodes/faults))
		h.must(h.db.Facts().EditCode(t.Context(), push.Ref{Tenant: tenantOf(code, tenants), Code: code}, mongostore.CodeEdit{Members: &[]roster.Member{{Staff: "s0"}}}))
	}
	cpu, began := cpuTime(t), time.Now()
	found, err := service.RunAudit(t.Context(), h.cfg, -1, func(audit.Pass) {})
	h.must(err)
	took, spent := time.Since(began), cpuTime(t)-cpu
	entries, err := h.db.Dirty().List(t.Context(), push.Ref{}, 1000)
	h.must(err)
	if int(found.Tally[audit.TallyLooked]) != *auditCodes || found.Tally[reason.Stale.String()] != faults || len(entries) != faults {
		t.Errorf("found %v, %d dirty; want %d looked at, %d of them stale", found.Tally, len(entries), *auditCodes, faults)
	}
	if n := h.calls("get_contact_way") + h.calls("update_contact_way"); n != 0 {
		t.Errorf("%d calls to WeCom; want none", n)
	}
	perCore := float64(*auditCodes) / spent.Seconds()
	t.Logf("%d codes in %v: %.0f a second by the clock, the stand-in on the same cores; %v of our own processor time: %.0f codes a second and core",
		*auditCodes, took.Round(100*time.Millisecond), float64(*auditCodes)/took.Seconds(), spent.Round(10*time.Millisecond), perCore)
	for _, rate := range []float64{h.cfg.Audit.Rate, perCore} {
		e := audit.Scale{Codes: 6_000_000, Largest: 20_000, TenantRate: 41.7, TotalRate: 166.7, Share: 0.1, WalkRate: rate, Keepers: 1}.Of()
		t.Logf("6 million codes at %.0f a second: a pass takes %v and no call; a sweep of WeCom %d calls, %v with the whole budget, %v with a tenth of it",
			rate, e.Audit, e.Calls, e.SweepAlone, e.SweepShared)
	}
}

func tenantOf(code string, tenants int) string {
	var n int
	_, _ = fmt.Sscanf(code, "code-%d", &n)
	return fmt.Sprint("t", n%tenants)
}

// stock inserts codes of eight members, with records that agree with them, as
// plain documents: writing them one by one would take longer than the audit.
func (h *house) stock(codes, tenants, staff int) {
	client, err := mongo.Connect(options.Client().ApplyURI(h.cfg.MongoDB.URI.Reveal()))
	h.must(err)
	defer func() { h.must(client.Disconnect(context.WithoutCancel(h.Context()))) }()
	db := client.Database(h.cfg.MongoDB.Database)
	const batch = 2000
	for from := 0; from < codes; from += batch {
		var docs, records []any
		for n := from; n < min(from+batch, codes); n++ {
			code := stocked(n, tenants, staff)
			docs, records = append(docs, codeDocument(code)), append(records, h.recordDocument(code))
		}
		for collection, many := range map[string][]any{"codes": docs, "records": records} {
			_, err := db.Collection(collection).InsertMany(h.Context(), many)
			h.must(err)
		}
	}
}

func codeDocument(c roster.Code) bson.M {
	members := bson.A{}
	for _, m := range c.Members {
		members = append(members, bson.M{"staff": m.Staff, "daily_limit": m.DailyLimit})
	}
	return bson.M{
		"_id": c.ID, "tenant": c.Tenant, "config_id": c.ConfigID, "family": string(c.Family), "members": members,
		"switches": bson.M{"offline_check": true, "daily_limit": true}, "revision": c.Revision, "created_at": c.CreatedAt, "updated_at": c.UpdatedAt,
	}
}

func (h *house) recordDocument(code roster.Code) bson.M {
	facts := roster.Facts{Code: code, Tenant: roster.Tenant{ID: code.Tenant, DailyTotal: 100}, Staff: map[string]roster.Staff{}}
	for _, m := range code.Members {
		facts.Staff[m.Staff] = roster.Staff{ID: m.Staff, Presence: roster.Online}
	}
	verdict, err := roster.Decide(facts, roster.Last{}, roster.LaneRules{}, time.Now())
	h.must(err)
	return bson.M{
		"_id": code.Tenant + "/" + code.ID, "tenant": code.Tenant, "code": code.ID, "epoch": int64(1), "intents": bson.A{},
		"committed": bson.M{"members": verdict.Members, "hash": verdict.Hash, "epoch": int64(1), "at": time.Now(), "revision": code.Revision},
	}
}

// stocked is the code of a number.
func stocked(n, tenants, staff int) roster.Code {
	id := fmt.Sprintf("code-%07d", n)
	code := roster.Code{
		ID: id, Tenant: tenantOf(id, tenants), ConfigID: "cfg-" + id, Family: roster.Native, Revision: 1, CreatedAt: time.Now(), UpdatedAt: time.Now(),
		Switches: roster.Switches{OfflineCheck: true, DailyLimit: true},
	}
	for j := range 8 {
		code.Members = append(code.Members, roster.Member{Staff: fmt.Sprint("s", (n+j)%staff), DailyLimit: 20})
	}
	return code
}

// cpuTime is the processor time that this process has used.
func cpuTime(t *testing.T) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
