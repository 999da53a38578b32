package board

import (
	"slices"
	"time"
)

// The objective of freshness (docs/operations/observability.md): this share of
// the promised pushes reaches WeCom within this time of their event.
const (
	Objective = 0.99
	Within    = 5 * time.Second
)

// Edges are the upper bounds of a Freshness' buckets, those of the metric
// rollcall_refresh_freshness_seconds. Within is one of them.
var Edges = []time.Duration{
	50 * time.Millisecond, 100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 30 * time.Second,
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 30 * time.Minute, time.Hour,
}

// Freshness counts pushes by the age of their earliest event: one number for
// each of Edges, and the last one for what is older. Empty is none.
type Freshness []int

// Note counts one push.
func (f *Freshness) Note(age time.Duration) {
	if len(*f) == 0 {
		*f = make(Freshness, len(Edges)+1)
	}
	bucket, _ := slices.BinarySearch(Edges, age)
	(*f)[bucket]++
}

// Add counts others' pushes too.
func (f *Freshness) Add(other Freshness) {
	if len(other) != len(Edges)+1 {
		return // none, or another version's
	}
	if len(*f) == 0 {
		*f = make(Freshness, len(Edges)+1)
	}
	for i, n := range other {
		(*f)[i] += n
	}
}

// Count is how many pushes there were.
func (f Freshness) Count() int {
	n := 0
	for _, in := range f {
		n += in
	}
	return n
}

// Late is how many took longer than Within.
func (f Freshness) Late() int {
	if len(f) == 0 {
		return 0
	}
	bucket, _ := slices.BinarySearch(Edges, Within)
	return f[bucket+1:].Count()
}

// Quantile is the age that this share (0..1) of the pushes did not exceed, as
// near as the buckets tell; the last edge stands for what is beyond it, and 0
// for no push at all.
func (f Freshness) Quantile(share float64) time.Duration {
	rank := share * float64(f.Count())
	below := 0
	for i, n := range f {
		if n == 0 || float64(below+n) < rank {
			below += n
			continue
		}
		if i == len(Edges) {
			break
		}
		low := time.Duration(0)
		if i > 0 {
			low = Edges[i-1]
		}
		return low + time.Duration((rank-float64(below))/float64(n)*float64(Edges[i]-low))
	}
	if f.Count() == 0 {
		return 0
	}
	return Edges[len(Edges)-1]
}
