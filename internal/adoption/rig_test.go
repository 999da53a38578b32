package adoption_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/rollcall-dev/rollcall/internal/adoption"
	"github.com/rollcall-dev/rollcall/internal/adoption/adoptiontest"
	"github.com/rollcall-dev/rollcall/internal/contactway"
	"github.com/rollcall-dev/rollcall/internal/fanout"
	"github.com/rollcall-dev/rollcall/internal/fanout/fanouttest"
	"github.com/rollcall-dev/rollcall/internal/publish"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

const lease = 30 * time.Second

var noon = time.Date(2026, 11, 30, 4, 0, 0, 0, time.UTC)

// rig is what the imports of one company work on. Its time goes by only while
// somebody waits.
type rig struct {
	*testing.T
	fanouttest.Hooks
	now       time.Time
	store     *adoptiontest.Store
	vendor    *adoptiontest.Vendor
	announced map[string]int
	fanOuts   map[string]int // by key
	waits     []time.Duration
	progress  adoption.Job
}

func newRig(t *testing.T) *rig {
	return &rig{
		T: t, now: noon, store: adoptiontest.NewStore(), vendor: &adoptiontest.Vendor{Page: 4},
		announced: map[string]int{}, fanOuts: map[string]int{},
	}
}

// importer is a process.
func (r *rig) importer(owner string) *adoption.Importer {
	return adoption.New(adoption.Ports{
		Vendor: r.vendor, Jobs: r.store, Facts: r.store, Announcer: r, FanOuts: r, Observer: r,
	}, adoption.Options{
		Owner: owner, Rate: 5, Lease: lease, Batch: 3, Now: func() time.Time { return r.now }, Wait: r.wait,
	})
}

func (r *rig) wait(ctx context.Context, d time.Duration) error {
	r.now = r.now.Add(d)
	if job, found, err := r.store.Job(r.Context(), "acme"); ctx.Err() == nil && found && (err != nil || !job.Running(r.now)) {
		r.Errorf("the claim runs out while its process waits: %+v, %v", job.Claim, err)
	}
	return ctx.Err()
}

// Refresh notes an announcement.
func (r *rig) Refresh(ctx context.Context, ref push.Ref, _ string) (publish.Place, error) {
	return publish.Broker, r.Do(ctx, "announce", func() { r.announced[ref.Code]++ })
}

// Request notes a fan-out.
func (r *rig) Request(ctx context.Context, request fanout.Request) (fanout.Ticket, error) {
	return fanout.Ticket{}, r.Do(ctx, "fan_out", func() { r.fanOuts[request.Key]++ })
}

// Progressed keeps the newest.
func (r *rig) Progressed(job adoption.Job) { r.progress = job }

// Waits notes for how long.
func (r *rig) Waits(_ adoption.Job, until time.Time, _ error) {
	r.waits = append(r.waits, until.Sub(r.now))
}

// usable is a contact way that becomes a code.
func usable(id, state string, users ...string) contactway.Way {
	return contactway.Way{
		ConfigID: id, QRCode: "https://qr.example/" + id, Kind: contactway.Multi, State: state, Users: users,
		Remark: "stand " + id, SkipVerify: len(id)%2 == 0,
	}
}

