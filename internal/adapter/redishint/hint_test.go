package redishint

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestAJoinReachesTheSiblingsAndNotOneself(t *testing.T) {
	s := newStage(t)
	one, two, stranger := s.joins("sub"), s.joins("sub"), s.joins("another subscription")
	hears, hearsToo, deaf := s.listen(one), s.listen(two), s.listen(stranger)

	for range 50 { // an own hint that gets through is seen in one of the rounds
		s.publish(one)
		s.expect(hearsToo, "the sibling")
		s.silent(hears, "the first, of its own hint")
	}
	s.publish(two)
	s.expect(hears, "the first")
	s.silent(deaf, "another subscription")
}

func TestManyJoinsAreOneValue(t *testing.T) {
	s := newStage(t)
	one, two := s.joins("sub"), s.joins("sub")
	hears, probe := s.listen(one), s.listen(s.joins("sub"))
	for range 5 {
		s.publish(two)
		s.expect(probe, "the probe")
	}
	s.expect(hears, "the first")
	s.publish(one) // own: a barrier behind the five
	s.expect(probe, "the probe")
	s.drain(hears)
	s.silent(hears, "the first, a sixth time")
}

func TestListensAgainAfterALostConnection(t *testing.T) {
	s := newStage(t)
	hears := s.listen(s.joins("sub"))
	s.server.Close()
	if err := s.server.Restart(); err != nil {
		t.Fatal(err)
	}
	two := s.joins("sub")
	eventually(t, "a hint after the restart", func() bool {
		_ = two.Publish(t.Context())
		select {
		case <-hears:
			return true
		default:
			return false
		}
	})
}

func TestWaitReturnsWhenTheContextEnds(t *testing.T) {
	s := newStage(t)
	j := s.joins("sub")
	ctx, cancel := context.WithCancel(t.Context())
	hints := j.Listen(ctx)
	cancel()
	j.Wait()
	s.silent(hints, "a listener that has ended")
}

func TestARedisThatIsGoneIsAnErrorOfPublish(t *testing.T) {
	s := newStage(t)
	j := s.joins("sub")
	s.server.SetError("gone")
	if err := j.Publish(t.Context()); err == nil {
		t.Error("no error")
	}
}

// stage is an in-process Redis with its consumers.
type stage struct {
	t         *testing.T
	server    *miniredis.Miniredis
	client    *redis.Client
	listening int
}

func newStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{t: t, server: miniredis.RunT(t)}
	s.client = redis.NewClient(&redis.Options{Addr: s.server.Addr(), MaxRetries: -1})
	t.Cleanup(func() { _ = s.client.Close() })
	return s
}

func (s *stage) joins(subscription string) *Joins {
	return New(s.client, subscription, Options{Logger: slog.New(slog.DiscardHandler)})
}

// listen returns once Redis knows of the subscription.
func (s *stage) listen(j *Joins) <-chan struct{} {
	s.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	s.t.Cleanup(func() { cancel(); j.Wait() })
	hints := j.Listen(ctx)
	s.listening++
	eventually(s.t, "the subscription", func() bool {
		n := 0
		for _, of := range s.server.PubSubNumSub("rollcall:joined:sub", "rollcall:joined:another subscription") {
			n += of
		}
		return n >= s.listening
	})
	return hints
}

func (s *stage) publish(j *Joins) {
	s.t.Helper()
	if err := j.Publish(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
}

func (s *stage) expect(hints <-chan struct{}, who string) {
	s.t.Helper()
	select {
	case <-hints:
	case <-time.After(20 * time.Second):
		s.t.Fatalf("%s heard nothing", who)
	}
}

func (s *stage) silent(hints <-chan struct{}, who string) {
	s.t.Helper()
	select {
	case <-hints:
		s.t.Errorf("%s heard a hint", who)
	default:
	}
}

func (s *stage) drain(hints <-chan struct{}) {
	select {
	case <-hints:
	default:
	}
}

// eventually polls until ok.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.After(20 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("waited too long for %s", what)
		}
	}
}
