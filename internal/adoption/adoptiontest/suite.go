package adoptiontest

import (
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/adoption"
	"github.com/rollcall-dev/rollcall/internal/contactway"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/suitetest"
)

// Bench is an empty store under test.
type Bench struct {
	Jobs  adoption.Jobs
	Facts adoption.Facts
	// PutTenant puts a live tenant there, PutCode a code of no import.
	PutTenant func(tenant string)
	PutCode   func(code roster.Code)
	// Stored reads a code back, as a refresh would, with its address.
	Stored func(tenant, code string) (roster.Facts, string)
}

// suite is the contract, by what it is about.
var suite = suitetest.Suite[Bench]{
	"job": {
		"is stored whole":                    jobWhole,
		"is taken by one":                    jobTakenOnce,
		"is not taken while it is worked on": jobWorkedOn,
		"is saved by its holder alone":       jobSaved,
		"is released by its holder alone":    jobReleased,
	},
	"row": {
		"is stored whole":                     rowWhole,
		"is not written by an earlier claim":  rowOlder,
		"of another run is apart and cleared": rowCleared,
	},
	"facts": {
		"tell a tenant":                    factsTenant,
		"put a tenant into shadow mode":    factsShadow,
		"find the codes of contact ways":   factsHolders,
		"make a code whole":                factsCode,
		"make no code whose ID is in use":  factsTaken,
		"of many who make a code one does": factsRace,
		"leave staff as they are":          factsStaff,
	},
}

// TestStore is the contract of adoption.Jobs and adoption.Facts. Every subtest
// gets an empty store from the factory, which cleans up after itself.
func TestStore(t *testing.T, factory func(t *testing.T) Bench) { suitetest.Run(t, suite, factory) }

var noon = time.Date(2026, 11, 30, 4, 0, 0, 0, time.UTC)

// first is a job that somebody works on.
func first() adoption.Job {
	return adoption.Job{
		Tenant: "acme", Run: "run-1", State: adoption.Adopting, HadCodes: true,
		End: noon, Window: contactway.Window{From: noon.Add(-time.Hour), To: noon}, Cursor: "c",
		Rows: 3, Listed: 1234, Row: 1, At: 17,
		Tally: adoption.Tally{
			Done: 517, Imported: 500, Held: 10,
			Skipped: map[adoption.Why]int{adoption.SingleMember: 4, adoption.Gone: 1},
			Failed:  map[adoption.Why]int{adoption.WeComError: 2},
		},
		Started: noon.Add(-time.Minute), Updated: noon, Finished: noon.Add(time.Second),
		Claim: adoption.Claim{Token: 1, Owner: "p1", Until: noon.Add(time.Minute)},
	}
}

func (b Bench) taken(t *testing.T) adoption.Job {
	t.Helper()
	job := first()
	suitetest.Accepted(t, "Take")(b.Jobs.Take(t.Context(), adoption.Job{}, job, noon))
	return job
}

func (b Bench) want(t *testing.T, want adoption.Job) {
	t.Helper()
	got, found, err := b.Jobs.Job(t.Context(), want.Tenant)
	if !found || err != nil {
		t.Fatalf("Job = %v, %v", found, err)
	}
	suitetest.WantSame(t, "job", want, got)
}

func jobWhole(t *testing.T, b Bench) {
	if job, found, err := b.Jobs.Job(t.Context(), "acme"); found || err != nil || job.Claim.Token != 0 {
		t.Errorf("of a tenant without: %+v, %v, %v", job, found, err)
	}
	job := b.taken(t)
	b.want(t, job)
	next := adoption.Job{
		Tenant: "acme", Run: "run-2", State: adoption.Listing, Started: noon,
		Claim: adoption.Claim{Token: 2, Owner: "p2", Until: noon.Add(time.Hour)},
	}
	suitetest.Accepted(t, "Take of the next")(b.Jobs.Take(t.Context(), job, next, noon.Add(time.Minute)))
	b.want(t, next)
}

func jobTakenOnce(t *testing.T, b Bench) {
	for _, seen := range []adoption.Job{{}, first()} {
		won := suitetest.Race(t, 8, func(int) (bool, error) {
			job := first()
			job.Claim.Token = seen.Claim.Token + 1
			return b.Jobs.Take(t.Context(), seen, job, noon.Add(time.Minute))
		})
		if len(won) != 1 {
			t.Errorf("%d took what had token %d", len(won), seen.Claim.Token)
		}
	}
}

func jobWorkedOn(t *testing.T, b Bench) {
	job := b.taken(t)
	next := job
	next.Claim = adoption.Claim{Token: 2, Owner: "p2", Until: noon.Add(time.Hour)}
	suitetest.Refused(t, "Take before its end")(b.Jobs.Take(t.Context(), job, next, noon.Add(time.Minute-time.Millisecond)))
	suitetest.Refused(t, "Take of one not seen")(b.Jobs.Take(t.Context(), adoption.Job{}, next, noon.Add(time.Hour)))
	b.want(t, job)
	suitetest.Accepted(t, "Take at its end")(b.Jobs.Take(t.Context(), job, next, noon.Add(time.Minute)))
}

