// Package suitetest runs a conformance suite: the contract of a port, tried on
// each of its implementations.
//
// It owns how the parts of a suite are run and how racers are started. It refuses
// to own what a contract says.
package suitetest

import (
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// Suite is a contract: its tests, by what they are about and by what they say.
type Suite[B any] map[string]map[string]func(t *testing.T, bench B)

// Run runs every test of a suite, in parallel within a group. Each gets a bench
// of its own from the factory, which cleans up after itself.
func Run[B any](t *testing.T, suite Suite[B], factory func(t *testing.T) B) {
	for group, tests := range suite {
		t.Run(group, func(t *testing.T) {
			for name, test := range tests {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					test(t, factory(t))
				})
			}
		})
	}
}

// Race does something n times at the same time and returns who reported true,
// in the order in which they did. An error fails the test.
func Race(t *testing.T, n int, do func(i int) (bool, error)) (winners []int) {
	t.Helper()
	var (
		all   sync.WaitGroup
		mu    sync.Mutex
		start = make(chan struct{})
	)
	for i := range n {
		all.Go(func() {
			<-start
			won, err := do(i)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Errorf("racer %d: %v", i, err)
			}
			if won {
				winners = append(winners, i)
			}
		})
	}
	close(start)
	all.Wait()
	return winners
}

// Accepted fails unless a conditional write says that it was done.
func Accepted(t *testing.T, what string) func(done bool, err error) {
	return func(done bool, err error) {
		t.Helper()
		if !done || err != nil {
			t.Errorf("%s = %v, %v; want true", what, done, err)
		}
	}
}

// Refused fails unless a conditional write says that it was not done.
func Refused(t *testing.T, what string) func(done bool, err error) {
	return func(done bool, err error) {
		t.Helper()
		if done || err != nil {
			t.Errorf("%s = %v, %v; want false", what, done, err)
		}
	}
}

// WantSame fails unless both are the same; an empty list or map may stand for
// none.
func WantSame[T any](t *testing.T, what string, want, got T) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}
