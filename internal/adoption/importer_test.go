package adoption_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/rollcall-dev/rollcall/internal/adoption"
	"github.com/rollcall-dev/rollcall/internal/fanout/fanouttest"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// run imports and fails unless that goes well.
func (r *rig) run(target adoption.Target) adoption.Job {
	r.Helper()
	job, err := r.importer("p1").Import(r.Context(), "acme", target)
	if err != nil {
		r.Fatalf("Import: %v", err)
	}
	return job
}

func TestWhatBecomesOfACompany(t *testing.T) {
	r := newRig(t)
	codes := r.company()
	job := r.run(adoption.IntoLive)
	r.wantImported(job, codes)
	if len(r.fanOuts) != 1 || r.fanOuts[job.Run] != 1 {
		t.Errorf("fan-outs %v", r.fanOuts)
	}
	if diff := cmp.Diff(job, r.progress); diff != "" {
		t.Errorf("the last progress (-want +got):\n%s", diff)
	}
}

// A push overwrites remark, state and skip_verify: a code has them as WeCom has.
func TestACodeIsAsItsContactWay(t *testing.T) {
	r := newRig(t)
	way := usable("42", "door 7", "li.na", "bob", "li.na")
	r.vendor.Add(noon.Add(-time.Hour), way)
	r.run(adoption.IntoShadow)
	want := roster.Code{
		ID: "wx-42", Tenant: "acme", ConfigID: "42", Family: roster.Native, Members: []roster.Member{{Staff: "bob"}, {Staff: "li.na"}},
		Remark: "stand 42", State: "door 7", SkipVerify: true, Revision: 1,
	}
	got := r.code("wx-42")
	if diff := cmp.Diff(want, got.Code, cmpopts.IgnoreFields(roster.Code{}, "CreatedAt", "UpdatedAt")); diff != "" {
		t.Errorf("code (-want +got):\n%s", diff)
	}
	if got.QRCode != way.QRCode {
		t.Errorf("its QR code is at %q", got.QRCode)
	}
}

func TestModes(t *testing.T) {
	for name, test := range map[string]struct {
		seed   func(*rig)
		target adoption.Target
		err    error
		shadow bool
		asked  int // fan-outs
	}{
		"a tenant that is not there": {func(*rig) {}, adoption.IntoShadow, nil, true, 0},
		"a live one without a code":  {func(r *rig) { r.store.PutTenant("acme") }, adoption.IntoShadow, nil, true, 0},
		"the same, asked for":        {func(r *rig) { r.store.PutTenant("acme") }, adoption.IntoLive, nil, true, 0},
		"a live one with a code":     {withCode, adoption.IntoShadow, adoption.ErrTenantLive, false, 0},
		"the same, asked for, too":   {withCode, adoption.IntoLive, nil, false, 1},
		"one in shadow with a code": {func(r *rig) {
			withCode(r)
			_ = r.store.Shadow(r.Context(), "acme")
		}, adoption.IntoShadow, nil, true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			test.seed(r)
			r.vendor.Add(noon.Add(-time.Hour), usable("42", "door", "amy"))
			_, err := r.importer("p1").Import(t.Context(), "acme", test.target)
			if !errors.Is(err, test.err) {
				t.Errorf("Import = %v, want %v", err, test.err)
			}
			if known, _ := r.store.Tenant(t.Context(), "acme"); known.Shadow != test.shadow {
				t.Errorf("in shadow mode: %v", known.Shadow)
			}
			if len(r.fanOuts) != test.asked {
				t.Errorf("fan-outs %v", r.fanOuts)
			}
			if _, found, _ := r.store.Job(t.Context(), "acme"); found != (test.err == nil) {
				t.Errorf("an import is stored: %v", found)
			}
		})
	}
}

func withCode(r *rig) {
	r.store.PutTenant("acme")
	r.store.PutCode(adoption.NewCode{Code: roster.Code{ID: "c", Tenant: "acme", ConfigID: "cfg"}})
}

// An import after one that is done takes what is new, and tells the rest as held.
func TestImportedAgain(t *testing.T) {
	r := newRig(t)
	r.company()
	first := r.run(adoption.IntoLive)
	r.now = r.now.Add(time.Hour)
	r.vendor.Add(r.now, usable("fresh", "fresh", "amy"))
	announced := len(r.announced)
	second := r.run(adoption.IntoLive)
	if second.Run == first.Run || second.Imported != 1 || second.Held != 16 || second.Done != 24 {
		t.Errorf("job %+v", second)
	}
	if len(r.announced) != announced+1 {
		t.Errorf("announced %v", r.announced)
	}
	if _, found, _ := r.store.Row(t.Context(), first, 0); found {
		t.Error("the first import's rows are left")
	}
}

