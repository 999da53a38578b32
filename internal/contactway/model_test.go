package contactway_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/contactway"
	"github.com/rollcall-dev/rollcall/internal/contactway/waytest"
)

// Several processes create, sweep and sometimes adopt at once, in every order
// that a seed chooses: they pause, die, and their calls are lost on the way
// there or back. At the end the code has a contact way, and WeCom has no other
// that was made for it.
func TestAnySchedule(t *testing.T) {
	seeds := uint64(1500)
	if testing.Short() {
		seeds = 200
	}
	for seed := range seeds {
		s := newSchedule(seed)
		s.play(t)
		if t.Failed() {
			t.Fatalf("seed %d:\n%s", seed, s.story())
		}
	}
}

// schedule runs one process at a time, from one operation to the next.
type schedule struct {
	world *world
	rng   *rand.Rand
	acts  []*actor
	said  []string
}

// actor is a process that waits for its turn before every operation.
type actor struct {
	*process
	name  string
	turn  chan struct{} // one for each operation it may do
	ready chan bool     // true: waits for its turn; false: ended
}

func newSchedule(seed uint64) *schedule {
	s := &schedule{world: newWorld(), rng: rand.New(rand.NewPCG(seed, 7))}
	s.world.vendor.Fate = func(op string) waytest.Fate {
		fate := waytest.Answered
		if s.rng.IntN(3) == 0 {
			fate = waytest.Fate(1 + s.rng.IntN(3))
		}
		s.say("  %s: %s", op, fates[fate])
		return fate
	}
	return s
}

func (s *schedule) say(format string, args ...any) {
	s.said = append(s.said, fmt.Sprintf(format, args...))
}

func (s *schedule) story() string {
	return strings.Join(s.said, "\n")
}

func (s *schedule) play(t *testing.T) {
	for i := range 2 + s.rng.IntN(3) {
		s.enter(t, fmt.Sprint("p", i))
	}
	for entered := len(s.acts); len(s.acts) > 0; {
		s.step()
		if entered < 12 && s.rng.IntN(12) == 0 {
			s.enter(t, fmt.Sprint("p", entered)) // a later sweep, or somebody who asks again
			entered++
		}
	}
	s.world.vendor.Fate = nil
	s.world.settle(t)
	if _, _, err := s.world.maker().Create(t.Context(), acme); err != nil {
		t.Errorf("asked at the end: %v", err)
	}
	s.world.settle(t)
	held, err := s.world.store.Held(t.Context(), acme)
	if err != nil {
		t.Fatal(err)
	}
	if held.ConfigID != adopted {
		s.world.wantOne(t)
	} else if left := s.world.ours(); len(left) > 0 || len(s.world.store.Rows()) > 0 {
		t.Errorf("the code has an adopted contact way; left are %+v and the rows %+v", left, s.world.store.Rows())
	}
}

// adopted is a contact way that the company has already.
const adopted = "theirs their own"

// enter starts a process, up to its first operation.
func (s *schedule) enter(t *testing.T, name string) {
	a := &actor{process: &process{}, name: name, turn: make(chan struct{}), ready: make(chan bool)}
	if s.rng.IntN(3) == 0 {
		a.dieAt, a.applied = 1+s.rng.IntN(12), s.rng.IntN(2) == 0
	}
	a.before = func(op string) {
		a.ready <- true
		<-a.turn
		s.say("%s %s %s", s.world.clock().Format("15:04:05"), a.name, op)
	}
	m := s.world.process(a.process)
	part := s.rng.IntN(9)
	go func() {
		defer close(a.ready)
		var err error
		switch {
		case part == 0:
			_, _ = m.Adopt(t.Context(), acme, adopted) // it may be too late, or WeCom away
		case part < 5:
			_, err = m.Sweep(t.Context())
		default:
			_, _, err = m.Create(t.Context(), acme)
		}
		if err != nil && !errors.Is(err, errDead) && !errors.Is(err, contactway.ErrPending) {
			t.Errorf("%s: %v", a.name, err)
		}
	}()
	if <-a.ready {
		s.acts = append(s.acts, a)
	}
}

// step lets a process do one operation, after a while.
func (s *schedule) step() {
	pauses := []time.Duration{0, 10 * time.Millisecond, time.Second, 10 * time.Second, 40 * time.Second, 5 * time.Minute}
	s.world.pass(pauses[s.rng.IntN(len(pauses))])
	i := s.rng.IntN(len(s.acts))
	a := s.acts[i]
	a.turn <- struct{}{}
	if !<-a.ready {
		s.acts = append(s.acts[:i], s.acts[i+1:]...)
	}
}
