package roster_test

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/rollcall-dev/rollcall/internal/roster"
)

// pairs calls set with each word of the form name=value; a bare word has the
// value "".
func pairs(words []string, set func(name, value string) error) error {
	for _, word := range words {
		name, value, _ := strings.Cut(word, "=")
		if err := set(name, value); err != nil {
			return fmt.Errorf("%s: %w", word, err)
		}
	}
	return nil
}

func (s *stage) code(words []string) error {
	c := &s.facts.Code
	return pairs(words, func(name, value string) (err error) {
		switch name {
		case "family":
			c.Family = roster.Family(value)
		case "check":
			c.Switches, err = parseSwitches(value)
		case "empty":
			c.OnEmpty = roster.EmptyPolicy(value)
		case "revision":
			c.Revision, err = strconv.ParseInt(value, 10, 64)
		case "updated":
			c.UpdatedAt, err = parseTime(value)
		case "lane":
			c.Lane = roster.LaneSwitch(value)
		case "remark":
			c.Remark = value
		case "state":
			c.State = value
		case "deleted":
			c.Deleted = true
		case "no-members":
			c.Members = nil
		case "no-backups":
			c.Backups = nil
		default:
			err = fmt.Errorf("unknown")
		}
		return err
	})
}

func parseSwitches(value string) (sw roster.Switches, err error) {
	for rule := range strings.SplitSeq(value, ",") {
		switch rule {
		case "offline":
			sw.OfflineCheck = true
		case "add":
			sw.AddLimit = true
		case "daily":
			sw.DailyLimit = true
		case "round":
			sw.RoundLimit = true
		case "":
		default:
			err = fmt.Errorf("unknown switch %q", rule)
		}
	}
	return sw, err
}

func (s *stage) tenant(words []string) error {
	t := &s.facts.Tenant
	return pairs(words, func(name, value string) (err error) {
		switch name {
		case "zone":
			t.TimeZone = value
		case "total":
			t.DailyTotal, err = strconv.Atoi(value)
		case "fallback":
			t.Fallback = strings.Split(value, ",")
		case "share":
			t.MaxRemovalShare, err = strconv.ParseFloat(value, 64)
		case "tier":
			t.Tier = value
		case "lane":
			t.Lane = roster.LaneSwitch(value)
		case "whitelisted":
			t.Whitelisted = true
		default:
			err = fmt.Errorf("unknown")
		}
		return err
	})
}

// member adds a place, and a staff member if there is none of the name. A
// range like m1..m120 adds many.
func (s *stage) member(words []string) error {
	m := roster.Member{}
	err := pairs(words[1:], func(name, value string) (err error) {
		switch name {
		case "add":
			m.AddLimit, err = strconv.Atoi(value)
		case "daily":
			m.DailyLimit, err = strconv.Atoi(value)
		case "round":
			m.RoundLimit, err = strconv.Atoi(value)
		default:
			err = fmt.Errorf("unknown")
		}
		return err
	})
	for _, id := range spread(words[0]) {
		s.hire(id)
		m.Staff = id
		s.facts.Code.Members = append(s.facts.Code.Members, m)
	}
	return err
}

// spread turns m1..m120 into 120 names of equal length.
func spread(word string) []string {
	first, last, ok := strings.Cut(word, "..")
	if !ok {
		return []string{word}
	}
	prefix := strings.TrimRight(first, "0123456789")
	from, _ := strconv.Atoi(first[len(prefix):])
	to, _ := strconv.Atoi(last[len(prefix):])
	var all []string
	for i := from; i <= to; i++ {
		all = append(all, fmt.Sprintf("%s%03d", prefix, i))
	}
	return all
}

func (s *stage) backup(words []string) error {
	for _, word := range words {
		for _, id := range spread(word) {
			s.hire(id)
			s.facts.Code.Backups = append(s.facts.Code.Backups, id)
		}
	}
	return nil
}

func (s *stage) hire(id string) {
	if _, ok := s.facts.Staff[id]; !ok {
		s.facts.Staff[id] = roster.Staff{ID: id}
	}
}

// gone removes staff members from the facts without a trace.
func (s *stage) gone(words []string) error {
	for _, word := range words {
		for _, id := range spread(word) {
			delete(s.facts.Staff, id)
		}
	}
	return nil
}

func (s *stage) staff(words []string) error {
	for _, id := range spread(words[0]) {
		p := s.facts.Staff[id]
		p.ID = id
		err := pairs(words[1:], func(name, value string) (err error) {
			switch name {
			case "resigned":
				p.Resigned = true
			case "online", "offline":
				p.Presence = roster.Presence(name)
			case "presence":
				p.Presence = roster.Presence(value)
			case "removed":
				p.RemovedOn = roster.Day(value)
			case "quarantined":
				p.QuarantinedUntil, err = parseTime(value)
			case "off": // off=2026-03-02T11:00, or off without an end
				p.Off = roster.Stop{Since: s.now, By: "ann", Why: "he is ill"}
				if value != "" {
					p.Off.Until, err = parseTime(value)
				}
			case "added": // added=20260302:5
				var n int
				var day roster.Day
				day, n, err = parseCount(value)
				p.Added = map[roster.Day]int{day: n}
			default:
				err = fmt.Errorf("unknown")
			}
			return err
		})
		if err != nil {
			return err
		}
		s.facts.Staff[id] = p
	}
	return nil
}

