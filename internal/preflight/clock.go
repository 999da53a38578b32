package preflight

import (
	"fmt"
	"time"
)

// Reading is a look at somebody else's clock.
type Reading struct {
	Ahead  time.Duration // of ours; negative when it is behind
	Within time.Duration // how wrong Ahead may be: half the round trip and the clock's own step
	// Unknown says that there was no clock to look at.
	Unknown bool
}

// httpTime is the form of an HTTP answer's Date (RFC 9110).
const httpTime = "Mon, 02 Jan 2006 15:04:05 GMT"

// DateReading reads the clock from an HTTP answer's Date, which is cut to whole
// seconds, to a request that was begun at an instant and took so long. Without a
// date nothing is known, and nothing is claimed.
func DateReading(date string, begun time.Time, trip time.Duration) Reading {
	const step = time.Second
	at, err := time.Parse(httpTime, date)
	if err != nil {
		return Reading{Unknown: true}
	}
	return Reading{Ahead: at.Add(step / 2).Sub(begun.Add(trip / 2)), Within: (trip + step) / 2}
}

// maxSkew is how far two clocks may be apart before it is told.
const maxSkew = time.Second

// clock judges a reading. Beyond the margin after an announced push, a call that
// landed may be taken for one that can no longer land.
func clock(r Reading, margin time.Duration) Finding {
	if r.Unknown {
		return skip("it does not tell the time")
	}
	direction, surely := "ahead of", r.Ahead-r.Within
	if r.Ahead < 0 {
		direction, surely = "behind", -r.Ahead-r.Within
	}
	found := fmt.Sprintf("%s %s ours (±%s)", round(r.Ahead.Abs()), direction, round(r.Within))
	const remedy = "synchronise both hosts with NTP"
	switch {
	case surely > margin:
		return fail(found+", more than ROLLCALL_REFRESHER_INTENT_MARGIN covers", remedy)
	case surely > maxSkew:
		return warn(found, remedy)
	}
	return ok(found)
}

func round(d time.Duration) time.Duration { return d.Round(time.Millisecond) }
