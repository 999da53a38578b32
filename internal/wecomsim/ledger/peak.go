package ledger

import (
	"cmp"
	"iter"
	"slices"
	"time"
)

// Owner says whose calls are counted together.
type Owner string

const (
	// ByCorp counts the calls of a corp to one API.
	ByCorp Owner = "corp"
	// ByIP counts the calls of an IP to one API.
	ByIP Owner = "ip"
)

// Peak is the busiest window of one owner and API.
type Peak struct {
	Owner string `json:"owner"`
	API   string `json:"api"`
	Calls int    `json:"calls"` // in all
	// Sliding is the largest number of calls received within any half-open
	// span of the window's length, wherever it starts; SlidingFrom is the
	// first call of the first such span.
	Sliding     int       `json:"sliding"`
	SlidingFrom time.Time `json:"sliding_from"`
	// Fixed is the same over spans that start at multiples of the length
	// since 1970; FixedFrom is the start of the first such span.
	Fixed     int       `json:"fixed"`
	FixedFrom time.Time `json:"fixed_from"`
}

// Peaks counts all entries, refused ones included, and returns the busiest
// window of each owner and API, the busiest first. An entry without an owner
// is passed over. length must be positive, otherwise nothing is returned.
func Peaks(entries iter.Seq[Entry], owner Owner, length time.Duration) []Peak {
	if length <= 0 {
		return nil
	}
	type key struct{ owner, api string }
	times := map[key][]int64{}
	for e := range entries {
		who := e.Corp
		if owner == ByIP {
			who = e.IP
		}
		if who != "" {
			times[key{who, e.API}] = append(times[key{who, e.API}], e.Received.UnixNano())
		}
	}
	peaks := make([]Peak, 0, len(times))
	for k, at := range times {
		slices.Sort(at)
		p := Peak{Owner: k.owner, API: k.api, Calls: len(at)}
		p.Sliding, p.SlidingFrom = busiestSliding(at, int64(length))
		p.Fixed, p.FixedFrom = busiestFixed(at, int64(length))
		peaks = append(peaks, p)
	}
	slices.SortFunc(peaks, func(a, b Peak) int {
		return cmp.Or(cmp.Compare(b.Sliding, a.Sliding), cmp.Compare(a.Owner, b.Owner), cmp.Compare(a.API, b.API))
	})
	return peaks
}

func busiestSliding(at []int64, length int64) (most int, from time.Time) {
	first := 0
	for last := range at {
		for at[first] <= at[last]-length {
			first++
		}
		if n := last - first + 1; n > most {
			most, from = n, time.Unix(0, at[first])
		}
	}
	return most, from
}

func busiestFixed(at []int64, length int64) (most int, from time.Time) {
	n, start := 0, int64(-1)
	for _, t := range at {
		if s := t - t%length; s != start {
			n, start = 0, s
		}
		if n++; n > most {
			most, from = n, time.Unix(0, start)
		}
	}
	return most, from
}
