package pulsarbus

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/apache/pulsar-client-go/pulsar"
	"github.com/google/go-cmp/cmp"
)

func TestAcksAreCollected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, sent := startAcks(t, nil)
		a.add(ids(1)...)
		elapse(4 * time.Millisecond)
		a.add(ids(2)...)
		synctest.Wait()
		if got := sent.batches(); len(got) != 0 {
			t.Errorf("sent %v before the interval was over", got)
		}
		elapse(7 * time.Millisecond)
		synctest.Wait()
		if diff := cmp.Diff([][]int64{{1, 2}}, sent.batches()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func TestAFullBatchGoesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, sent := startAcks(t, nil)
		a.add(ids(1, 2, 3, 4, 5, 6, 7)...) // batches of three
		synctest.Wait()
		if diff := cmp.Diff([][]int64{{1, 2, 3}, {4, 5, 6}}, sent.batches()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func TestAFlushHurriesAndCoversWhatWasAddedBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, sent := startAcks(t, nil)
		begin := time.Now()
		a.add(ids(1)...)
		if err := a.flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begin); took != 0 {
			t.Errorf("the flush took %v", took)
		}
		if diff := cmp.Diff([][]int64{{1}}, sent.batches()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if err := a.flush(t.Context()); err != nil {
			t.Errorf("flush of nothing: %v", err)
		}
	})
}

func TestAFailedAckIsTriedAgain(t *testing.T) {
	tests := []struct {
		name string
		fail func(try int, batch []pulsar.MessageID) error
		want [][]int64 // what the broker took
		lost bool
	}{
		{"the whole batch, twice", func(try int, _ []pulsar.MessageID) error {
			if try <= 2 {
				return errors.New("connection closed")
			}
			return nil
		}, [][]int64{{1, 2}}, false},
		{"one of two", func(try int, batch []pulsar.MessageID) error {
			if try == 1 {
				return pulsar.AckError{batch[1]: errors.New("no such ledger")}
			}
			return nil
		}, [][]int64{{2}}, false},
		{"for ever", func(int, []pulsar.MessageID) error { return errors.New("no") }, nil, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, sent := startAcks(t, tt.fail)
				a.add(ids(1, 2)...)
				err := a.flush(t.Context())
				if errors.Is(err, errAcksLost) != tt.lost || (err != nil && !tt.lost) {
					t.Errorf("flush = %v, want lost: %v", err, tt.lost)
				}
				if diff := cmp.Diff(tt.want, sent.batches()); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				if got, want := a.dropped.Load() > 0, tt.lost; got != want {
					t.Errorf("dropped %d", a.dropped.Load())
				}
				if n := sent.tries(); tt.lost && n != maxAckTries {
					t.Errorf("%d tries, want %d", n, maxAckTries)
				}
			})
		})
	}
}

func TestManyAckAndFlushAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, sent := startAcks(t, func(try int, _ []pulsar.MessageID) error {
			if try%7 == 0 {
				return errors.New("now and then")
			}
			return nil
		})
		var wg sync.WaitGroup
		for w := range int64(8) {
			wg.Go(func() {
				for n := range int64(100) {
					a.add(ids(w*100 + n)...)
					if n%10 == 9 {
						if err := a.flush(t.Context()); err != nil {
							t.Error(err)
						}
					}
				}
			})
		}
		wg.Wait()
		got := slices.Concat(sent.batches()...)
		slices.Sort(got)
		if len(got) != 800 || len(slices.Compact(got)) != 800 {
			t.Errorf("%d acks arrived, want 800 distinct", len(got))
		}
	})
}

func TestPaceDoublesUpToItsMost(t *testing.T) {
	p := pace{most: time.Second}
	for _, ms := range []int64{100, 200, 400, 800, 1000, 1000} {
		want := time.UnixMilli(ms).Sub(time.UnixMilli(0))
		if got := p.next(); got > want || got < want*4/5-1 {
			t.Errorf("wait %v, want %v less at most a fifth", got, want)
		}
	}
	p.reset()
	if got := p.next(); got > 100*time.Millisecond {
		t.Errorf("wait after a reset %v", got)
	}
}

// sentAcks is a broker that remembers what it took.
type sentAcks struct {
	mu    sync.Mutex
	n     int
	taken [][]int64
}

func (s *sentAcks) batches() [][]int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.taken)
}

func (s *sentAcks) tries() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.n
}

// startAcks runs acks in batches of three, at most every 10 ms.
func startAcks(t *testing.T, fail func(try int, batch []pulsar.MessageID) error) (*acks, *sentAcks) {
	sent := &sentAcks{}
	o := testOptions()
	o.AckBatch = 3
	a := newAcks(o, new(atomic.Int64), func(batch []pulsar.MessageID) error {
		sent.mu.Lock()
		defer sent.mu.Unlock()
		sent.n++
		if fail != nil {
			if err := fail(sent.n, batch); err != nil {
				return err
			}
		}
		sent.taken = append(sent.taken, entries(batch))
		return nil
	})
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { a.run(ctx) })
	t.Cleanup(func() {
		cancel()
		wg.Wait()
	})
	return a, sent
}

func ids(entries ...int64) []pulsar.MessageID {
	list := make([]pulsar.MessageID, len(entries))
	for i, n := range entries {
		list[i] = pulsar.NewMessageID(7, n, -1, 0)
	}
	return list
}

// elapse lets d pass on the bubble's clock.
func elapse(d time.Duration) { <-time.After(d) }

func containsSecret(err error) bool { return strings.Contains(err.Error(), "hunter2") }
