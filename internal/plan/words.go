package plan

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/rollcall-dev/rollcall/internal/roster"
)

// units of a rate, by the words for them.
var units = map[string]time.Duration{"day": 24 * time.Hour, "hour": time.Hour, "minute": time.Minute}

// ParseRate reads "20000/day", "300/hour" or "500/40s" and returns how many come
// in a length.
func ParseRate(text string, length time.Duration) (float64, error) {
	number, unit, _ := strings.Cut(text, "/")
	n, err := strconv.ParseFloat(number, 64)
	per, known := units[unit]
	if !known && err == nil {
		per, err = time.ParseDuration(unit)
	}
	if err != nil || !(n >= 0 && n <= 1e9) || per <= 0 {
		return 0, fmt.Errorf("%q is no rate; want one like 20000/day, 300/hour or 50/10m", text)
	}
	return n * float64(length) / float64(per), nil
}

// ParsePeak reads "30%@20:00", which is an hour, or "30%@20:00/30m".
func ParsePeak(text string, start time.Time) (Peak, error) {
	share, when, _ := strings.Cut(text, "@")
	part, err := ParseShare(share)
	if err != nil {
		return Peak{}, fmt.Errorf("peak %q: %w", text, err)
	}
	at, over, err := parseWhen(when, start, time.Hour)
	if err != nil {
		return Peak{}, fmt.Errorf("peak %q: %w; want one like 30%%@20:00 or 30%%@20:00/30m", text, err)
	}
	return Peak{At: at, Over: over, Share: part}, nil
}

// ParseChange reads "off@18:00", which is everybody, "off@18:00/10m", one after
// the other within ten minutes, "amy,bob:on@9:00", or "-amy:off@18:00", everybody
// but amy.
func ParseChange(text string, start time.Time) (Change, error) {
	var c Change
	who, what, named := strings.Cut(text, ":")
	if !named || strings.Contains(who, "@") {
		who, what = "", text
	}
	word, when, _ := strings.Cut(what, "@")
	switch word {
	case "on":
		c.To = roster.Online
	case "off":
		c.To = roster.OfflineNow
	default:
		return Change{}, fmt.Errorf("change %q: %q is neither on nor off; want one like off@18:00 or amy,bob:on@9:00", text, word)
	}
	var err error
	if c.At, c.Over, err = parseWhen(when, start, 0); err != nil {
		return Change{}, fmt.Errorf("change %q: %w; want one like off@18:00 or off@18:00/10m", text, err)
	}
	if but, all := strings.CutPrefix(who, "-"); all {
		c.But = strings.Split(but, ",")
	} else if who != "" {
		c.Who = strings.Split(who, ",")
	}
	return c, nil
}

// parseWhen reads "20:00" or "20:00/30m" by the clock that start shows, or "+90s"
// after start.
func parseWhen(text string, start time.Time, otherwise time.Duration) (at, over time.Duration, err error) {
	clock, span, spans := strings.Cut(text, "/")
	if over = otherwise; spans {
		if over, err = time.ParseDuration(span); err != nil || over <= 0 {
			return 0, 0, fmt.Errorf("%q is no length of time", span)
		}
	}
	if after, relative := strings.CutPrefix(clock, "+"); relative {
		if at, err = time.ParseDuration(after); err != nil || at < 0 {
			return 0, 0, fmt.Errorf("%q is no time after the start", clock)
		}
		return at, over, nil
	}
	wall, err := time.Parse("15:04", clock)
	if err != nil {
		return 0, 0, fmt.Errorf("%q is no time of day", clock)
	}
	day := start
	for {
		on := time.Date(day.Year(), day.Month(), day.Day(), wall.Hour(), wall.Minute(), 0, 0, start.Location())
		if !on.Before(start) {
			return on.Sub(start), over, nil
		}
		day = day.AddDate(0, 0, 1)
	}
}
