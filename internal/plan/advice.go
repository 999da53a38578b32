package plan

import "time"

// Remedy is something that could be done, and what would come of it.
type Remedy struct {
	What    string // as the operator would ask for it
	Outcome Outcome
}

// spread is the time over which a remedy spreads a change of everybody.
const spread = time.Hour

// Remedies plays what could be done about a budget that is used up: the slow lane
// for half of the codes, changes of everybody spread over an hour, twice the
// ceilings. Those that change nothing are left out.
func Remedies(in Input, present Outcome) ([]Remedy, error) {
	var out []Remedy
	try := func(what string, with Input) error {
		o, err := Play(with)
		if err == nil && (o.Saturation.Longest < present.Saturation.Longest || o.Throttled < present.Throttled) {
			out = append(out, Remedy{What: what, Outcome: o})
		}
		return err
	}
	slow, ceilings := Present(), Present()
	slow.Slow, ceilings.Ceilings = 0.5, 2
	err := try("slow=50%", slow.Applied(in))
	if err == nil && present.Ceilings > 0 || present.ByCause[Ceiling] > 0 {
		err = try("ceilings=x2", ceilings.Applied(in))
	}
	if later, possible := spreadOut(in); err == nil && possible {
		err = try("changes of everybody spread over an hour", later)
	}
	return out, err
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
