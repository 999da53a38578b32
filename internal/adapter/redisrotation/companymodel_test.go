package redisrotation

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/rollcall-dev/rollcall/internal/draw"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// Over several codes that share their members, the scripts do what the model
// does; and as long as nothing is forgotten, nobody is drawn beyond the
// company's total.
func TestAgreesWithTheModelOfACompany(t *testing.T) {
	h := newHarness(t)
	start := h.now
	rapid.Check(t, func(rt *rapid.T) {
		h.server.FlushAll()
		h.now = start
		c := newCompany(rapid.IntRange(0, 5).Draw(rt, "total"), h.now)
		calm := rapid.Bool().Draw(rt, "calm")
		for range rapid.IntRange(1, 80).Draw(rt, "steps") {
			id := rapid.SampledFrom([]string{"A", "B", "C"}).Draw(rt, "code")
			ref := push.Ref{Tenant: "corp", Code: id}
			switch step := rapid.IntRange(0, 11).Draw(rt, "step"); {
			case step <= 2:
				set := c.set(rt, id, h.now)
				v, ok, err := h.rotation.Replace(t.Context(), ref, c.versions[id], set)
				if err != nil || !ok {
					rt.Fatalf("replace: %v, %v", ok, err)
				}
				c.replace(id, v, set, h.now)
			case step == 3:
				c.customersCome(id, rapid.IntRange(0, 3).Draw(rt, "customers"))
			case step == 4 && !calm:
				c.today[rapid.SampledFrom(crew).Draw(rt, "elsewhere")]++
			case step == 5:
				h.now = h.now.Add(c.wait(rt, calm))
				c.rollOver(h.now)
			default:
				got, err := h.rotation.Draw(t.Context(), ref, "")
				want, some := c.draw(id, h.now)
				if diff := cmp.Diff(fmt.Sprintf("%+v %v", want, !some), fmt.Sprintf("%+v %v", got, err != nil)); diff != "" {
					rt.Fatalf("draw from %s (-model +redis):\n%s", id, diff)
				}
				if c.drawn[got.Staff]++; calm && some && got.Staff != "free" && c.drawn[got.Staff] > c.total && c.total > 0 {
					rt.Fatalf("%s was drawn %d times, the total is %d", got.Staff, c.drawn[got.Staff], c.total)
				}
			}
		}
	})
}

var crew = []string{"a", "b", "c"}

// company is a model of each code, one of each member's ledger, and the truth.
type company struct {
	total    int
	codes    map[string]*model
	sets     map[string]push.Set
	versions map[string]int64
	ledgers  map[string]*ledgerModel
	day      time.Time      // the end of today
	today    map[string]int // additions over all codes, by staff
	drawn    map[string]int
}

func newCompany(total int, now time.Time) *company {
	c := &company{
		total: total, day: endOfDay(now),
		codes: map[string]*model{}, sets: map[string]push.Set{}, versions: map[string]int64{},
		ledgers: map[string]*ledgerModel{}, today: map[string]int{}, drawn: map[string]int{},
	}
	for _, id := range []string{"A", "B", "C"} {
		c.codes[id] = newModel(time.Minute)
	}
	for _, staff := range crew {
		c.ledgers[staff] = &ledgerModel{claims: map[string]*claim{}}
	}
	return c
}

func (c *company) wait(rt *rapid.T, calm bool) time.Duration {
	if calm {
		return time.Duration(rapid.IntRange(0, 500).Draw(rt, "milliseconds")) * time.Millisecond
	}
	return rapid.SampledFrom([]time.Duration{400 * time.Millisecond, time.Second, 25 * time.Second, time.Minute, 8 * time.Hour}).Draw(rt, "wait")
}

func (c *company) rollOver(now time.Time) {
	if end := endOfDay(now); !end.Equal(c.day) {
		c.day, c.today = end, map[string]int{}
	}
}

func endOfDay(now time.Time) time.Time { return now.Truncate(24 * time.Hour).Add(24 * time.Hour) }

// set is what the facts ask for now; some members have a ceiling of the code
// too, and one no company's.
func (c *company) set(rt *rapid.T, id string, now time.Time) push.Set {
	var set push.Set
	names := rapid.Permutation([]string{"a", "b", "c", "free"}).Draw(rt, "order")
	for _, name := range names[:rapid.IntRange(0, len(names)).Draw(rt, "members")] {
		seat := roster.Seat{Staff: name, Headroom: -1, Counted: c.codes[id].facts[name]}
		if name == "b" {
			seat.Headroom = max(0, 3-seat.Counted)
		}
		if name != "free" && c.total > 0 {
			seat.Company = roster.CompanyDay{Total: c.total, Counted: c.today[name]}
		}
		if seat.Company.Counted > 0 {
			seat.Company.Until = endOfDay(now).Unix()
		}
		set.Seats = append(set.Seats, seat)
	}
	return set
}

func (c *company) replace(id string, version int64, set push.Set, now time.Time) {
	m := c.codes[id]
	for _, seat := range set.Seats {
		p := m.members[seat.Staff]
		if seat.Company.Total == 0 || p == nil || p.outstanding == 0 && now.Sub(p.last) >= time.Minute {
			continue
		}
		c.ledgers[seat.Staff].told(id, seat, now) // that nothing has changed changes nothing
	}
	m.replace(set, now)
	c.sets[id], c.versions[id] = set, version
}

func (c *company) draw(id string, now time.Time) (draw.Turn, bool) {
	m := c.codes[id]
	for {
		d, some := m.draw(now)
		if !some {
			return draw.Turn{}, false
		}
		seats := c.sets[id].Seats
		seat := seats[slices.IndexFunc(seats, func(s roster.Seat) bool { return s.Staff == d.Staff })]
		if seat.Company.Total == 0 || c.ledgers[d.Staff].take(id, seat, now) {
			return d, true
		}
		p := m.members[d.Staff]
		p.outstanding, p.aside = p.outstanding-1, now.Add(asideFor)
		m.pending = m.pending[:len(m.pending)-1]
	}
}

func (c *company) customersCome(id string, n int) {
	m := c.codes[id]
	for _, name := range m.pending[:min(n, len(m.pending))] {
		c.today[name]++
	}
	m.customersCome(n)
}

// ledgerModel is a member's ledger.
type ledgerModel struct {
	counted int
	until   time.Time
	claims  map[string]*claim // by code
}

// claim is what one code has drawn.
type claim struct {
	counted, out int
	last         time.Time
}

func (l *ledgerModel) told(code string, seat roster.Seat, now time.Time) {
	for id, claim := range l.claims {
		if now.Sub(claim.last) >= time.Minute {
			delete(l.claims, id)
		}
	}
	if !now.Before(l.until) {
		l.counted = 0
	}
	if until := time.Unix(seat.Company.Until, 0); now.Before(until) {
		l.counted, l.until = max(l.counted, seat.Company.Counted), until
	}
	if own := l.claims[code]; own != nil {
		own.out = max(0, own.out-max(0, seat.Counted-own.counted))
		own.counted = max(own.counted, seat.Counted)
	}
}

func (l *ledgerModel) take(code string, seat roster.Seat, now time.Time) bool {
	l.told(code, seat, now)
	out := 0
	for _, claim := range l.claims {
		out += claim.out
	}
	if l.counted+out >= seat.Company.Total {
		return false
	}
	if l.claims[code] == nil {
		l.claims[code] = &claim{counted: seat.Counted}
	}
	l.claims[code].out++
	l.claims[code].last = now
	return true
}