// company puts contact ways of all sorts at WeCom, made over a year, and returns
// which code each of those has in the end that can be had. Two have a code
// already, one of which is another state's.
func (r *rig) company() (codes map[string]string) {
	codes = map[string]string{}
	days := 0
	add := func(way contactway.Way, code string) {
		days += 17
		r.vendor.Add(noon.AddDate(0, 0, -days), way)
		if code != "" {
			codes[way.ConfigID] = code
		}
	}
	for i := range 9 {
		id := fmt.Sprintf("w%d", i)
		add(usable(id, "door-"+id, "amy", fmt.Sprint("staff-", i)), "door-"+id)
	}
	add(usable("twin-1", "twins", "bob"), "wx-twin-1")
	add(usable("twin-2", "twins", "bob"), "twins") // the older one
	add(usable("blank", "", "amy"), "wx-blank")
	add(usable("spaced", "a b", "amy"), "wx-spaced")
	add(usable("dots", "..", "amy"), "wx-dots")
	add(usable("known", "known", "amy"), "ours")
	add(usable("other", "taken", "amy"), "wx-other")
	for name, change := range map[string]func(*contactway.Way){
		"single":    func(w *contactway.Way) { w.Kind = contactway.Single },
		"button":    func(w *contactway.Way) { w.Button = true },
		"temporary": func(w *contactway.Way) { w.Temporary = true },
		"party":     func(w *contactway.Way) { w.Departments = []int64{7} },
		"nobody":    func(w *contactway.Way) { w.Users = nil },
		"marked":    func(w *contactway.Way) { w.Remark = "rollcall:abcdefghijklmnopqrstu" },
		"invalid":   func(w *contactway.Way) { w.Users = []string{"a\x00"} },
	} {
		way := usable(name, name, "amy")
		change(&way)
		add(way, "")
	}
	r.store.PutCode(adoption.NewCode{Code: roster.Code{ID: "ours", Tenant: "acme", ConfigID: "known"}})
	r.store.PutCode(adoption.NewCode{Code: roster.Code{ID: "taken", Tenant: "globex", ConfigID: "theirs"}})
	return codes
}

// wantImported fails unless the company of the rig is imported whole.
func (r *rig) wantImported(job adoption.Job, codes map[string]string) {
	r.Helper()
	got := map[string]string{}
	for _, code := range r.store.Codes() {
		if code.Tenant != "acme" {
			continue
		}
		if before, twice := got[code.ConfigID]; twice {
			r.Errorf("contact way %s has the codes %s and %s", code.ConfigID, before, code.ID)
		}
		got[code.ConfigID] = code.ID
		if code.Run != "" && r.announced[code.ID] == 0 {
			r.Errorf("code %s was not announced", code.ID)
		}
		if code.Run != "" && code.Run != job.Run {
			r.Errorf("code %s is of another run", code.ID)
		}
		r.wantMembersKnown(code)
	}
	if diff := cmp.Diff(codes, got); diff != "" {
		r.Errorf("codes by contact way (-want +got):\n%s", diff)
	}
	want := adoption.Tally{
		Done: 23, Imported: 15, Held: 1, Failed: map[adoption.Why]int{adoption.InvalidFacts: 1},
		Skipped: map[adoption.Why]int{
			adoption.SingleMember: 1, adoption.MiniProgram: 1, adoption.Temporary: 1, adoption.Departments: 1,
			adoption.Nobody: 1, adoption.BeingMade: 1,
		},
	}
	if diff := cmp.Diff(want, job.Tally); diff != "" {
		r.Errorf("tally (-want +got):\n%s", diff)
	}
	if job.State != adoption.Done || job.Listed != 23 || job.Finished.IsZero() {
		r.Errorf("job %+v", job)
	}
	r.wantLeft(job)
}

func (r *rig) wantMembersKnown(code adoption.NewCode) {
	r.Helper()
	facts, _ := r.store.Stored(code.Tenant, code.ID)
	for _, member := range code.Members {
		if facts.Staff[member.Staff].ID == "" {
			r.Errorf("%s is on code %s and not known", member.Staff, code.ID)
		}
	}
}

// wantLeft fails unless whatever did not become a code is told once.
func (r *rig) wantLeft(job adoption.Job) {
	r.Helper()
	left, err := adoption.LeftOf(r.Context(), r.store, job)
	got := map[string]adoption.Why{}
	for _, one := range left {
		if got[one.ConfigID] != "" {
			r.Errorf("contact way %s is told twice", one.ConfigID)
		}
		got[one.ConfigID] = one.Why
	}
	want := map[string]adoption.Why{
		"single": adoption.SingleMember, "button": adoption.MiniProgram, "temporary": adoption.Temporary,
		"party": adoption.Departments, "nobody": adoption.Nobody, "marked": adoption.BeingMade, "invalid": adoption.InvalidFacts,
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" || err != nil {
		r.Errorf("left: %v (-want +got):\n%s", err, diff)
	}
}

// code returns a code of the company.
func (r *rig) code(id string) adoption.NewCode {
	r.Helper()
	all := r.store.Codes()
	at := slices.IndexFunc(all, func(c adoption.NewCode) bool { return c.ID == id })
	if at < 0 {
		r.Fatalf("there is no code %s", id)
	}
	return all[at]
}
