package backstop_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/backstop"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/push/pushtest"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

var t0 = time.Date(2026, 3, 2, 4, 0, 0, 0, time.UTC)

// dirtySet shows the fake of the push protocol's tests as a backstop.DirtySet.
type dirtySet struct{ *pushtest.Dirty }

func (d dirtySet) Due(ctx context.Context, now time.Time, limit int) ([]backstop.Entry, error) {
	due, err := d.Dirty.Due(ctx, now, limit)
	out := make([]backstop.Entry, 0, len(due))
	for _, e := range due {
		out = append(out, backstop.Entry{Ref: e.Ref, Reason: e.Reasons[0], Version: e.Version})
	}
	return out, err
}

func (d dirtySet) Claim(ctx context.Context, e backstop.Entry, until time.Time) (backstop.Entry, bool, error) {
	version, ok, err := d.Dirty.Claim(ctx, e.Ref, e.Version, until)
	e.Version = version
	return e, ok, err
}

func (d dirtySet) Remove(ctx context.Context, e backstop.Entry) (bool, error) {
	return d.Dirty.Remove(ctx, e.Ref, e.Version)
}

// topic notes what is published.
type topic struct {
	published []string
	err       error
	before    func()
}

func (t *topic) Publish(_ context.Context, ref push.Ref, why reason.Reason) error {
	if t.before != nil {
		t.before()
	}
	if t.err != nil {
		return t.err
	}
	t.published = append(t.published, ref.Code+" "+why.String())
	return nil
}

// records answers with codes in pages.
type records struct{ codes []string }

func (r records) ExpiredIntents(_ context.Context, _ time.Time, after push.Ref, limit int) ([]push.Ref, error) {
	var out []push.Ref
	for _, c := range r.codes {
		if c > after.Code && len(out) < limit {
			out = append(out, push.Ref{Tenant: "acme", Code: c})
		}
	}
	return out, nil
}

type rig struct {
	*testing.T
	clock   *pushtest.Clock
	dirty   *pushtest.Dirty
	topic   *topic
	records records
}

func newRig(t *testing.T) *rig {
	clock := pushtest.NewClock(t0)
	return &rig{T: t, clock: clock, dirty: pushtest.NewDirty(clock), topic: &topic{}}
}

func (r *rig) sweeper() *backstop.Sweeper {
	return backstop.New(dirtySet{r.dirty}, r.records, r.topic, backstop.Options{
		TenantRate: 2, Batch: 5, ClaimFor: time.Minute, IntentMargin: 5 * time.Second,
		Now: r.clock.Now, Logger: slog.New(slog.DiscardHandler),
	})
}

func (r *rig) mark(tenant, code string, due time.Time) {
	mark := push.Mark{Ref: push.Ref{Tenant: tenant, Code: code}, Reason: reason.Overflow, Due: due}
	if err := r.dirty.Mark(r.Context(), mark); err != nil {
		r.Fatal(err)
	}
}

func (r *rig) release() backstop.Released {
	r.Helper()
	out, err := r.sweeper().Release(r.Context(), time.Second)
	if err != nil {
		r.Fatalf("Release() = %v", err)
	}
	return out
}

func (r *rig) left() int {
	entries, err := r.dirty.List(r.Context(), push.Ref{}, 1000)
	if err != nil {
		r.Fatal(err)
	}
	return len(entries)
}

func TestReleasesWhatIsDueAndNothingElse(t *testing.T) {
	r := newRig(t)
	r.mark("acme", "due", t0.Add(-time.Second))
	r.mark("acme", "later", t0.Add(time.Minute))
	if diff := cmp.Diff(backstop.Released{Published: 1}, r.release()); diff != "" {
		t.Errorf("released (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"due overflow"}, r.topic.published); diff != "" || r.left() != 1 {
		t.Errorf("published (-want +got), %d left:\n%s", r.left(), diff)
	}
}

func TestOneTenantsStormDoesNotStandBeforeAnothersCode(t *testing.T) {
	r := newRig(t)
	for i := range 12 {
		r.mark("storm", fmt.Sprintf("s%02d", i), t0.Add(time.Duration(i-100)*time.Second))
	}
	r.mark("calm", "c1", t0)
	released := map[string]time.Duration{}
	for range 20 {
		r.topic.published = nil
		r.release()
		for _, p := range r.topic.published {
			released[p] = r.clock.Now().Sub(t0)
		}
		r.clock.Advance(time.Second)
	}
	if len(released) != 13 || r.left() != 0 {
		t.Fatalf("%d released, %d left; want all 13", len(released), r.left())
	}
	if at := released["c1 overflow"]; at > 3*time.Second {
		t.Errorf("the calm tenant's code was released after %v", at)
	}
	perSecond := map[time.Duration]int{}
	for code, at := range released {
		if code != "c1 overflow" {
			perSecond[at]++
		}
	}
	for at, n := range perSecond {
		if n > 2 {
			t.Errorf("%d codes of one tenant released at %v; its pace is 2 a second", n, at)
		}
	}
}

func TestCodeWhosePublishFailsStaysDirty(t *testing.T) {
	r := newRig(t)
	r.mark("acme", "c1", t0)
	r.topic.err = errors.New("broker away")
	if _, err := r.sweeper().Release(t.Context(), time.Second); !errors.Is(err, r.topic.err) {
		t.Fatalf("Release() = %v; want the broker's error", err)
	}
	r.topic.err = nil
	r.release()
	if len(r.topic.published) != 0 {
		t.Error("released again while it is claimed")
	}
	r.clock.Advance(time.Minute)
	r.release()
	if len(r.topic.published) != 1 || r.left() != 0 {
		t.Errorf("published %v, %d left; want it released once the claim is over", r.topic.published, r.left())
	}
}

func TestMarkDuringTheReleaseKeepsTheCodeDirty(t *testing.T) {
	r := newRig(t)
	r.mark("acme", "c1", t0)
	r.topic.before = func() { r.topic.before = nil; r.mark("acme", "c1", t0.Add(time.Hour)) }
	r.release()
	if r.left() != 1 {
		t.Error("a mark that came during the release was lost")
	}
}

func TestTwoSweepersReleaseOnce(t *testing.T) {
	r := newRig(t)
	r.mark("acme", "c1", t0)
	other := r.sweeper()
	r.topic.before = func() {
		r.topic.before = nil
		if out, err := other.Release(t.Context(), time.Second); err != nil || out.Published != 0 {
			t.Errorf("a second sweeper released %+v, %v", out, err)
		}
	}
	r.release()
	if len(r.topic.published) != 1 {
		t.Errorf("published %v; want once", r.topic.published)
	}
}

func TestIntentsLeftBehindMakeTheirCodesDirty(t *testing.T) {
	r := newRig(t)
	for i := range 12 {
		r.records.codes = append(r.records.codes, fmt.Sprintf("c%02d", i))
	}
	n, err := r.sweeper().MarkExpired(t.Context())
	if err != nil || n != 12 || r.left() != 12 {
		t.Errorf("MarkExpired() = %d, %v, %d dirty; want all 12, page by page", n, err, r.left())
	}
}
