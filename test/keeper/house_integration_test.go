//go:build integration

package keeper_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/backstop/lease"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/pkg/refresh"
	"github.com/rollcall-dev/rollcall/test/await"
	"github.com/rollcall-dev/rollcall/test/eventlog"
	"github.com/rollcall-dev/rollcall/test/fleet"
	"github.com/rollcall-dev/rollcall/test/stack/stacktest"
)

// house is one installation that consists of keepers: a topic, a database and
// a key prefix of its own, and a reader of all that they publish.
type house struct {
	*testing.T
	db    *mongostore.Database
	fleet *fleet.Fleet

	mu     sync.Mutex
	marked map[push.Ref]time.Time
	seen   map[push.Ref]time.Time // first
	events int
}

func newHouse(t *testing.T) *house {
	t.Helper()
	h := &house{T: t, marked: map[push.Ref]time.Time{}, seen: map[push.Ref]time.Time{}}
	name := "keeper-" + rand.Text()[:10]
	topic := "persistent://public/default/" + name
	var err error
	h.db, err = mongostore.Open(mongostore.Options{URI: stacktest.MongoURI(t), Database: name, Timeout: 20 * time.Second})
	h.must(err)
	h.Cleanup(func() { _ = h.db.Close(context.WithoutCancel(t.Context())) })
	eventlog.Follow(t, topic, h.note)
	h.fleet = fleet.New(binary(t), []string{
		"ROLLCALL_MONGODB_DATABASE=" + name,
		"ROLLCALL_REDIS_KEY_PREFIX=" + name + ":",
		"ROLLCALL_REDIS_URL=" + stacktest.RedisURL(t),
		"ROLLCALL_PULSAR_TOPIC=" + topic,
		"ROLLCALL_KEEPER_CONFIRM=10m", // the codes have no facts, and never agree
		"ROLLCALL_PULSAR_DEAD_LETTER_TOPIC=" + topic + "-dead",
	}, t.TempDir())
	h.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 30*time.Second)
		defer cancel()
		if err := h.fleet.Stop(ctx); err != nil {
			t.Errorf("stop the keepers: %v", err)
		}
	})
	return h
}

// built is the binary, built once for all tests.
var built struct {
	sync.Once
	path string
	err  error
}

func binary(t *testing.T) string {
	t.Helper()
	built.Do(func() {
		built.path = filepath.Join(buildDir, "rollcall")
		out, err := exec.Command("go", "build", "-o", built.path, "../../cmd/rollcall").CombinedOutput()
		if err != nil {
			built.err = fmt.Errorf("build rollcall: %w\n%s", err, out)
		}
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return built.path
}

// note keeps when a code was published first.
func (h *house) note(event refresh.Event) {
	ref := push.Ref{Tenant: event.Tenant, Code: event.Code}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events++
	if _, known := h.seen[ref]; !known {
		h.seen[ref] = time.Now()
	}
}

// start runs one more keeper and returns when it says that it is ready, be it
// at work or standing by.
func (h *house) start() *fleet.Member {
	h.Helper()
	m, err := h.fleet.Start(h.Context(), "keeper")
	h.must(err)
	return m
}

func (h *house) signal(m *fleet.Member, s syscall.Signal) {
	h.Helper()
	if err := syscall.Kill(m.PID(), s); err != nil {
		h.Fatalf("signal %s: %v", m.Name(), err)
	}
}

func (h *house) lease() lease.State {
	h.Helper()
	s, err := h.db.Leases().Read(h.Context(), "keeper")
	h.must(err)
	return s
}

// holder waits until somebody holds the lease under a newer token than the one
// named, and returns the process and the lease.
func (h *house) holder(after int64) (*fleet.Member, lease.State) {
	h.Helper()
	var m *fleet.Member
	var s lease.State
	h.eventually(60*time.Second, "somebody takes the lease", func() bool {
		if s = h.lease(); s.Token <= after || s.Holder == "" {
			return false
		}
		for _, m = range h.fleet.Members() {
			if m.Name() == s.Holder {
				return true
			}
		}
		return false
	})
	return m, s
}

// mark makes codes of many tenants dirty, due now.
func (h *house) mark(name string, tenants, codes int) {
	h.Helper()
	h.markAt(name, tenants, codes, time.Now())
}

// markAnew marks the same codes for later.
func (h *house) markAnew(name string, tenants, codes int) {
	h.Helper()
	h.markAt(name, tenants, codes, time.Now().Add(time.Hour))
}

func (h *house) markAt(name string, tenants, codes int, due time.Time) {
	h.Helper()
	work := make(chan push.Ref)
	var marking sync.WaitGroup
	for range 16 {
		marking.Go(func() {
			for ref := range work {
				h.markOne(ref, due)
			}
		})
	}
	for i := range tenants {
		for j := range codes {
			work <- push.Ref{Tenant: fmt.Sprintf("%s-t%02d", name, i), Code: fmt.Sprintf("%s-%02d-%05d", name, i, j)}
		}
	}
	close(work)
	marking.Wait()
}

func (h *house) markOne(ref push.Ref, due time.Time) {
	h.mu.Lock()
	h.marked[ref] = time.Now()
	h.mu.Unlock()
	mark := push.Mark{Ref: ref, Reason: reason.Overflow, Due: due}
	if err := h.db.Dirty().Mark(h.Context(), mark); err != nil {
		h.Errorf("mark %s: %v", ref.Code, err)
	}
}

// published is how many events there are, of how many codes.
func (h *house) published() (events, codes int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.events, len(h.seen)
}

// wantNothingDue waits until all that is due has been released.
func (h *house) wantNothingDue() {
	h.Helper()
	h.eventually(60*time.Second, "nothing is due any more", func() bool {
		return !slices.ContainsFunc(h.unreleased(), func(e mongostore.DirtyEntry) bool { return !e.Due.After(time.Now()) })
	})
}

// unreleased are the codes of the set that were not released yet.
func (h *house) unreleased() []mongostore.DirtyEntry {
	h.Helper()
	entries, err := h.db.Dirty().List(h.Context(), push.Ref{}, 100_000)
	h.must(err)
	return slices.DeleteFunc(entries, func(e mongostore.DirtyEntry) bool { return e.State == push.DirtyReleased })
}

// dirty is how many they are.
func (h *house) dirty() int { return len(h.unreleased()) }

// wantAllReleased waits until the whole set is released, and wants an event of
// every code that was ever marked.
func (h *house) wantAllReleased(limit time.Duration) {
	h.Helper()
	h.eventually(limit, "the dirty set is released", func() bool {
		return h.dirty() == 0
	})
	h.eventually(10*time.Second, "every marked code was published", func() bool { return len(h.missing()) == 0 })
}

func (h *house) missing() []push.Ref {
	h.mu.Lock()
	defer h.mu.Unlock()
	var missing []push.Ref
	for ref := range h.marked {
		if _, ok := h.seen[ref]; !ok {
			missing = append(missing, ref)
		}
	}
	return missing
}

func (h *house) must(err error) {
	h.Helper()
	if err != nil {
		h.Fatal(err)
	}
}

// eventually polls until a condition holds.
func (h *house) eventually(limit time.Duration, what string, holds func() bool) {
	h.Helper()
	await.Until(h, limit, 20*time.Millisecond, what, holds)
}