func jobSaved(t *testing.T, b Bench) {
	suitetest.Refused(t, "Save of none")(b.Jobs.Save(t.Context(), first()))
	job := b.taken(t)
	job.At, job.Done, job.Held = 18, 518, 11
	job.Failed = nil
	suitetest.Accepted(t, "Save")(b.Jobs.Save(t.Context(), job))
	b.want(t, job)
	later := job
	later.Claim = adoption.Claim{Token: 2, Owner: "p2", Until: noon.Add(time.Hour)}
	suitetest.Accepted(t, "Take")(b.Jobs.Take(t.Context(), job, later, noon.Add(time.Minute)))
	suitetest.Refused(t, "Save of the claim before")(b.Jobs.Save(t.Context(), job))
	b.want(t, later)
}

func jobReleased(t *testing.T, b Bench) {
	job := b.taken(t)
	other := job
	other.Claim.Token = 7
	if err := b.Jobs.Release(t.Context(), other); err != nil {
		t.Errorf("Release of another claim: %v", err)
	}
	b.want(t, job)
	if err := b.Jobs.Release(t.Context(), job); err != nil {
		t.Errorf("Release: %v", err)
	}
	job.Claim.Until = time.Time{}
	b.want(t, job)
}

func (b Bench) wantRow(t *testing.T, job adoption.Job, want adoption.Row) {
	t.Helper()
	got, found, err := b.Jobs.Row(t.Context(), job, want.Seq)
	if !found || err != nil {
		t.Fatalf("Row = %v, %v", found, err)
	}
	suitetest.WantSame(t, "row", want, got)
}

func rowWhole(t *testing.T, b Bench) {
	job := b.taken(t)
	row := adoption.Row{Seq: 2, IDs: []string{"a", "b", "c"}}
	suitetest.Accepted(t, "PutRow")(b.Jobs.PutRow(t.Context(), job, row))
	b.wantRow(t, job, row)
	row.Left = []adoption.Left{{At: 1, ConfigID: "b", Why: adoption.WeComError, Detail: "errcode 1"}, {At: 2, ConfigID: "c", Why: adoption.Gone}}
	suitetest.Accepted(t, "PutRow again")(b.Jobs.PutRow(t.Context(), job, row))
	b.wantRow(t, job, row)
	if _, found, err := b.Jobs.Row(t.Context(), job, 3); found || err != nil {
		t.Errorf("a row that is not there: %v, %v", found, err)
	}
}

func rowOlder(t *testing.T, b Bench) {
	older, later := b.taken(t), first()
	later.Claim.Token = 2
	row := adoption.Row{IDs: []string{"a"}}
	suitetest.Accepted(t, "PutRow")(b.Jobs.PutRow(t.Context(), older, row))
	row.IDs = []string{"b"}
	suitetest.Accepted(t, "PutRow of a later claim")(b.Jobs.PutRow(t.Context(), later, row))
	suitetest.Refused(t, "PutRow of an earlier claim")(b.Jobs.PutRow(t.Context(), older, adoption.Row{IDs: []string{"a"}}))
	b.wantRow(t, later, row)
}

func rowCleared(t *testing.T, b Bench) {
	one, two, other := first(), first(), first()
	two.Run = "run-2"
	other.Tenant = "globex"
	row := adoption.Row{IDs: []string{"a"}}
	for _, job := range []adoption.Job{one, two, other} {
		suitetest.Accepted(t, "PutRow")(b.Jobs.PutRow(t.Context(), job, row))
	}
	if err := b.Jobs.Clear(t.Context(), two); err != nil {
		t.Errorf("Clear: %v", err)
	}
	if _, found, err := b.Jobs.Row(t.Context(), one, 0); found || err != nil {
		t.Errorf("the other run's row: %v, %v", found, err)
	}
	b.wantRow(t, two, row)
	b.wantRow(t, other, row)
}

func (b Bench) wantTenant(t *testing.T, tenant string, want adoption.Tenant) {
	t.Helper()
	if got, err := b.Facts.Tenant(t.Context(), tenant); got != want || err != nil {
		t.Errorf("tenant %s: %+v, %v; want %+v", tenant, got, err, want)
	}
}

func codeOf(tenant, id, configID string) roster.Code {
	return roster.Code{ID: id, Tenant: tenant, ConfigID: configID, Family: roster.Native}
}

