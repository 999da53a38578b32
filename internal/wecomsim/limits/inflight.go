package limits

import "sync"

// InFlight counts calls that have begun and not ended, by a key of its user's
// choice. The zero value is ready; it is safe for concurrent use.
type InFlight[K comparable] struct {
	mu sync.Mutex
	n  map[K]int
}

// Enter counts one more call for key and returns how to end it, unless most
// are already in flight; most 0 is no limit. leave may be called once.
func (f *InFlight[K]) Enter(key K, most int) (leave func(), ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if most > 0 && f.n[key] >= most {
		return nil, false
	}
	if f.n == nil {
		f.n = map[K]int{}
	}
	f.n[key]++
	return func() { f.leave(key) }, true
}

func (f *InFlight[K]) leave(key K) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.n[key]--; f.n[key] <= 0 {
		delete(f.n, key)
	}
}
