//go:build integration

package migration

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/adapter/wecom"
	"github.com/rollcall-dev/rollcall/internal/adoption"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/registry"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/seal"
	"github.com/rollcall-dev/rollcall/internal/wecomsim"
	"github.com/rollcall-dev/rollcall/internal/wecomsim/fault"
	"github.com/rollcall-dev/rollcall/test/await"
	"github.com/rollcall-dev/rollcall/test/stack/stacktest"
)

const (
	tenant = "acme"
	corp   = "corp-acme"
	usable = 1200
	lone   = 40 // contact ways of a single member
	held   = 5  // of the usable ones, those that have a code
)

// house is a company that has lived in another system for years.
type house struct {
	*testing.T
	db   *mongostore.Database
	sim  *wecomsim.Sim
	env  []string
	ways []string
}

func newHouse(t *testing.T) *house {
	t.Helper()
	h := &house{T: t, sim: wecomsim.New(wecomsim.Options{Seed: 11})}
	t.Cleanup(h.sim.Close)
	server := httptest.NewServer(h.sim.Handler())
	t.Cleanup(server.Close)
	uri, name, keys := stacktest.MongoURI(t), "migration_"+rand.Text()[:10], seal.Generate("test")
	var err error
	h.db, err = open(uri, name, keys)
	h.must(err)
	t.Cleanup(func() { _ = h.db.Close(context.WithoutCancel(t.Context())) })
	h.env = append(os.Environ(), envURI+"="+uri, envDatabase+"="+name, envKeys+"="+keys, envWeCom+"="+server.URL)
	h.settle()
	return h
}

// settle puts the company's contact ways at WeCom: most with a state of their own,
// some with one that many share, some without, some that Rollcall has no use for.
func (h *house) settle() {
	h.Helper()
	secret := rand.Text()
	h.must(h.sim.SetCorp(wecomsim.Corp{ID: corp, Apps: []wecomsim.App{{Secret: secret}}, OpenRoster: true}))
	h.must(h.db.Facts().PutCredentials(h.Context(), tenant, corp, secret))
	day := time.Now().AddDate(0, 0, -1).Truncate(time.Second)
	h.ways = h.sim.AddWays(corp, usable, func(i int) wecomsim.Way {
		return wecomsim.Way{
			Users: []string{fmt.Sprint("staff-", i%97), fmt.Sprint("staff-", i%89+100)}, Remark: fmt.Sprint("stand ", i), SkipVerify: i%3 == 0,
			State: stateOf(i), CreatedAt: day.AddDate(0, 0, -i),
		}
	})
	h.sim.AddWays(corp, lone, func(i int) wecomsim.Way {
		return wecomsim.Way{Type: wecomsim.SingleUser, Users: []string{"amy"}, CreatedAt: day.AddDate(0, 0, -40*i)}
	})
}

func stateOf(i int) string {
	switch i % 50 {
	case 0:
		return ""
	case 1:
		return "everywhere"
	}
	return fmt.Sprint("door-", i)
}

func (h *house) must(err error) {
	h.Helper()
	if err != nil {
		h.Fatal(err)
	}
}

// start runs a process that imports.
func (h *house) start(owner string) *exec.Cmd {
	h.Helper()
	binary, err := os.Executable()
	h.must(err)
	cmd := exec.CommandContext(h.Context(), binary)
	cmd.Env = append(slices.Clone(h.env), envOwner+"="+owner)
	cmd.Stderr = &bytes.Buffer{}
	h.must(cmd.Start())
	return cmd
}

// end waits for a process and returns its exit code.
func (h *house) end(cmd *exec.Cmd) int {
	h.Helper()
	err := cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		if exit.ExitCode() == 1 {
			h.Errorf("a process failed: %s", cmd.Stderr)
		}
		return exit.ExitCode()
	}
	h.must(err)
	return 0
}

func (h *house) job() adoption.Job {
	h.Helper()
	job, _, err := h.db.Imports().Job(h.Context(), tenant)
	h.must(err)
	return job
}

func (h *house) until(what string, cond func(adoption.Job) bool) {
	h.Helper()
	await.Until(h.T, 60*time.Second, 20*time.Millisecond, what, func() bool { return cond(h.job()) })
}

// A company of 1 240 contact ways is imported by three processes, of which the
// first is killed while it lists, the second while it reads, while WeCom answers
// that there are too many calls, that it is busy, and nothing at all.
func TestImportThroughDeathsAndThrottles(t *testing.T) {
	h := newHouse(t)
	h.holdSome()
	for _, rule := range []fault.Rule{
		{API: wecom.OpList, Action: fault.ErrCode, ErrCode: 45009, Phase: fault.Before, Skip: 3, Count: 2},
		{API: wecom.OpList, Action: fault.ErrCode, ErrCode: -1, Phase: fault.Before, Skip: 12, Count: 2},
		{API: wecom.OpGet, Action: fault.ErrCode, ErrCode: 45009, Phase: fault.Before, Skip: 100, Count: 3},
		{API: wecom.OpGet, Action: fault.ErrCode, ErrCode: 45033, Phase: fault.Before, Skip: 200, Count: 5},
		{API: wecom.OpGet, Action: fault.Reset, Phase: fault.After, Probability: 0.02, Count: 20},
		{API: wecom.OpGet, Action: fault.Status, Status: http.StatusBadGateway, Phase: fault.Before, Skip: 400, Count: 4},
	} {
		_, err := h.sim.AddFault(rule)
		h.must(err)
	}
	h.die("p1", "it lists", func(job adoption.Job) bool { return job.Listed > 200 })
	if code := h.end(h.start("rival")); code != exitBusy {
		t.Errorf("a second process ended with %d, want it refused", code)
	}
	h.unclaimed()
	h.die("p2", "it is half through", func(job adoption.Job) bool { return job.Done > 600 })
	h.unclaimed()
	if code := h.end(h.start("p3")); code != 0 {
		t.Fatalf("the last process ended with %d", code)
	}
	h.wantImported()
	h.wantAsAtWeCom()
	h.wantAnnounced()
}

