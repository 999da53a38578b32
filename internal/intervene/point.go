package intervene

import (
	"fmt"
	"strings"
	"time"
)

// What a Point says.
type What string

// What an order leads to.
const (
	Recomputes What = "recomputes" // Count codes are recomputed; lists that are right are not pushed
	PushesAll  What = "pushes_all" // Count lists are pushed, which takes For at the tenant's pace
	Keeps      What = "keeps"      // Count lists at WeCom stay as they are, until Until
	Leaves     What = "leaves"     // he leaves the lists of Count codes, until Until
	Returns    What = "returns"    // what was stopped goes on, on Count codes
	Fast       What = "fast"       // changes are pushed at once
	Slow       What = "slow"       // at most one push of a code in For
	ByRules    What = "by_rules"   // the lane follows the rules
	Shadows    What = "shadows"    // another system writes the list: nothing is pushed anyway
	StillHeld  What = "still_held" // a hold that this does not end keeps the lists as they are, until Until
	Redundant  What = "redundant"  // it is so already
)

// What is said against it.
const (
	StaysOn      What = "stays_on"      // the facts take Names off the list, and they go on being reached
	NoRemoval    What = "no_removal"    // nobody leaves the lists of Count codes meanwhile, whatever happens
	NoEnd        What = "no_end"        // it ends only when somebody releases it
	NobodyLeft   What = "nobody_left"   // on the codes Names nobody else can take a customer
	NotPushed    What = "not_pushed"    // the lists of the codes Names are not pushed now: he stays on them
	SlowRemovals What = "slow_removals" // who has to leave a list stays on it for up to For
	ManyCalls    What = "many_calls"    // Count calls of WeCom's quota, For of the tenant's pace
	NotAllSeen   What = "not_all_seen"  // only the first Count codes were looked at
)

// Point is one thing to know before an order is carried out. Fields that What
// does not name are zero.
type Point struct {
	What  What
	Count int
	More  bool // Count is a lower bound
	Names []string
	For   time.Duration
	Until time.Time // zero: until it is released
}

// String says it in a sentence.
func (p Point) String() string {
	switch p.What {
	case Recomputes:
		return p.codes() + " recomputed; a list that is right is not pushed again"
	case PushesAll:
		return fmt.Sprintf("%s pushed once, whatever is known of them; that takes %s of the tenant's pace", p.lists(), p.For.Round(time.Second))
	case Keeps:
		return fmt.Sprintf("%s as WeCom has %s, %s", p.stay(), p.them(), p.until())
	case Leaves:
		return fmt.Sprintf("he leaves every list, of %s, %s", p.many("code"), p.until())
	case Returns:
		return p.codes() + " recomputed, and what has changed meanwhile is pushed"
	case Fast:
		return "changes are pushed at once"
	case Slow:
		return fmt.Sprintf("a code is pushed at most once in %s", p.For)
	case ByRules:
		return "the lane follows the rules"
	case Shadows:
		return "another system writes the list: Rollcall pushes nothing anyway"
	case StillHeld:
		return "a hold keeps WeCom's lists as they are; nothing is pushed " + p.until()
	case Redundant:
		return "it is so already"
	case StaysOn:
		return fmt.Sprintf("%s should leave the list, and customers go on reaching them", strings.Join(p.Names, ", "))
	case NoRemoval:
		return fmt.Sprintf("nobody leaves the lists of %s meanwhile: whoever goes off line or reaches his ceiling goes on being reached", p.many("code"))
	case NoEnd:
		return "it has no end: it lasts until somebody releases it"
	case NobodyLeft:
		return fmt.Sprintf("nobody else can take a customer on %s; WeCom takes no empty list, and he stays on it", named(p.Names, p.Count))
	case NotPushed:
		return fmt.Sprintf("nothing is pushed of %s now (on hold, written by another system, or of facts that are not valid), and he stays there", named(p.Names, p.Count))
	case SlowRemovals:
		return fmt.Sprintf("whoever has to leave a list of %s stays on it for up to %s", p.many("code"), p.For)
	case ManyCalls:
		return fmt.Sprintf("%s of the tenant's quota, %s of its pace; changes of other codes wait among them", p.many("call"), p.For.Round(time.Second))
	case NotAllSeen:
		return fmt.Sprintf("only the first %d codes were looked at", p.Count)
	}
	return string(p.What)
}

func (p Point) many(of string) string {
	switch {
	case p.More:
		return fmt.Sprintf("more than %d %ss", p.Count, of)
	case p.Count == 1:
		return "1 " + of
	}
	return fmt.Sprintf("%d %ss", p.Count, of)
}

func (p Point) codes() string {
	if p.Count == 1 && !p.More {
		return "1 code is"
	}
	return p.many("code") + " are"
}

func (p Point) lists() string {
	if p.Count == 1 && !p.More {
		return "1 list is"
	}
	return p.many("list") + " are"
}

func (p Point) stay() string {
	if p.Count == 1 && !p.More {
		return "the list stays"
	}
	return "the lists of " + p.many("code") + " stay"
}

func (p Point) them() string {
	if p.Count == 1 && !p.More {
		return "it"
	}
	return "them"
}

func (p Point) until() string {
	if p.Until.IsZero() {
		return "until it is released"
	}
	return "until " + p.Until.UTC().Format(time.RFC3339)
}

// maxNamed is how many names one sentence has.
const maxNamed = 5

func named(names []string, of int) string {
	shown := names[:min(len(names), maxNamed)]
	text := strings.Join(shown, ", ")
	if rest := of - len(shown); rest > 0 {
		text += fmt.Sprintf(" and %d more", rest)
	}
	return text
}

// HarmError refuses an order that would do harm and on which nobody insists.
type HarmError struct{ Harm []Point }

// Error says what it would do.
func (e *HarmError) Error() string {
	lines := make([]string, len(e.Harm))
	for i, p := range e.Harm {
		lines[i] = "  - " + p.String()
	}
	return "it would do harm:\n" + strings.Join(lines, "\n")
}
