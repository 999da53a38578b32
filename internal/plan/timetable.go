package plan

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/rollcall-dev/rollcall/internal/roster"
)

// turn is an instant at which time or a person changes who is on duty.
type turn struct {
	at     time.Duration
	kind   Cause
	person int32
	to     roster.Presence // of a presence
	on     bool            // of a shift
}

// timetable are all turns of the campaign in their order, and sets the shifts as
// they are at its start.
func timetable(in *Input, c *cast) []turn {
	turns := announced(in, c)
	turns = append(turns, byHand(in, c)...)
	for i := range c.people {
		if p := &c.people[i]; p.Schedule != nil && p.presence == roster.PresenceUnset {
			var edges []turn
			p.onShift, edges = shifts(p.Schedule, in, int32(i))
			turns = append(turns, edges...)
		}
	}
	for _, at := range midnights(in) {
		turns = append(turns, turn{at: at, kind: NewDay})
	}
	slices.SortStableFunc(turns, func(a, b turn) int { return cmp.Compare(a.at, b.at) })
	return turns
}

// announced spreads each change over its time, in the order of the people.
func announced(in *Input, c *cast) []turn {
	var turns []turn
	for _, change := range in.Campaign.Changes {
		var whom []int32
		for i := range c.people {
			if change.concerns(c.people[i].ID) {
				whom = append(whom, int32(i))
			}
		}
		for n, person := range whom {
			at := change.At + time.Duration(float64(change.Over)*float64(n)/float64(len(whom)))
			turns = append(turns, turn{at: at, kind: Presence, person: person, to: change.To})
		}
	}
	return turns
}

// golden spreads people's own times evenly, whatever their number.
const golden = 0.6180339887498949

// phase is a person's place between 0 and 1.
func phase(person int) float64 {
	_, part := math.Modf(float64(person+1) * golden)
	return part
}

// byHand are everybody's own changes of presence: going, coming, going.
func byHand(in *Input, c *cast) []turn {
	each := in.Campaign.ChangesEach * in.Campaign.Length.Hours() / 24
	if each <= 0 {
		return nil
	}
	var turns []turn
	for i := range c.people {
		to := roster.OfflineNow
		if c.people[i].presence == roster.OfflineNow {
			to = roster.Online
		}
		for k := phase(i); k < each; k++ {
			at := time.Duration(k / each * float64(in.Campaign.Length))
			turns = append(turns, turn{at: at, kind: Presence, person: int32(i), to: to})
			to = other(to)
		}
	}
	return turns
}

func other(p roster.Presence) roster.Presence {
	if p == roster.Online {
		return roster.OfflineNow
	}
	return roster.Online
}

// shifts are the edges of a schedule within the campaign, and whether its person
// is on duty at the start.
func shifts(s *roster.Schedule, in *Input, person int32) (on bool, edges []turn) {
	later := time.Duration(phase(int(person)) * float64(in.Stagger))
	for _, span := range spansOf(s, in) {
		span[0], span[1] = span[0]+later, span[1]+later
		on = on || (span[0] <= 0 && span[1] > 0)
		for i, at := range span {
			if at > 0 && at <= in.Campaign.Length {
				edges = append(edges, turn{at: at, kind: Shift, person: person, on: i == 0})
			}
		}
	}
	return on, edges
}

// spansOf are the working times from the day before the start on, joined where
// they touch.
func spansOf(s *roster.Schedule, in *Input) [][2]time.Duration {
	zone := in.Company.Zone
	if s.TimeZone != "" {
		if own, err := time.LoadLocation(s.TimeZone); err == nil {
			zone = own
		}
	}
	start := in.Campaign.Start.In(zone)
	var spans [][2]time.Duration
	for n := -1; ; n++ {
		midnight := time.Date(start.Year(), start.Month(), start.Day()+n, 0, 0, 0, 0, zone)
		if midnight.Sub(start) > in.Campaign.Length {
			break
		}
		list, special := s.Special[roster.DayOf(midnight, zone)]
		if !special {
			list = s.Weekly[midnight.Weekday()]
		}
		for _, shift := range list {
			wall := func(minute int) time.Duration {
				return time.Date(midnight.Year(), midnight.Month(), midnight.Day(), 0, minute, 0, 0, zone).Sub(start)
			}
			spans = append(spans, [2]time.Duration{wall(shift.From), wall(shift.To)})
		}
	}
	return joined(spans)
}

func joined(spans [][2]time.Duration) [][2]time.Duration {
	slices.SortFunc(spans, func(a, b [2]time.Duration) int { return cmp.Compare(a[0], b[0]) })
	out := spans[:0]
	for _, span := range spans {
		if n := len(out); n > 0 && span[0] <= out[n-1][1] {
			out[n-1][1] = max(out[n-1][1], span[1])
			continue
		}
		out = append(out, span)
	}
	return out
}

// midnights are the times at which the company's day is another than before; the
// first may be the start itself, when it is not on the day that was counted.
func midnights(in *Input) []time.Duration {
	start := in.Campaign.Start.In(in.Company.Zone)
	var out []time.Duration
	if in.Company.Day != "" && roster.DayOf(start, in.Company.Zone) != in.Company.Day {
		out = append(out, 0)
	}
	for n := 1; ; n++ {
		at := time.Date(start.Year(), start.Month(), start.Day()+n, 0, 0, 0, 0, in.Company.Zone).Sub(start)
		if at > in.Campaign.Length {
			return out
		}
		out = append(out, at)
	}
}
