package roster

import "time"

const secondsADay = 24 * 60 * 60

// Day is a calendar day in a tenant's time zone, as YYYYMMDD.
type Day string

// DayOf returns the day at t in loc.
func DayOf(t time.Time, loc *time.Location) Day { return Day(t.In(loc).Format(dayLayout)) }

const dayLayout = "20060102"

// dayNumbered returns the day that begins n days after 1970-01-01.
func dayNumbered(n int64) Day {
	return Day(time.Unix(n*secondsADay, 0).UTC().Format(dayLayout))
}

// civil splits a day into its parts; false when it is not a day of the
// calendar written as YYYYMMDD.
func (d Day) civil() (year, month, day int, ok bool) {
	if len(d) != len(dayLayout) {
		return 0, 0, 0, false
	}
	n := 0
	for i := range len(d) {
		digit := d[i] - '0'
		if digit > 9 {
			return 0, 0, 0, false
		}
		n = n*10 + int(digit)
	}
	year, month, day = n/10000, n/100%100, n%100
	ok = year >= 1 && month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month)
	return year, month, day, ok
}

// valid reports whether d names a day of the calendar.
func (d Day) valid() bool {
	_, _, _, ok := d.civil()
	return ok
}

// number is the inverse of dayNumbered; d must be valid.
func (d Day) number() int64 {
	year, month, day, _ := d.civil()
	return time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC).Unix() / secondsADay
}

func daysIn(year, month int) int {
	switch month {
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}

// weekdayOf returns the weekday of the day numbered n, Sunday being 0.
// 1970-01-01 was a Thursday.
func weekdayOf(n int64) int {
	const thursday = 4
	return int(((n+thursday)%7 + 7) % 7)
}

// splitWall splits wall seconds into the number of the day and the seconds
// since its midnight.
func splitWall(wall int64) (day, second int64) {
	day, second = wall/secondsADay, wall%secondsADay
	if second < 0 {
		day, second = day-1, second+secondsADay
	}
	return day, second
}
