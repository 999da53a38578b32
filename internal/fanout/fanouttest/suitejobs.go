package fanouttest

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/fanout"
	"github.com/rollcall-dev/rollcall/internal/suitetest"
)

func requestBegins(t *testing.T, b Bench) {
	if _, found, err := b.Store.Job(t.Context(), "nobody's"); found || err != nil {
		t.Errorf("Job of an unknown ID = %v, %v; want none", found, err)
	}
	ticket := b.request(t, liNa, "first", noon)
	b.wantJob(t, fanout.Job{
		Ticket: fanout.Ticket{ID: ticket.ID, Epoch: 1}, Scope: liNa, Why: "why first", Key: "first",
		State: fanout.Pending, Requested: noon,
	})
}

func requestRepeated(t *testing.T, b Bench) {
	job := b.claimed(t)
	job.State, job.Rows, job.Total, job.Last, job.Released = fanout.InProgress, 1, 3, "code-3", 2
	job.Started = noon
	suitetest.Accepted(t, "Save")(b.Store.Save(t.Context(), job))
	if again := b.request(t, liNa, "first", noon.Add(time.Minute)); again != job.Ticket {
		t.Errorf("a repeat got %v, want %v", again, job.Ticket)
	}
	b.wantJob(t, job)
	job.State = fanout.Done
	suitetest.Accepted(t, "Save")(b.Store.Save(t.Context(), job))
	if again := b.request(t, liNa, "first", noon.Add(time.Hour)); again != job.Ticket {
		t.Errorf("a repeat after the end got %v, want %v", again, job.Ticket)
	}
	b.wantJob(t, job)
}

func requestKeyless(t *testing.T, b Bench) {
	for epoch := int64(1); epoch <= 3; epoch++ {
		if ticket := b.request(t, liNa, "", noon); ticket.Epoch != epoch {
			t.Errorf("epoch %d, want %d", ticket.Epoch, epoch)
		}
	}
}

func requestSupersedes(t *testing.T, b Bench) {
	job := b.claimed(t)
	job.State, job.Rows, job.Total, job.Last, job.Released = fanout.Done, 1, 3, "code-3", 3
	job.Started, job.Finished = noon, noon.Add(time.Second)
	suitetest.Accepted(t, "Save")(b.Store.Save(t.Context(), job))
	ticket := b.request(t, liNa, "second", noon.Add(time.Minute))
	if want := (fanout.Ticket{ID: job.ID, Epoch: 2}); ticket != want {
		t.Errorf("ticket %v, want %v", ticket, want)
	}
	b.wantJob(t, fanout.Job{
		Ticket: ticket, Scope: liNa, Why: "why second", Key: "second",
		State: fanout.Pending, Requested: noon.Add(time.Minute), Claim: job.Claim,
	})
}

func requestScopes(t *testing.T, b Bench) {
	others := []fanout.Scope{liNa, acme, {Tenant: "globex"}, {Tenant: "globex", Staff: "li.na"}, {Tenant: "acme", Staff: "li"}}
	ids := map[string]bool{}
	for _, scope := range others {
		ticket := b.request(t, scope, "first", noon)
		ids[ticket.ID] = true
		if job := b.job(t, ticket.ID); ticket.Epoch != 1 || job.Scope != scope {
			t.Errorf("%v became epoch %d of %v", scope, ticket.Epoch, job.Scope)
		}
	}
	if len(ids) != len(others) {
		t.Errorf("%d jobs for %d scopes", len(ids), len(others))
	}
}

func requestRace(t *testing.T, b Bench) {
	for epoch := int64(1); epoch <= 3; epoch++ {
		tickets := b.requestAtOnce(t, func(int) string { return fmt.Sprint("key ", epoch) })
		for _, ticket := range tickets {
			if ticket != (fanout.Ticket{ID: tickets[0].ID, Epoch: epoch}) {
				t.Errorf("tickets %v, want all of epoch %d", tickets, epoch)
				return
			}
		}
	}
}