// holdSome gives some of the contact ways a code, in a tenant of shadow mode.
func (h *house) holdSome() {
	h.Helper()
	h.must(h.db.Adoptions().Shadow(h.Context(), tenant))
	for i := range held {
		h.must(h.db.Facts().PutCodes(h.Context(), roster.Code{
			ID: fmt.Sprint("ours-", i), Tenant: tenant, ConfigID: h.ways[100*i+7], Family: roster.Native,
		}))
	}
}

// die starts a process and kills it when it is so far.
func (h *house) die(owner, what string, far func(adoption.Job) bool) {
	h.Helper()
	cmd := h.start(owner)
	h.until(what, far)
	h.must(cmd.Process.Kill())
	_ = h.end(cmd)
	h.Logf("%s was killed: %d listed, %d done", owner, h.job().Listed, h.job().Done)
}

// unclaimed waits until the claim of a process that was killed has run out.
func (h *house) unclaimed() {
	h.Helper()
	h.until("its claim has run out", func(job adoption.Job) bool { return !job.Running(time.Now()) })
}

func (h *house) wantImported() {
	h.Helper()
	job := h.job()
	want := adoption.Tally{
		Done: usable + lone, Imported: usable - held, Held: held,
		Skipped: map[adoption.Why]int{adoption.SingleMember: lone}, Failed: map[adoption.Why]int{},
	}
	if diff := cmp.Diff(want, job.Tally); diff != "" || job.State != adoption.Done {
		h.Errorf("job %s (-want +got):\n%s", job.State, diff)
	}
	left, err := adoption.LeftOf(h.Context(), h.db.Imports(), job)
	if err != nil || len(left) != lone {
		h.Errorf("%d are told as left, %v; want %d", len(left), err, lone)
	}
}

// wantAsAtWeCom fails unless each contact way has one code, which has all that a
// push would overwrite, and whose members are known.
func (h *house) wantAsAtWeCom() {
	h.Helper()
	codes := map[string]roster.Code{}
	for _, code := range h.codes() {
		if before, twice := codes[code.ConfigID]; twice {
			h.Errorf("contact way %s has the codes %s and %s", code.ConfigID, before.ID, code.ID)
		}
		codes[code.ConfigID] = code.Code
	}
	if len(codes) != usable {
		h.Errorf("%d contact ways have a code, want %d", len(codes), usable)
	}
	shared := 0
	for i, id := range h.ways {
		code := codes[id]
		if len(code.ID) > 5 && code.ID[:5] == "ours-" {
			continue
		}
		way, _ := h.sim.Way(corp, id)
		want := roster.Code{
			ID: code.ID, Tenant: tenant, ConfigID: id, Family: roster.Native, Remark: way.Remark, State: way.State, SkipVerify: way.SkipVerify,
			Revision: 1, CreatedAt: code.CreatedAt, UpdatedAt: code.UpdatedAt,
		}
		for _, user := range slices.Sorted(slices.Values(way.Users)) {
			want.Members = append(want.Members, roster.Member{Staff: user})
		}
		if diff := cmp.Diff(want, code); diff != "" {
			h.Errorf("code %d (-want +got):\n%s", i, diff)
		}
		if code.ID == "everywhere" {
			shared++
		} else if code.ID != "wx-"+id && code.ID != way.State {
			h.Errorf("the code of %q is %s", way.State, code.ID)
		}
	}
	if shared != 1 {
		h.Errorf("%d codes have the state that many share for an ID", shared)
	}
	facts, err := h.db.Store().Facts(h.Context(), push.Ref{Tenant: tenant, Code: "door-2"})
	if err != nil || len(facts.Staff) != 2 {
		h.Errorf("the members of a code are %v, %v", facts.Staff, err)
	}
}

func (h *house) codes() (all []registry.Code) {
	h.Helper()
	for after := ""; ; after = all[len(all)-1].ID {
		page, err := h.db.Registry().ListCodes(h.Context(), tenant, registry.Page{After: after, Limit: 500})
		h.must(err)
		all = append(all, page...)
		if len(page) < 500 {
			return all
		}
	}
}

// wantAnnounced fails unless each code that was imported is to be recomputed, and
// the others with a fan-out.
func (h *house) wantAnnounced() {
	h.Helper()
	entries, err := h.db.Dirty().List(h.Context(), push.Ref{}, 2*usable)
	h.must(err)
	if len(entries) != usable-held {
		h.Errorf("%d codes were announced, want %d", len(entries), usable-held)
	}
	fanOut, found, err := h.db.FanOuts().Job(h.Context(), tenant)
	if err != nil || !found || fanOut.Key != h.job().Run {
		h.Errorf("fan-out %+v, %v, %v", fanOut, found, err)
	}
}