func TestOneProcessAtATime(t *testing.T) {
	r := newRig(t)
	r.company()
	asked := false
	r.vendor.Before = func(_ context.Context, op string) error {
		if op == "vendor.get" && !asked {
			asked = true
			_, err := r.importer("p2").Import(t.Context(), "acme", adoption.IntoLive)
			busy, ok := errors.AsType[*adoption.BusyError](err)
			if !ok || busy.Claim.Owner != "p1" || !strings.Contains(err.Error(), "p1 is at") {
				t.Errorf("the second process: %v", err)
			}
		}
		return nil
	}
	r.run(adoption.IntoLive)
	if !asked {
		t.Error("nothing was asked for")
	}
}

// A process that sleeps through its claim writes no progress and no code any more.
func TestASleeperIsOvertaken(t *testing.T) {
	r := newRig(t)
	codes := r.company()
	var other adoption.Job
	gets := 0
	r.vendor.Before = func(_ context.Context, op string) error {
		if gets++; op == "vendor.get" && gets > 30 && other.Run == "" {
			r.now = r.now.Add(2 * lease)
			var err error
			other.Run = "-"
			if other, err = r.importer("p2").Import(t.Context(), "acme", adoption.IntoLive); err != nil {
				t.Errorf("the other: %v", err)
			}
		}
		return nil
	}
	if _, err := r.importer("p1").Import(t.Context(), "acme", adoption.IntoLive); !errors.Is(err, adoption.ErrTakenOver) {
		t.Errorf("the sleeper's end: %v", err)
	}
	r.wantImported(other, codes)
}

// A process that was asleep for longer than its claim, and that nobody has
// overtaken, goes on.
func TestASleeperNobodyOvertookGoesOn(t *testing.T) {
	r := newRig(t)
	codes := r.company()
	gets := 0
	r.vendor.Before = func(_ context.Context, op string) error {
		if op == "vendor.get" {
			if gets++; gets == 5 {
				r.now = r.now.Add(time.Hour)
			}
		}
		return nil
	}
	r.wantImported(r.run(adoption.IntoLive), codes)
}

// What is asked of WeCom, and what is written of facts, ends with the claim.
func TestNothingOutlivesTheClaim(t *testing.T) {
	r := newRig(t)
	r.company()
	checked := map[string]bool{}
	check := func(ctx context.Context, op string) error {
		deadline, ends := ctx.Deadline()
		if !ends || time.Until(deadline) > lease-3*time.Second {
			t.Errorf("%s may last until %v", op, deadline)
		}
		checked[op] = true
		return nil
	}
	some := func(ctx context.Context, op string) error {
		if op == "facts.add_staff" || op == "facts.add_code" || op == "announce" {
			return check(ctx, op)
		}
		return nil
	}
	r.vendor.Before, r.store.Before, r.Before = check, some, some
	r.run(adoption.IntoLive)
	if len(checked) != 5 {
		t.Errorf("checked %v", checked)
	}
}

// What was done when an import is stopped is not done again, and the next process
// may begin at once.
func TestStoppedAndGoneOnWith(t *testing.T) {
	for at := 8; at < 13; at++ {
		r := newRig(t)
		codes := r.company()
		ctx, stop := context.WithCancel(t.Context())
		gets := 0
		r.vendor.Before = func(_ context.Context, op string) error {
			if op == "vendor.get" {
				if gets++; gets == at {
					stop()
				}
			}
			return nil
		}
		job, err := r.importer("p1").Import(ctx, "acme", adoption.IntoLive)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("Import = %v", err)
		}
		stored, _, _ := r.store.Job(t.Context(), "acme")
		if stored.Done != job.Done || job.Done < at-1 || stored.Running(r.now) {
			t.Errorf("stored %+v, returned %+v", stored, job)
		}
		r.wantImported(r.run(adoption.IntoLive), codes)
	}
}

// Calls keep to the rate, over listing and reading.
func TestPace(t *testing.T) {
	r := newRig(t)
	r.company()
	calls := 0
	r.vendor.Before = func(context.Context, string) error { calls++; return nil }
	r.run(adoption.IntoLive)
	if took, want := r.now.Sub(noon), time.Duration(calls-1)*200*time.Millisecond; took != want {
		t.Errorf("%d calls took %v, want %v", calls, took, want)
	}
}

func callError(errcode int) error { return &push.CallError{Op: "get_contact_way", ErrCode: errcode} }

// times answers the first n gets of a contact way with an error.
func (r *rig) times(n int, id string, err error) {
	r.vendor.Refuse = func(op, asked string) error {
		if op == "get" && asked == id && n > 0 {
			n--
			return err
		}
		return nil
	}
}

