package audit

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// Finding is what a look at a code says. The zero Finding but for its Ref: all
// agrees.
type Finding struct {
	push.Ref
	// Kind is what differs; "" is nothing.
	Kind reason.Reason
	// Waits is why the difference is known already and somebody will come back
	// to it; "" is nobody.
	Waits  reason.Reason
	Detail string // for a person
	// Shadowed says that another system writes the list: compared is what ours
	// would be.
	Shadowed bool
	// Missing are staff whom the code names and the facts do not have.
	Missing []string

	// same tells one difference from another of the same code: what is asked
	// for, and what was there instead.
	same string
}

// Agrees reports that the facts, the record and the rotation set say the same
// and that nothing is under way.
func (f Finding) Agrees() bool { return f.Kind == "" && f.Waits == "" }

// Lost reports a difference that nobody is known to come back to.
func (f Finding) Lost() bool { return f.Kind != "" && f.Waits == "" && !f.Hopeless() }

// Hopeless reports facts that no refresh can be decided from.
func (f Finding) Hopeless() bool {
	switch f.Kind {
	case reason.InvalidFacts, reason.UnknownTenant, reason.UnknownCode, reason.WrongTenant:
		return true
	}
	return false
}

// Compare decides from a look's facts at now and compares with its record and
// its rotation set. Of the set it compares whose seats there are, in order and
// in which round; how many additions each has left changes with every draw.
func Compare(look Look, rules roster.LaneRules, now time.Time) Finding {
	f := Finding{Ref: look.Ref}
	if look.Wrong != nil {
		return f.differs(kindOf(look.Wrong), look.Wrong.Error())
	}
	f.Shadowed = look.Facts.Shadowed()
	verdict, err := roster.Decide(look.Facts, look.Record.Last(), rules, now)
	if err != nil {
		return f.differs(reason.InvalidFacts, err.Error())
	}
	for _, j := range verdict.PerStaff {
		if j.Reason == reason.StaffMissing {
			f.Missing = append(f.Missing, j.Staff)
		}
	}
	if f.Shadowed {
		f = compareShadow(f, look, verdict)
	} else {
		f = compare(f, look, verdict)
	}
	if f.Kind != "" {
		f.Waits = waits(f.Kind, look, verdict, now)
	}
	f.same = fmt.Sprint(f.Kind, " ", verdict.Hash, " ", verdict.Round, " ", look.Record.Epoch, " ", look.Set.Version, " ", look.Noted)
	return f
}

func kindOf(wrong error) reason.Reason {
	switch {
	case errors.Is(wrong, push.ErrUnknownCode):
		return reason.UnknownCode
	case errors.Is(wrong, push.ErrUnknownTenant):
		return reason.UnknownTenant
	case errors.Is(wrong, push.ErrWrongTenant):
		return reason.WrongTenant
	}
	return reason.InvalidFacts
}

func (f Finding) differs(kind reason.Reason, detail string) Finding {
	f.Kind, f.Detail = kind, detail
	f.same = string(kind)
	return f
}

// compareShadow looks at what was noted, which is all there is of ours.
func compareShadow(f Finding, look Look, verdict roster.Verdict) Finding {
	if look.Facts.Code.Deleted || look.Noted == verdict.Hash {
		return f
	}
	return f.differs(reason.Stale, "what is noted to compare with the other system is not what the facts ask for")
}