func requestRaceOfKeys(t *testing.T, b Bench) {
	var epochs []int64
	for _, ticket := range b.requestAtOnce(t, func(i int) string { return fmt.Sprint("key ", i) }) {
		epochs = append(epochs, ticket.Epoch)
	}
	slices.Sort(epochs)
	for i, epoch := range epochs {
		if epoch != int64(i+1) {
			t.Errorf("epochs %v, want each once from 1 on", epochs)
			return
		}
	}
}

// requestAtOnce makes 16 requests of one scope at the same time.
func (b Bench) requestAtOnce(t *testing.T, key func(i int) string) []fanout.Ticket {
	var mu sync.Mutex
	var tickets []fanout.Ticket
	suitetest.Race(t, 16, func(i int) (bool, error) {
		ticket, err := b.Store.Request(t.Context(), fanout.Request{Scope: liNa, Why: "race", At: noon, Key: key(i)})
		mu.Lock()
		defer mu.Unlock()
		tickets = append(tickets, ticket)
		return true, err
	})
	return tickets
}

func openLists(t *testing.T, b Bench) {
	second := b.request(t, fanout.Scope{Tenant: "acme", Staff: "a"}, "k", noon.Add(2*time.Second))
	third := b.request(t, fanout.Scope{Tenant: "acme", Staff: "b"}, "k", noon.Add(3*time.Second))
	first := b.request(t, fanout.Scope{Tenant: "globex"}, "k", noon.Add(time.Second))
	b.wantOpen(t, noon, nil, 10, first, second, third)
	b.wantOpen(t, noon, nil, 2, first, second)

	held := b.claim(t, b.job(t, first.ID), noon)
	b.wantOpen(t, noon.Add(lease-time.Millisecond), nil, 10, second, third)
	b.wantOpen(t, noon.Add(lease), nil, 10, first, second, third)

	held.State = fanout.InProgress
	suitetest.Accepted(t, "Save")(b.Store.Save(t.Context(), held))
	b.wantOpen(t, noon.Add(lease), nil, 10, first, second, third)
	held.State = fanout.Done
	suitetest.Accepted(t, "Save")(b.Store.Save(t.Context(), held))
	b.wantOpen(t, noon.Add(lease), nil, 10, second, third)
}

func openWithout(t *testing.T, b Bench) {
	for i := range 5 {
		b.request(t, fanout.Scope{Tenant: "acme", Staff: fmt.Sprint(i)}, "k", noon)
	}
	other := b.request(t, fanout.Scope{Tenant: "globex"}, "k", noon.Add(time.Hour))
	b.wantOpen(t, noon, []string{"acme"}, 2, other)
	b.wantOpen(t, noon, []string{"acme", "globex"}, 2)
}

func (b Bench) wantOpen(t *testing.T, now time.Time, without []string, limit int, want ...fanout.Ticket) {
	t.Helper()
	jobs, err := b.Store.Open(t.Context(), now, without, limit)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	var got []fanout.Ticket
	for _, job := range jobs {
		got = append(got, job.Ticket)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("open at %v (-want +got):\n%s", now, diff)
	}
}

func claimHeld(t *testing.T, b Bench) {
	job := b.claimed(t)
	b.wantJob(t, job)
	next := fanout.Claim{Token: 2, Owner: "keeper-2", Until: noon.Add(time.Hour)}
	suitetest.Refused(t, "Claim while one holds")(
		b.Store.Claim(t.Context(), job, next, noon.Add(lease-time.Millisecond)),
	)
	b.wantJob(t, job)
	suitetest.Accepted(t, "Claim at the end of the one before")(b.Store.Claim(t.Context(), job, next, noon.Add(lease)))
	job.Claim = next
	b.wantJob(t, job)
}

func claimToken(t *testing.T, b Bench) {
	job := b.claimed(t)
	for _, token := range []int64{1, 3, 7} {
		claim := fanout.Claim{Token: token, Owner: "keeper-2", Until: noon.Add(time.Hour)}
		suitetest.Refused(t, fmt.Sprintf("Claim with token %d after token 1", token))(
			b.Store.Claim(t.Context(), job, claim, noon.Add(lease)),
		)
	}
	b.wantJob(t, job)
}