// works sets weekly shifts: works anna [zone=Z] mon,tue=09:00-18:00 sat=22:00-30:00.
func (s *stage) works(words []string) error {
	return s.reschedule(words, func(sch *roster.Schedule, name string, shift []roster.Shift) error {
		for day := range strings.SplitSeq(name, ",") {
			n, ok := weekdays[day]
			if !ok {
				return fmt.Errorf("no weekday %q", day)
			}
			sch.Weekly[n] = append(sch.Weekly[n], shift...)
		}
		return nil
	})
}

var weekdays = map[string]int{"sun": 0, "mon": 1, "tue": 2, "wed": 3, "thu": 4, "fri": 5, "sat": 6}

// special sets single days: special anna 20260501=off 20260502=10:00-12:00.
func (s *stage) special(words []string) error {
	return s.reschedule(words, func(sch *roster.Schedule, name string, shift []roster.Shift) error {
		if sch.Special == nil {
			sch.Special = map[roster.Day][]roster.Shift{}
		}
		sch.Special[roster.Day(name)] = append(sch.Special[roster.Day(name)], shift...)
		return nil
	})
}

func (s *stage) reschedule(words []string, set func(*roster.Schedule, string, []roster.Shift) error) error {
	p := s.facts.Staff[words[0]]
	if p.Schedule == nil {
		p.Schedule = &roster.Schedule{}
		s.facts.Staff[words[0]] = p
	}
	return pairs(words[1:], func(name, value string) error {
		if name == "zone" {
			p.Schedule.TimeZone = value
			return nil
		}
		if value == "off" {
			return set(p.Schedule, name, nil)
		}
		var a, b, c, d int
		if _, err := fmt.Sscanf(value, "%d:%d-%d:%d", &a, &b, &c, &d); err != nil {
			return err
		}
		return set(p.Schedule, name, []roster.Shift{{From: a*60 + b, To: c*60 + d}})
	})
}

// count sets a code's counters: count anna total=9 20260302=4 round=2. The
// name "-" with current=N sets the round itself.
func (s *stage) count(words []string) error {
	c := &s.facts.Counters
	return pairs(words[1:], func(name, value string) error {
		n, err := strconv.Atoi(value)
		switch name {
		case "total":
			c.Total[words[0]] = n
		case "round":
			c.InRound[words[0]] = n
		case "current":
			c.Round = int64(n)
		default:
			day := roster.Day(name)
			if c.Days[day] == nil {
				c.Days[day] = map[string]int{}
			}
			c.Days[day][words[0]] = n
		}
		return err
	})
}

// last sets the last pushed list: last revision=1 anna bo [kept].
func (s *stage) lastList(words []string) error {
	s.last = roster.Last{}
	return pairs(words, func(name, value string) (err error) {
		switch name {
		case "revision":
			s.last.Revision, err = strconv.ParseInt(value, 10, 64)
		case "kept":
			s.last.Kept = true
		default:
			s.last.Members = append(s.last.Members, spread(name)...)
		}
		return err
	})
}

func (s *stage) lanes(words []string) error {
	return pairs(words, func(name, value string) (err error) {
		switch name {
		case "fast":
			s.rules.FastFor, err = time.ParseDuration(value)
		case "slow":
			s.rules.SlowInterval, err = time.ParseDuration(value)
		case "tiers":
			s.rules.FastTiers = strings.Split(value, ",")
		default:
			err = fmt.Errorf("unknown")
		}
		return err
	})
}

// at sets the clock: at 2026-03-02T09:00 [zone]; without a zone, Shanghai.
func (s *stage) at(words []string) (err error) {
	zone := "Asia/Shanghai"
	if len(words) > 1 {
		zone = words[1]
	}
	loc, err := time.LoadLocation(zone)
	if err != nil {
		return err
	}
	if strings.HasSuffix(words[0], "Z") { // an instant, shown in the zone
		s.now, err = time.Parse(time.RFC3339, words[0])
		s.now = s.now.In(loc)
		return err
	}
	s.now, err = time.ParseInLocation("2006-01-02T15:04", words[0], loc)
	return err
}

func parseTime(value string) (time.Time, error) {
	loc, err := time.LoadLocation("Asia/Shanghai")
	if err != nil {
		return time.Time{}, err
	}
	return time.ParseInLocation("2006-01-02T15:04", value, loc)
}

func parseCount(value string) (roster.Day, int, error) {
	day, count, _ := strings.Cut(value, ":")
	n, err := strconv.Atoi(count)
	return roster.Day(day), n, err
}
