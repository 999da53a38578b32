package draw

import (
	"time"

	"github.com/rollcall-dev/rollcall/internal/recent"
)

// pacer lets something happen once in a while for each key.
type pacer[K comparable] struct {
	every time.Duration
	last  *recent.Map[K, time.Time]
}

// newPacer returns a pacer that tells at least size keys apart. A key that was
// forgotten is due.
func newPacer[K comparable](every time.Duration, size int) *pacer[K] {
	return &pacer[K]{every: every, last: recent.NewMap[K, time.Time](size)}
}

// due reports whether it is time again for a key, to one caller each time.
func (p *pacer[K]) due(key K, now time.Time) bool {
	is := false
	p.last.Update(key, func(last time.Time, _ bool) time.Time {
		if is = now.Sub(last) >= p.every; is {
			return now
		}
		return last
	})
	return is
}
