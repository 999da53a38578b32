package roster_test

import (
	"fmt"
	"time"

	"pgregory.net/rapid"

	"github.com/rollcall-dev/rollcall/internal/roster"
)

// world is a code with everything a decision may rest on, drawn at random but
// small, so that people are often at their limits, missing or on two lists.
type world struct {
	Facts roster.Facts
	Last  roster.Last
	Rules roster.LaneRules
	Now   time.Time
}

// grid is the distance of the instants at which worlds may change: shifts,
// quarantines and lanes lie on it, and so do all the zones' midnights and
// transitions.
const grid = 30 * time.Minute

// moments are instants in zones where clocks do something unusual nearby.
var moments = []struct {
	zone string
	at   time.Time
}{
	{"Asia/Shanghai", utc(2026, 3, 2, 4)},
	{"Asia/Kolkata", utc(2026, 3, 2, 18)},
	{"Europe/Berlin", utc(2026, 3, 29, 0)},
	{"Europe/Berlin", utc(2026, 10, 24, 23)},
	{"America/New_York", utc(2026, 3, 8, 6)},
	{"America/New_York", utc(2026, 11, 1, 5)},
	{"Pacific/Apia", utc(2011, 12, 30, 8)},       // no 30 December
	{"Australia/Lord_Howe", utc(2026, 4, 4, 14)}, // half an hour back
	{"America/Havana", utc(2026, 3, 8, 4)},       // no midnight
	{"Asia/Beirut", utc(2026, 10, 24, 20)},       // a second 23:00
	{"Asia/Beirut", utc(2026, 3, 28, 18)},        // no midnight
	{"America/Santiago", utc(2026, 9, 6, 0)},     // no midnight
	{"America/Santiago", utc(2026, 4, 5, 0)},     // a second 23:00
	{"America/Sao_Paulo", utc(2018, 2, 17, 23)},  // likewise
	{"Africa/Casablanca", utc(2026, 2, 14, 23)},  // four moves a year
	{"Antarctica/Troll", utc(2026, 10, 24, 23)},  // two hours back
	{"America/Argentina/Ushuaia", utc(2026, 1, 1, 0)},
	{"Asia/Shanghai", utc(1961, 6, 1, 4)}, // before the epoch
}

func utc(year int, month time.Month, day, hour int) time.Time {
	return time.Date(year, month, day, hour, 0, 0, 0, time.UTC)
}

var cast = []string{"a", "b", "c", "d", "e", "f", "g", "h"}

// draw is a short way to draw a value of a generator.
func draw[V any](t *rapid.T, g *rapid.Generator[V], label string) V { return g.Draw(t, label) }

func oneOf[V any](t *rapid.T, label string, from ...V) V {
	return draw(t, rapid.SampledFrom(from), label)
}

func drawWorld(t *rapid.T) world {
	m := oneOf(t, "moment", moments...)
	offset := time.Duration(draw(t, rapid.IntRange(-8*3600, 8*3600), "offset")) * time.Second
	w := world{Now: m.at.Add(offset)}
	today := roster.DayOf(w.Now, zone(m.zone))
	yesterday := roster.DayOf(w.Now.AddDate(0, 0, -1), zone(m.zone))
	w.Facts = roster.Facts{
		Code: drawCode(t, w.Now),
		Tenant: roster.Tenant{
			TimeZone: m.zone, DailyTotal: oneOf(t, "total", 0, 0, 3),
			Fallback: drawIDs(t, "fallback", 3), MaxRemovalShare: oneOf(t, "share", 0, 0.1, 0.5, 0.9, 1),
			Tier: oneOf(t, "tier", "basic", "premium"), Whitelisted: oneOf(t, "whitelisted", false, false, true),
		},
		Staff:    map[string]roster.Staff{},
		Counters: drawCounters(t, today, yesterday),
	}
	for _, id := range cast {
		if draw(t, rapid.IntRange(0, 5), "missing "+id) > 0 {
			w.Facts.Staff[id] = drawStaff(t, id, w.Now, today, yesterday)
		}
	}
	w.Last = roster.Last{
		Members: drawIDs(t, "last", len(cast)), Revision: oneOf(t, "last revision", int64(1), 2),
		Kept: oneOf(t, "kept", false, true),
	}
	w.Rules = roster.LaneRules{
		FastFor: oneOf(t, "fast for", 0, 6*time.Hour), SlowInterval: oneOf(t, "slow", 0, time.Hour),
		FastTiers: []string{"premium"},
	}
	return w
}

func zone(name string) *time.Location {
	loc, err := time.LoadLocation(name)
	if err != nil {
		return nil // DayOf then fails loudly
	}
	return loc
}