// compare looks at the set first: it is right at once, whatever the vendor does.
func compare(f Finding, look Look, verdict roster.Verdict) Finding {
	if look.Facts.Code.Deleted {
		if look.Set.Version != 0 {
			return f.differs(reason.SetDiffers, "the code is deleted and has a rotation set")
		}
		return f
	}
	if look.Facts.Code.Family.Rotates() {
		if f = compareSet(f, look.Set, verdict); f.Kind != "" {
			return f
		}
	}
	if look.Facts.Code.ConfigID == "" || len(verdict.Members) == 0 {
		return f // there is nothing to send, or nowhere to send it
	}
	committed, open := look.Record.Committed, len(look.Record.Intents) > 0
	switch {
	case committed.Epoch == 0 && !open:
		return f.differs(reason.NeverPushed, "the code has no record of a push")
	case verdict.Hash != committed.Hash:
		return f.differs(reason.Stale, difference(verdict, committed.Members))
	case !slices.Equal(verdict.Members, committed.Members):
		return f.differs(reason.RecordLies, "the record's members are not those of its hash: "+difference(verdict, committed.Members))
	case open:
		return f.differs(reason.Unsettled, "a push was announced and its outcome is not recorded")
	}
	return f
}

func compareSet(f Finding, set Set, verdict roster.Verdict) Finding {
	want := make([]string, len(verdict.Rotation))
	for i, seat := range verdict.Rotation {
		want[i] = seat.Staff
	}
	switch {
	case set.Version == 0:
		return f.differs(reason.SetMissing, "the code has no rotation set")
	case !slices.Equal(want, set.Staff):
		return f.differs(reason.SetDiffers, "the rotation set seats "+names(set.Staff)+", the facts ask for "+names(want))
	case set.Round != verdict.Round:
		return f.differs(reason.SetDiffers, fmt.Sprintf("the rotation set is of round %d, the facts of round %d", set.Round, verdict.Round))
	}
	return f
}

// waits says what a difference waits for, if somebody comes back to it then. A
// rotation set waits for nothing: a refresh writes it before it asks for budget.
func waits(kind reason.Reason, look Look, verdict roster.Verdict, now time.Time) reason.Reason {
	record := look.Record
	switch {
	case look.Dirty:
		return reason.Dirty
	case kind == reason.SetMissing || kind == reason.SetDiffers:
		return ""
	case len(record.Intents) > 0 && latest(record.Intents).After(now):
		return reason.Unsettled
	case record.Failure.NotBefore.After(now):
		return reason.Backoff
	case look.Facts.Hold(now).Active(now):
		return reason.OnHold
	case look.Facts.Tenant.Suspension.Active():
		return reason.Suspended
	case look.Booked:
		return reason.Throttled
	case verdict.Lane.Slow() && record.Committed.Epoch > 0 && verdict.Lane.NotBefore(record.Committed.At).After(now):
		return reason.SlowLane
	}
	return ""
}

func latest(intents []push.Intent) time.Time {
	var last time.Time
	for _, i := range intents {
		if i.Deadline.After(last) {
			last = i.Deadline
		}
	}
	return last
}

// difference says whom the record has and lacks beside the verdict, and why.
func difference(verdict roster.Verdict, members []string) string {
	why := make(map[string]reason.Reason, len(verdict.PerStaff))
	for _, j := range verdict.PerStaff {
		why[j.Staff] = j.Reason
	}
	var has, lacks []string
	for _, m := range members {
		if !slices.Contains(verdict.Members, m) {
			has = append(has, explained(m, why[m]))
		}
	}
	for _, m := range verdict.Members {
		if !slices.Contains(members, m) {
			lacks = append(lacks, explained(m, why[m]))
		}
	}
	switch {
	case len(has) == 0 && len(lacks) == 0:
		return "the members agree; the contact way, its texts, or the term of the mode do not"
	case len(has) == 0:
		return "the list lacks " + names(lacks)
	case len(lacks) == 0:
		return "the list still has " + names(has)
	}
	return "the list still has " + names(has) + " and lacks " + names(lacks)
}

func explained(staff string, why reason.Reason) string {
	if why == "" {
		return staff + " (no member)"
	}
	return staff + " (" + why.String() + ")"
}

// maxNames keeps a detail to a line.
const maxNames = 5

func names(all []string) string {
	if len(all) == 0 {
		return "nobody"
	}
	if len(all) <= maxNames {
		return strings.Join(all, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(all[:maxNames], ", "), len(all)-maxNames)
}
