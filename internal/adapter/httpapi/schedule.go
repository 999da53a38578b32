package httpapi

import (
	"strconv"

	"github.com/rollcall-dev/rollcall/internal/roster"
)

// scheduleBody is a schedule as docs/facts.md writes it.
type scheduleBody struct {
	TimeZone string                 `json:"time_zone,omitempty"`
	Weekly   [][]shiftBody          `json:"weekly"` // Sunday first
	Special  map[string][]shiftBody `json:"special,omitempty"`
}

// shiftBody is a shift in minutes since midnight.
type shiftBody struct {
	From int `json:"from"`
	To   int `json:"to"`
}

func (b *scheduleBody) schedule() (*roster.Schedule, error) {
	if b == nil {
		return nil, nil
	}
	s := &roster.Schedule{TimeZone: b.TimeZone}
	if n := len(b.Weekly); n > len(s.Weekly) {
		return nil, &roster.InvalidError{
			Field: "schedule.weekly", Value: strconv.Itoa(n) + " days", Want: "at most 7 days, Sunday first",
		}
	}
	for i, shifts := range b.Weekly {
		s.Weekly[i] = shiftsOf(shifts)
	}
	if len(b.Special) > 0 {
		s.Special = make(map[roster.Day][]roster.Shift, len(b.Special))
		for day, shifts := range b.Special {
			s.Special[roster.Day(day)] = shiftsOf(shifts)
		}
	}
	return s, nil
}

func shiftsOf(bodies []shiftBody) []roster.Shift {
	var shifts []roster.Shift
	for _, b := range bodies {
		shifts = append(shifts, roster.Shift(b))
	}
	return shifts
}

func scheduleBodyOf(s *roster.Schedule) *scheduleBody {
	if s == nil {
		return nil
	}
	b := &scheduleBody{TimeZone: s.TimeZone, Weekly: make([][]shiftBody, len(s.Weekly))}
	for i, shifts := range s.Weekly {
		b.Weekly[i] = shiftBodiesOf(shifts)
	}
	if len(s.Special) > 0 {
		b.Special = make(map[string][]shiftBody, len(s.Special))
		for day, shifts := range s.Special {
			b.Special[string(day)] = shiftBodiesOf(shifts)
		}
	}
	return b
}

func shiftBodiesOf(shifts []roster.Shift) []shiftBody {
	bodies := make([]shiftBody, 0, len(shifts))
	for _, s := range shifts {
		bodies = append(bodies, shiftBody(s))
	}
	return bodies
}