func factsTenant(t *testing.T, b Bench) {
	b.wantTenant(t, "acme", adoption.Tenant{})
	b.PutTenant("acme")
	b.wantTenant(t, "acme", adoption.Tenant{})
	b.PutCode(codeOf("acme", "c", "cfg"))
	b.wantTenant(t, "acme", adoption.Tenant{Codes: true})
	b.wantTenant(t, "globex", adoption.Tenant{})
}

func factsShadow(t *testing.T, b Bench) {
	b.PutTenant("acme")
	for _, tenant := range []string{"acme", "globex", "acme"} {
		if err := b.Facts.Shadow(t.Context(), tenant); err != nil {
			t.Errorf("Shadow: %v", err)
		}
		b.wantTenant(t, tenant, adoption.Tenant{Shadow: true})
	}
}

func factsHolders(t *testing.T, b Bench) {
	deleted := codeOf("acme", "gone", "cfg-gone")
	deleted.Deleted = true
	for _, code := range []roster.Code{codeOf("acme", "own", "cfg-own"), deleted, codeOf("globex", "theirs", "cfg-theirs"), codeOf("acme", "none", "")} {
		b.PutCode(code)
	}
	made := adoption.NewCode{Code: codeOf("acme", "made", "cfg-made"), Run: "run-1"}
	suitetest.Accepted(t, "AddCode")(b.Facts.AddCode(t.Context(), made))
	got, err := b.Facts.Holders(t.Context(), "acme", []string{"cfg-own", "cfg-gone", "cfg-theirs", "cfg-made", "cfg-free"})
	if err != nil {
		t.Fatalf("Holders: %v", err)
	}
	suitetest.WantSame(t, "holders", map[string]adoption.Holder{
		"cfg-own": {Code: "own"}, "cfg-gone": {Code: "gone"}, "cfg-made": {Code: "made", Run: "run-1"},
	}, got)
}

func factsCode(t *testing.T, b Bench) {
	b.PutTenant("acme")
	code := adoption.NewCode{QRCode: "https://qr.example/1", Run: "run-1", Code: codeOf("acme", "booth", "cfg")}
	code.Members = []roster.Member{{Staff: "li.na"}, {Staff: "zhang.san@corp"}}
	code.Remark, code.State, code.SkipVerify = "stand 7", "booth", true
	suitetest.Accepted(t, "AddCode")(b.Facts.AddCode(t.Context(), code))
	facts, qrCode := b.Stored("acme", "booth")
	if facts.Code.CreatedAt.IsZero() || facts.Code.UpdatedAt.IsZero() || facts.Code.Revision != 1 {
		t.Errorf("made at %v, changed at %v, revision %d", facts.Code.CreatedAt, facts.Code.UpdatedAt, facts.Code.Revision)
	}
	facts.Code.CreatedAt, facts.Code.UpdatedAt, facts.Code.Revision = time.Time{}, time.Time{}, 0
	suitetest.WantSame(t, "code", code.Code, facts.Code)
	if qrCode != code.QRCode {
		t.Errorf("its QR code is at %q", qrCode)
	}
}

func factsTaken(t *testing.T, b Bench) {
	for _, tenant := range []string{"acme", "globex"} {
		b.PutTenant(tenant)
		b.PutCode(codeOf(tenant, "of-"+tenant, "cfg-"+tenant))
	}
	for _, id := range []string{"of-acme", "of-globex"} {
		code := adoption.NewCode{Run: "run-1", Code: codeOf("acme", id, "cfg-new")}
		suitetest.Refused(t, "AddCode of "+id)(b.Facts.AddCode(t.Context(), code))
	}
	if facts, _ := b.Stored("acme", "of-acme"); facts.Code.ConfigID != "cfg-acme" {
		t.Errorf("the code has %s now", facts.Code.ConfigID)
	}
}

func factsRace(t *testing.T, b Bench) {
	won := suitetest.Race(t, 8, func(int) (bool, error) {
		return b.Facts.AddCode(t.Context(), adoption.NewCode{Run: "run-1", Code: codeOf("acme", "booth", "cfg")})
	})
	if len(won) != 1 {
		t.Errorf("%d made the code", len(won))
	}
}

func factsStaff(t *testing.T, b Bench) {
	b.PutTenant("acme")
	code := codeOf("acme", "c", "cfg")
	code.Members = []roster.Member{{Staff: "li.na"}, {Staff: "$x"}, {Staff: "no.one"}}
	b.PutCode(code)
	for range 2 {
		if err := b.Facts.AddStaff(t.Context(), "acme", []string{"li.na", "$x"}); err != nil {
			t.Errorf("AddStaff: %v", err)
		}
	}
	if err := b.Facts.AddStaff(t.Context(), "acme", nil); err != nil {
		t.Errorf("AddStaff of nobody: %v", err)
	}
	facts, _ := b.Stored("acme", "c")
	suitetest.WantSame(t, "staff", map[string]roster.Staff{"li.na": {ID: "li.na"}, "$x": {ID: "$x"}}, facts.Staff)
}