func drawCode(t *rapid.T, now time.Time) roster.Code {
	bit := func(label string) bool { return draw(t, rapid.Bool(), label) }
	c := roster.Code{
		ID: "code", Family: oneOf(t, "family", roster.Native, roster.Sequenced, roster.Quota),
		Backups: drawIDs(t, "backups", 3), OnEmpty: oneOf(t, "empty", "", roster.KeepLast, roster.TenantFallback),
		Switches: roster.Switches{
			OfflineCheck: bit("offline check"), AddLimit: bit("add limit"),
			DailyLimit: bit("daily limit"), RoundLimit: bit("round limit"),
		},
		Revision:  2,
		UpdatedAt: onGrid(now).Add(time.Duration(draw(t, rapid.IntRange(-20, 2), "updated")) * grid),
	}
	limit := rapid.IntRange(0, 3)
	for _, id := range drawIDs(t, "members", len(cast)) {
		c.Members = append(c.Members, roster.Member{
			Staff: id, AddLimit: draw(t, limit, "add"), DailyLimit: draw(t, limit, "daily"), RoundLimit: draw(t, limit, "round"),
		})
	}
	return c
}

func onGrid(t time.Time) time.Time { return t.Truncate(grid) }

// drawIDs draws up to most of the cast, with repetitions and in any order.
func drawIDs(t *rapid.T, label string, most int) []string {
	return draw(t, rapid.SliceOfN(rapid.SampledFrom(cast), 0, most), label)
}

func drawCounters(t *rapid.T, days ...roster.Day) roster.Counters {
	count := rapid.IntRange(0, 4)
	c := roster.Counters{
		Total: map[string]int{}, InRound: map[string]int{}, Days: map[roster.Day]map[string]int{},
		Round: int64(draw(t, count, "round")),
	}
	for _, day := range days {
		c.Days[day] = map[string]int{}
	}
	for _, id := range cast {
		c.Total[id], c.InRound[id] = draw(t, count, "total"), draw(t, count, "in round")
		for _, day := range days {
			c.Days[day][id] = draw(t, count, "in a day")
		}
	}
	return c
}

func drawStaff(t *rapid.T, id string, now time.Time, today, yesterday roster.Day) roster.Staff {
	rarely := func(label string) bool { return draw(t, rapid.IntRange(0, 6), label+" "+id) == 0 }
	s := roster.Staff{
		ID: id, Resigned: rarely("resigned"),
		Presence:  oneOf(t, "presence", roster.PresenceUnset, roster.PresenceUnset, roster.Online, roster.OfflineNow),
		RemovedOn: oneOf(t, "removed", "", "", "", today, yesterday),
		Added:     map[roster.Day]int{today: draw(t, rapid.IntRange(0, 3), "added"), yesterday: 9},
	}
	if rarely("quarantined") {
		s.QuarantinedUntil = onGrid(now).Add(time.Duration(draw(t, rapid.IntRange(-4, 60), "until")) * grid)
	}
	if rarely("taken off") {
		s.Off = roster.Stop{Since: now}
		if n := draw(t, rapid.IntRange(-4, 60), "off until"); n < 50 {
			s.Off.Until = onGrid(now).Add(time.Duration(n) * grid)
		}
	}
	if draw(t, rapid.IntRange(0, 2), "has a schedule") > 0 {
		s.Schedule = drawSchedule(t, now, rapid.Just(30))
	}
	return s
}

// drawSchedule draws a schedule with special dates near now, its shifts on
// multiples of the step in minutes.
func drawSchedule(t *rapid.T, now time.Time, steps *rapid.Generator[int]) *roster.Schedule {
	s := &roster.Schedule{TimeZone: oneOf(t, "zone", "", "", "Europe/Berlin", "America/New_York", "Asia/Kolkata")}
	shifts := func(label string) (all []roster.Shift) {
		for range draw(t, rapid.IntRange(0, 2), label) {
			step := draw(t, steps, "step")
			from := draw(t, rapid.IntRange(0, 1439/step), "from") * step
			length := draw(t, rapid.IntRange(1, 1440/step), "length") * step
			all = append(all, roster.Shift{From: from, To: from + length})
		}
		return all
	}
	for weekday := range s.Weekly {
		s.Weekly[weekday] = shifts(fmt.Sprint("shifts of weekday ", weekday))
	}
	for range draw(t, rapid.IntRange(0, 2), "special days") {
		if s.Special == nil {
			s.Special = map[roster.Day][]roster.Shift{}
		}
		day := now.AddDate(0, 0, draw(t, rapid.IntRange(-2, 5), "in days"))
		s.Special[roster.DayOf(day, time.UTC)] = shifts("special shifts")
	}
	return s
}
