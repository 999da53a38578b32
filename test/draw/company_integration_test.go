//go:build integration

package draw_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// The members of ten hot codes share a daily total. 64 customers at a time draw
// from all codes, additions are counted 200 ms late, and the sets are replaced
// meanwhile from facts that know no better. Nobody is drawn beyond the total,
// and everybody up to it.
func TestTheCompanysTotalIsExactOverManyCodes(t *testing.T) {
	const codes = 10
	for _, tt := range []struct{ members, total int }{{1, 1000}, {5, 300}} {
		t.Run(fmt.Sprintf("%d members, %d each", tt.members, tt.total), func(t *testing.T) {
			b := newBranches(t, codes, tt.members, tt.total)
			stopRefreshers, stopCounting := b.refreshers(), b.counting()
			begun := time.Now()
			free, nobody := b.drawAll(tt.members * tt.total)
			took := time.Since(begun)
			stopCounting()
			replaced := stopRefreshers()

			b.mu.Lock()
			defer b.mu.Unlock()
			for member, n := range b.drawn {
				if n != tt.total {
					t.Errorf("%s was drawn %d times, want %d", name(member), n, tt.total)
				}
			}
			t.Logf("%d customers were given somebody and %d nobody, in %v; the sets were replaced %d times; %d round trips to Redis; %d refreshes asked for",
				free, nobody, took.Round(time.Millisecond), replaced, b.house.trips.Load(), b.house.refreshes.Load())
		})
	}
}

// branches are codes that share their members, and the truth about these.
type branches struct {
	*testing.T
	house *house
	codes []push.Ref
	total int

	mu      sync.Mutex
	drawn   []int   // by member
	counted [][]int // additions by code and member
	today   []int   // by member
	coming  []arrival
}

// arrival is a customer who is not counted yet.
type arrival struct {
	code, member int
	at           time.Time
}

const countedAfter = 200 * time.Millisecond

func newBranches(t *testing.T, codes, members, total int) *branches {
	t.Helper()
	b := &branches{T: t, total: total, drawn: make([]int, members), today: make([]int, members)}
	for i := range codes {
		b.codes = append(b.codes, push.Ref{Tenant: hot.Tenant, Code: fmt.Sprintf("hot-%d", i)})
		b.counted = append(b.counted, make([]int, members))
	}
	b.house = &house{T: t, truth: newTruth(nil)}
	b.house.open(b)
	for code := range b.codes {
		if ok, err := b.refresh(t.Context(), code); !ok || err != nil {
			t.Fatalf("the first set: %v, %v", ok, err)
		}
	}
	return b
}

// drawAll has all clients draw from any code until everybody is at the total,
// and for a while after that.
func (b *branches) drawAll(want int) (free, nobody int64) {
	const after = 2 * countedAfter
	given, denied := atomic.Int64{}, atomic.Int64{}
	ctx, cancel := context.WithTimeout(b.Context(), 20*time.Second) // within 2 s wherever the machine has time
	defer cancel()
	var enough sync.Once
	var wg sync.WaitGroup
	for range clients {
		wg.Go(func() {
			for ctx.Err() == nil {
				code := rand.IntN(len(b.codes))
				d, ok, err := b.house.drawFrom(b.Context(), b.codes[code].Code, "")
				switch {
				case err != nil:
					b.Error(err)
					return
				case !ok:
					denied.Add(1)
					continue
				}
				b.add(code, memberOf(d.Staff))
				if given.Add(1) >= int64(want) {
					enough.Do(func() { time.AfterFunc(after, cancel) })
				}
			}
		})
	}
	wg.Wait()
	return given.Load(), denied.Load()
}

func (b *branches) add(code, member int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.drawn[member]++
	b.coming = append(b.coming, arrival{code: code, member: member, at: time.Now()})
}

// counting counts each customer when his time has come, until the stop.
func (b *branches) counting() (stop func()) {
	return b.house.every(20*time.Millisecond, func(context.Context) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.coming = slices.DeleteFunc(b.coming, func(a arrival) bool {
			if time.Since(a.at) < countedAfter {
				return false
			}
			b.counted[a.code][a.member]++
			b.today[a.member]++
			return true
		})
	})
}

// refreshers replace the sets, one code after the other, until the stop.
func (b *branches) refreshers() (stop func() int64) {
	var replaced atomic.Int64
	next := 0
	halt := b.house.every(10*time.Millisecond, func(ctx context.Context) {
		ok, err := b.refresh(ctx, next%len(b.codes))
		if next++; ok {
			replaced.Add(1)
		}
		if err != nil && ctx.Err() == nil {
			b.Error(err)
		}
	})
	return func() int64 { halt(); return replaced.Load() }
}

func (b *branches) refresh(ctx context.Context, code int) (bool, error) {
	version, err := b.house.rotation.Version(ctx, b.codes[code])
	if err != nil {
		return false, err
	}
	_, ok, err := b.house.rotation.Replace(ctx, b.codes[code], version, push.Set{Seats: b.seats(code)})
	return ok, err
}

// seats are those that the facts ask for; who is at the total stays in the set,
// since nobody else is left to be drawn.
func (b *branches) seats(code int) []roster.Seat {
	b.mu.Lock()
	defer b.mu.Unlock()
	seats := make([]roster.Seat, len(b.today))
	for member, today := range b.today {
		seats[member] = roster.Seat{
			Staff: name(member), Headroom: b.total - today, Counted: b.counted[code][member],
			Company: roster.CompanyDay{Total: b.total, Counted: today, Until: time.Now().Add(24 * time.Hour).Unix()},
		}
	}
	return seats
}

// The store: no set is missing, so only the tenant is asked for.

func (b *branches) TenantOf(context.Context, string) (string, error) { return hot.Tenant, nil }

func (b *branches) Load(context.Context, push.Ref) (roster.Facts, push.Record, error) {
	return roster.Facts{}, push.Record{}, push.ErrUnknownCode
}

func (b *branches) AdvanceRound(context.Context, push.Ref, int64) (bool, error) { return true, nil }
