package push

import (
	"hash/fnv"
	"time"
)

// Backoff is a capped exponential delay.
type Backoff struct {
	Base time.Duration // the first delay
	Cap  time.Duration // no delay is longer
}

// After is the delay after the given number of failures in a row, 1 or more.
// Between half and the whole of the exponential delay is used, by a hash of
// the code and the streak: codes that failed together do not come back
// together, and a simulation stays repeatable.
func (b Backoff) After(streak int, code string) time.Duration {
	delay := b.Base
	for range streak - 1 {
		if delay >= b.Cap {
			break
		}
		delay *= 2
	}
	delay = min(delay, b.Cap)
	h := fnv.New32a()
	_, _ = h.Write([]byte{byte(streak)})
	_, _ = h.Write([]byte(code))
	half := delay / 2
	return half + time.Duration(float64(half)*float64(h.Sum32())/float64(1<<32))
}
