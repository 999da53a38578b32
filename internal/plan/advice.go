package plan

import (
	"cmp"
	"slices"
	"time"
)

// Remedy is something that could be done, and what would come of it.
type Remedy struct {
	What    string // as the operator would ask for it
	Outcome Outcome
}

// spread is the time over which a remedy spreads a change of everybody.
const spread = time.Hour

// Remedies plays what could be done about a quota that is short: the slow lane for
// half of the codes, twice the ceilings, changes of everybody and shifts spread over
// an hour. Those after which lists are as late as before are left out; what helps most
// comes first.
func Remedies(in Input, present Outcome) ([]Remedy, error) {
	slow, ceilings := Present(), Present()
	slow.Slow, ceilings.Ceilings = 0.5, 2
	tries := []Remedy{{What: "slow=50%"}}
	worlds := []Input{slow.Applied(in)}
	if present.Ceilings > 0 || present.ByCause[Ceiling] > 0 {
		tries, worlds = append(tries, Remedy{What: "ceilings=x2"}), append(worlds, ceilings.Applied(in))
	}
	if later, possible := spreadOut(in); possible {
		tries, worlds = append(tries, Remedy{What: "changes of everybody spread over an hour"}), append(worlds, later)
	}
	if present.ByCause[Shift] > 0 {
		later := in
		later.Stagger = spread
		tries, worlds = append(tries, Remedy{What: "shifts spread over an hour"}), append(worlds, later)
	}
	var out []Remedy
	for i, remedy := range tries {
		o, err := Play(worlds[i])
		if err != nil {
			return nil, err
		}
		remedy.Outcome = o
		if o.Freshness.P95 < present.Freshness.P95 {
			out = append(out, remedy)
		}
	}
	slices.SortStableFunc(out, func(a, b Remedy) int { return cmp.Compare(a.Outcome.Freshness.P95, b.Outcome.Freshness.P95) })
	return out, nil
}

// spreadOut is the input with every announced change spread, where there is time.
func spreadOut(in Input) (Input, bool) {
	var changes []Change
	possible := false
	for _, c := range in.Campaign.Changes {
		if c.Over < spread && c.At+spread <= in.Campaign.Length {
			c.Over, possible = spread, true
		}
		changes = append(changes, c)
	}
	in.Campaign.Changes = changes
	return in, possible
}