func TestWhatWeComAnswers(t *testing.T) {
	minutes := func(all ...int) (waits []time.Duration) {
		for _, n := range all {
			waits = append(waits, time.Duration(n)*time.Minute)
		}
		return waits
	}
	seconds := func(all ...int) (waits []time.Duration) {
		for _, n := range all {
			waits = append(waits, time.Duration(n)*time.Second)
		}
		return waits
	}
	open := &push.CallError{Op: "get_contact_way", Class: reason.BreakerOpen}
	for name, test := range map[string]struct {
		answer error
		times  int
		waits  []time.Duration
		err    error
		failed int
	}{
		"too many calls, for a minute":  {callError(45009), 1, minutes(1), nil, 0},
		"too many calls, for an hour":   {callError(45009), 8, minutes(1, 2, 4, 8, 16, 32, 60, 60), nil, 0},
		"too many at once":              {callError(45033), 2, seconds(1, 2), nil, 0},
		"system busy":                   {callError(-1), 3, seconds(1, 2, 4), nil, 0},
		"no answer":                     {&push.CallError{}, 9, seconds(1, 2, 4, 8, 16, 30, 30, 30, 30), nil, 0},
		"no answer at all":              {&push.CallError{}, 10, seconds(1, 2, 4, 8, 16, 30, 30, 30, 30), adoption.ErrUnreachable, 0},
		"an open breaker":               {open, 1, seconds(1), nil, 0},
		"a bad secret":                  {callError(40001), 1, nil, adoption.ErrCredentials, 0},
		"an address that is not on it":  {callError(60020), 1, nil, adoption.ErrCredentials, 0},
		"something unknown, twice":      {callError(84061), 2, seconds(1, 1), nil, 0},
		"something unknown, time again": {callError(84061), 3, seconds(1, 1), nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.vendor.Add(noon.Add(-time.Hour), usable("42", "door", "amy"))
			r.vendor.Add(noon.Add(-time.Hour), usable("43", "gate", "amy"))
			r.times(test.times, "42", test.answer)
			job, err := r.importer("p1").Import(t.Context(), "acme", adoption.IntoShadow)
			if !errors.Is(err, test.err) {
				t.Errorf("Import = %v, want %v", err, test.err)
			}
			if diff := cmp.Diff(test.waits, r.waits); diff != "" {
				t.Errorf("waits (-want +got):\n%s", diff)
			}
			if job.Failed[adoption.WeComError] != test.failed {
				t.Errorf("failed %v", job.Failed)
			}
			if test.err == nil && (job.State != adoption.Done || job.Imported != 2-test.failed) {
				t.Errorf("job %+v", job)
			}
			if test.err != nil {
				r.vendor.Refuse = nil
				if job := r.run(adoption.IntoShadow); job.Imported != 2 {
					t.Errorf("gone on with: %+v", job)
				}
			}
		})
	}
}

// A contact way that is deleted while the import is at it is skipped.
func TestDeletedMeanwhile(t *testing.T) {
	r := newRig(t)
	r.vendor.Add(noon.Add(-time.Hour), usable("42", "door", "amy"))
	r.vendor.Before = func(_ context.Context, op string) error {
		if op == "vendor.get" {
			r.vendor.Remove("42")
		}
		return nil
	}
	job := r.run(adoption.IntoShadow)
	if diff := cmp.Diff(map[adoption.Why]int{adoption.Gone: 1}, job.Skipped); diff != "" {
		t.Errorf("skipped (-want +got):\n%s", diff)
	}
}

// The API gives a contact way to a code while the import reads it.
func TestHeldMeanwhile(t *testing.T) {
	r := newRig(t)
	r.vendor.Add(noon.Add(-time.Hour), usable("42", "door", "amy"))
	r.vendor.Before = func(_ context.Context, op string) error {
		if op == "vendor.get" {
			r.store.PutCode(adoption.NewCode{Code: roster.Code{ID: "c", Tenant: "acme", ConfigID: "42"}})
		}
		return nil
	}
	if job := r.run(adoption.IntoShadow); job.Held != 1 || len(r.store.Codes()) != 1 {
		t.Errorf("job %+v, codes %v", job, r.store.Codes())
	}
}

func TestNoIDIsFree(t *testing.T) {
	r := newRig(t)
	for _, id := range []string{"door", "wx-42"} {
		r.store.PutCode(adoption.NewCode{Code: roster.Code{ID: id, Tenant: "globex"}})
	}
	r.vendor.Add(noon.Add(-time.Hour), usable("42", "door", "amy"))
	if job := r.run(adoption.IntoShadow); job.Failed[adoption.IDTaken] != 1 {
		t.Errorf("job %+v", job)
	}
}