func claimEpoch(t *testing.T, b Bench) {
	seen := b.job(t, b.request(t, liNa, "first", noon).ID)
	b.request(t, liNa, "second", noon)
	suitetest.Refused(t, "Claim of an epoch gone by")(
		b.Store.Claim(t.Context(), seen, fanout.Claim{Token: 1, Until: noon.Add(lease)}, noon),
	)
	b.claim(t, b.job(t, seen.ID), noon)
}

func claimRace(t *testing.T, b Bench) {
	job := b.job(t, b.request(t, liNa, "first", noon).ID)
	for token := int64(1); token <= 3; token++ {
		now := noon.Add(time.Duration(token) * lease)
		var winners []string
		for _, i := range suitetest.Race(t, 16, func(i int) (bool, error) {
			claim := fanout.Claim{Token: token, Owner: fmt.Sprint("keeper-", i), Until: now.Add(lease)}
			return b.Store.Claim(t.Context(), job, claim, now)
		}) {
			winners = append(winners, fmt.Sprint("keeper-", i))
		}
		job = b.job(t, job.ID)
		if diff := cmp.Diff([]string{job.Claim.Owner}, winners); diff != "" {
			t.Errorf("winners of token %d (-job's +those told):\n%s", token, diff)
		}
	}
}

func claimRelease(t *testing.T, b Bench) {
	first := b.claimed(t)
	second := b.claim(t, first, noon.Add(lease))
	b.release(t, first)
	b.wantJob(t, second)
	b.release(t, second)
	second.Claim.Until = time.Time{}
	b.wantJob(t, second)
	b.claim(t, second, noon)
}

func claimReleaseLater(t *testing.T, b Bench) {
	first := b.claimed(t)
	ticket := b.request(t, liNa, "second", noon)
	b.release(t, first)
	b.wantOpen(t, noon, nil, 10, ticket)
}

func (b Bench) release(t *testing.T, job fanout.Job) {
	t.Helper()
	if err := b.Store.Release(t.Context(), job); err != nil {
		t.Fatalf("Release: %v", err)
	}
}

func saveKeeps(t *testing.T, b Bench) {
	job := b.claimed(t)
	job.State, job.Rows, job.Total, job.Last, job.Released = fanout.InProgress, 3, 1200, "code-1199", 700
	job.Started, job.Finished = noon, noon.Add(time.Minute)
	suitetest.Accepted(t, "Save")(b.Store.Save(t.Context(), job))
	b.wantJob(t, job)
}

func saveLostClaim(t *testing.T, b Bench) {
	lost := b.claimed(t)
	job := b.claim(t, lost, noon.Add(lease))
	lost.State, lost.Released, lost.Claim.Until = fanout.Done, 9, noon.Add(time.Hour)
	suitetest.Refused(t, "Save under a lost claim")(b.Store.Save(t.Context(), lost))
	b.wantJob(t, job)
}

func saveEpoch(t *testing.T, b Bench) {
	old := b.claimed(t)
	b.request(t, liNa, "second", noon)
	job := b.job(t, old.ID)
	old.State, old.Released, old.Claim.Until = fanout.Done, 9, noon.Add(time.Hour)
	suitetest.Refused(t, "Save in an epoch gone by")(b.Store.Save(t.Context(), old))
	b.wantJob(t, job)
}

func saveRenews(t *testing.T, b Bench) {
	job := b.claimed(t)
	job.Claim.Until = noon.Add(3 * lease)
	suitetest.Accepted(t, "Save")(b.Store.Save(t.Context(), job))
	b.wantOpen(t, noon.Add(2*lease), nil, 10)
	next := fanout.Claim{Token: 2, Until: noon.Add(time.Hour)}
	suitetest.Refused(t, "Claim of a renewed one")(b.Store.Claim(t.Context(), job, next, noon.Add(2*lease)))
}

func saveNothing(t *testing.T, b Bench) {
	suitetest.Refused(t, "Save of an unknown job")(
		b.Store.Save(t.Context(), fanout.Job{Ticket: fanout.Ticket{ID: "nobody's", Epoch: 1}, State: fanout.Done}),
	)
	if _, found, err := b.Store.Job(t.Context(), "nobody's"); found || err != nil {
		t.Errorf("Job = %v, %v; want none", found, err)
	}
}
