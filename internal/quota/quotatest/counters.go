package quotatest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/rollcall-dev/rollcall/internal/quota"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// DaysKept is for how many days additions are kept by day.
const DaysKept = 7

// Count counts an addition on its code and on its staff member, each once.
func (s *Store) Count(ctx context.Context, pair quota.Pair, a quota.Addition) (quota.Counts, error) {
	day, err := time.Parse("20060102", string(a.Day))
	if err != nil {
		return quota.Counts{}, fmt.Errorf("count an addition on code %s: day %q", a.Code, a.Day)
	}
	var counts quota.Counts
	onCode := func() error {
		return s.locked(ctx, OpCountCode, func() { counts.Total, counts.OnDay = s.countOnCode(pair, a, day) })
	}
	onStaff := func() error {
		return s.locked(ctx, OpCountStaff, func() { counts.Company = s.countOnStaff(pair, a, day) })
	}
	first, second := onCode, onStaff
	if s.StaffFirst != nil && s.StaffFirst() {
		first, second = onStaff, onCode
	}
	if err := errors.Join(first(), second()); err != nil {
		return quota.Counts{}, err
	}
	return counts, nil
}

func (s *Store) countOnCode(pair quota.Pair, a quota.Addition, day time.Time) (total, onDay int) {
	c := s.counters[a.Code]
	if c == nil {
		c = &counters{counted: map[string]bool{}}
		c.Total, c.InRound, c.Days = map[string]int{}, map[string]int{}, map[roster.Day]map[string]int{}
		s.counters[a.Code] = c
	}
	if !c.counted[a.ID] {
		c.counted[a.ID] = true
		c.Total[pair.Staff]++
		c.InRound[pair.Staff]++
		if c.Days[a.Day] == nil {
			c.Days[a.Day] = map[string]int{}
		}
		c.Days[a.Day][pair.Staff]++
		prune(c.Days, day)
	}
	return c.Total[pair.Staff], c.Days[a.Day][pair.Staff]
}

// countOnStaff counts nothing for somebody who is not known.
func (s *Store) countOnStaff(pair quota.Pair, a quota.Addition, day time.Time) int {
	who := s.staff[member{pair.Tenant, pair.Staff}]
	if who == nil {
		return 0
	}
	if !who.counted[a.ID] {
		who.counted[a.ID] = true
		if who.Added == nil {
			who.Added = map[roster.Day]int{}
		}
		who.Added[a.Day]++
		prune(who.Added, day)
	}
	return who.Added[a.Day]
}

// prune drops the days that are no longer kept on a day.
func prune[V any](days map[roster.Day]V, day time.Time) {
	last := roster.DayOf(day.AddDate(0, 0, -DaysKept), time.UTC)
	maps.DeleteFunc(days, func(d roster.Day, _ V) bool { return d <= last })
}

// Forget makes the counters forget additions that are done.
func (s *Store) Forget(ctx context.Context, done []quota.Counting) error {
	codes := s.locked(ctx, OpForgetCodes, func() {
		for _, c := range done {
			if known := s.counters[c.Code]; known != nil {
				delete(known.counted, c.ID)
			}
		}
	})
	staff := s.locked(ctx, OpForgetStaff, func() {
		for _, c := range done {
			if known := s.staff[member{c.Tenant, c.Staff}]; known != nil {
				delete(known.counted, c.ID)
			}
		}
	})
	return errors.Join(codes, staff)
}