// The listing begins a window anew when WeCom does not know its cursor any more,
// and gives up when that goes on.
func TestALostCursor(t *testing.T) {
	for _, lost := range []int{2 * 3, 2 * 100} { // a call that is refused is made thrice
		r := newRig(t)
		for i := range 10 {
			id := string(rune('a' + i))
			r.vendor.Add(noon.Add(-time.Hour), usable(id, "", "amy"))
		}
		refusals := lost
		r.vendor.Refuse = func(op, cursor string) error {
			if op == "list" && cursor != "" && refusals > 0 {
				refusals--
				return callError(40058)
			}
			return nil
		}
		job, err := r.importer("p1").Import(t.Context(), "acme", adoption.IntoShadow)
		if lost > 10 && err == nil || lost < 10 && (err != nil || job.Imported != 10 || job.Listed != 10) {
			t.Errorf("%d refusals: %+v, %v", lost, job, err)
		}
	}
}

// What was made at a border of two windows is there once, whether or not a window's
// end belongs to it, and also when another process goes on with the listing.
func TestBordersOfWindows(t *testing.T) {
	for _, open := range []bool{false, true} {
		r := newRig(t)
		r.vendor.Open = open
		n := 0
		for at := time.Date(2021, time.July, 9, 0, 0, 0, 0, time.UTC); at.Before(noon); at = at.Add(90 * 24 * time.Hour) {
			n++
			r.vendor.Add(at, usable(at.Format("20060102"), "", "amy"))
		}
		for lists := 1; ; lists += 2 {
			process, ctx := fanouttest.NewProcess(t.Context(), fanouttest.Never)
			left := lists
			r.vendor.After = func(_ context.Context, op string) error {
				if left--; left == 0 && op == "vendor.list" {
					process.End()
				}
				return nil
			}
			job, err := r.importer("p1").Import(ctx, "acme", adoption.IntoShadow)
			process.End()
			if err != nil && lists < 100 {
				continue
			}
			if job.Listed != n || job.Imported != n {
				t.Errorf("open %v: %d listed, %d imported, %v; want %d", open, job.Listed, job.Imported, err, n)
			}
			break
		}
	}
}

// A process that is overtaken while it lists, and has nothing to write but its
// progress, finds out.
func TestOvertakenWhileListing(t *testing.T) {
	r := newRig(t)
	lists := 0
	r.vendor.Before = func(context.Context, string) error {
		if lists++; lists == 3 {
			r.now = r.now.Add(2 * lease)
			r.run(adoption.IntoShadow)
		}
		return nil
	}
	if _, err := r.importer("p2").Import(t.Context(), "acme", adoption.IntoShadow); !errors.Is(err, adoption.ErrTakenOver) {
		t.Errorf("Import = %v", err)
	}
}

// The API makes the code that the import is about to make.
func TestHeldAtTheLastInstant(t *testing.T) {
	r := newRig(t)
	r.vendor.Add(noon.Add(-time.Hour), usable("42", "door", "amy"))
	r.store.Before = func(_ context.Context, op string) error {
		if op == "facts.add_code" {
			r.store.PutCode(adoption.NewCode{Code: roster.Code{ID: "door", Tenant: "acme", ConfigID: "42"}})
		}
		return nil
	}
	if job := r.run(adoption.IntoShadow); job.Held != 1 || len(r.store.Codes()) != 1 {
		t.Errorf("job %+v, codes %v", job, r.store.Codes())
	}
}

// What counts is how often WeCom answers the same in a row.
func TestWaitsAreOfOneRow(t *testing.T) {
	r := newRig(t)
	r.vendor.Add(noon.Add(-time.Hour), usable("42", "door", "amy"))
	answers := []error{callError(45009), callError(45009), callError(84061), callError(45009), callError(84061)}
	r.vendor.Refuse = func(op, _ string) (err error) {
		if op == "get" && len(answers) > 0 {
			err, answers = answers[0], answers[1:]
		}
		return err
	}
	if job := r.run(adoption.IntoShadow); job.Imported != 1 {
		t.Errorf("job %+v", job)
	}
	want := []time.Duration{time.Minute, 2 * time.Minute, time.Second, time.Minute, time.Second}
	if diff := cmp.Diff(want, r.waits); diff != "" {
		t.Errorf("waits (-want +got):\n%s", diff)
	}
}

func TestLeftTime(t *testing.T) {
	for name, test := range map[string]struct {
		job   adoption.Job
		rate  float64
		left  time.Duration
		known bool
	}{
		"not listed yet": {adoption.Job{State: adoption.Listing, Listed: 50}, 5, 0, false},
		"on its way":     {adoption.Job{State: adoption.Adopting, Listed: 50, Tally: adoption.Tally{Done: 20}}, 5, 6 * time.Second, true},
		"at no rate":     {adoption.Job{State: adoption.Adopting, Listed: 50}, 0, 0, false},
		"done":           {adoption.Job{State: adoption.Done, Listed: 50}, 0, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			if left, known := test.job.Left(test.rate); left != test.left || known != test.known {
				t.Errorf("Left = %v, %v; want %v, %v", left, known, test.left, test.known)
			}
		})
	}
}
