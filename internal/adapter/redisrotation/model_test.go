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

// The scripts do what the model does, whatever the order of draws, refreshes,
// additions, rounds and waits; and the model's draws keep the promises.
func TestAgreesWithTheModel(t *testing.T) {
	h := newHarness(t)
	rapid.Check(t, func(rt *rapid.T) {
		h.server.FlushAll()
		m := newModel(time.Minute)
		version, round := int64(0), int64(0)
		promises := newPromises()
		steps := rapid.IntRange(1, 60).Draw(rt, "steps")
		for range steps {
			switch rapid.IntRange(0, 9).Draw(rt, "step") {
			case 0, 1, 2:
				if rapid.IntRange(0, 9).Draw(rt, "advance") == 0 {
					round++
				}
				set := push.Set{Round: round, Seats: drawSeats(rt, m)}
				v, ok, err := h.rotation.Replace(t.Context(), h.ref, version, set)
				if err != nil || !ok || v <= version {
					rt.Fatalf("replace: version %d after %d, %v, %v", v, version, ok, err)
				}
				version = v
				m.replace(set, h.now)
				promises.replaced(set)
			case 3:
				h.now = h.now.Add(time.Duration(rapid.IntRange(1, 50).Draw(rt, "seconds")) * time.Second)
			case 4: // customers come: the facts count what was drawn
				m.customersCome(rapid.IntRange(0, 2).Draw(rt, "customers"))
			default:
				d, err := h.rotation.Draw(t.Context(), h.ref, "")
				got := fmt.Sprintf("%+v %v", d, err != nil)
				want, some := m.draw(h.now)
				if diff := cmp.Diff(fmt.Sprintf("%+v %v", want, !some), got); diff != "" {
					rt.Fatalf("draw (-model +redis):\n%s", diff)
				}
				if some {
					promises.drawn(rt, d)
				}
			}
		}
	})
}

// drawSeats shuffles some of six members; their headroom follows a quota of
// the member, less what the facts have counted.
func drawSeats(rt *rapid.T, m *model) []roster.Seat {
	names := rapid.Permutation([]string{"a", "b", "c", "d", "e", "f"}).Draw(rt, "order")
	names = names[:rapid.IntRange(0, len(names)).Draw(rt, "members")]
	var out []roster.Seat
	for _, n := range names {
		counted := m.facts[n]
		headroom := -1
		if n < "d" {
			headroom = max(0, 4*int(n[0]-'a'+1)-counted)
		}
		out = append(out, roster.Seat{Staff: n, Headroom: headroom, Counted: counted})
	}
	return out
}

// promises are what holds of the draws, apart from the model: within one lap
// nobody is drawn twice, laps do not go back, and between two refreshes nobody
// is drawn beyond the headroom that the last one gave him.
type promises struct {
	lap  int64
	had  map[string]bool
	left map[string]int
}

func newPromises() *promises { return &promises{had: map[string]bool{}, left: map[string]int{}} }

func (p *promises) replaced(set push.Set) {
	p.left = map[string]int{}
	for _, s := range set.Seats {
		p.left[s.Staff] = s.Headroom
	}
}

func (p *promises) drawn(rt *rapid.T, d draw.Turn) {
	if d.Lap < p.lap {
		rt.Fatalf("lap %d after lap %d", d.Lap, p.lap)
	}
	if d.Lap > p.lap {
		p.lap, p.had = d.Lap, map[string]bool{}
	}
	if p.had[d.Staff] {
		rt.Fatalf("%s was drawn twice in lap %d", d.Staff, d.Lap)
	}
	p.had[d.Staff] = true
	left, seated := p.left[d.Staff]
	if !seated || left == 0 {
		rt.Fatalf("%s was drawn with a headroom of %d, seated: %v", d.Staff, left, seated)
	}
	p.left[d.Staff] = left - 1
}

// model is the rotation as plainly as it can be written: it looks at everybody
// at every draw.
type model struct {
	grace   time.Duration
	exists  bool
	round   int64
	lap     int64
	order   []string
	members map[string]*member
	facts   map[string]int // additions counted, by staff
	pending []string       // drawn, not counted yet
}

type member struct {
	headroom, counted, outstanding int
	last                           time.Time
	due                            int64
	aside                          time.Time // until when; zero: he is not
}

func newModel(grace time.Duration) *model {
	return &model{grace: grace, members: map[string]*member{}, facts: map[string]int{}}
}

func (m *model) replace(set push.Set, now time.Time) {
	later := m.exists && set.Round > m.round
	if later {
		m.lap++
	}
	m.exists, m.round, m.order = true, set.Round, nil
	for _, s := range set.Seats {
		m.order = append(m.order, s.Staff)
		if m.members[s.Staff] == nil {
			m.members[s.Staff] = &member{counted: s.Counted, due: m.lap}
		}
		p := m.members[s.Staff]
		p.outstanding = max(0, p.outstanding-max(0, s.Counted-p.counted))
		p.headroom, p.counted, p.aside = s.Headroom, s.Counted, time.Time{}
	}
	for name, p := range m.members {
		if now.Sub(p.last) >= m.grace {
			p.outstanding = 0
		}
		if later {
			p.due = m.lap
		}
		if !slices.Contains(m.order, name) && p.outstanding == 0 && p.due <= m.lap {
			delete(m.members, name)
		}
		p.due = max(p.due, m.lap)
	}
}

func (m *model) draw(now time.Time) (draw.Turn, bool) {
	best, at := "", 0
	for i, name := range m.order {
		p := m.members[name]
		if now.Before(p.aside) {
			continue
		}
		if !p.aside.IsZero() {
			p.due, p.aside = max(p.due, m.lap), time.Time{}
		}
		if p.headroom >= 0 && p.headroom <= p.outstanding {
			continue
		}
		if best == "" || p.due < m.members[best].due {
			best, at = name, i
		}
	}
	if best == "" {
		return draw.Turn{}, false
	}
	p := m.members[best]
	m.lap = p.due
	d := draw.Turn{Staff: best, Round: m.round, Lap: p.due, Position: at}
	p.outstanding, p.last, p.due = p.outstanding+1, now, p.due+1
	m.pending = append(m.pending, best)
	return d, true
}

func (m *model) customersCome(n int) {
	n = min(n, len(m.pending))
	for _, name := range m.pending[:n] {
		m.facts[name]++
	}
	m.pending = m.pending[n:]
}
