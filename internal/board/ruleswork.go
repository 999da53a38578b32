package board

import (
	"fmt"

	"github.com/rollcall-dev/rollcall/internal/reason"
)

// stuck is work that nobody does: codes in the refreshers all the time, or a
// message that has waited, while no refresh came to an end.
func stuck(v View) []Incident {
	if v.Work == nil || v.Work.LastFive.Accounted > 0 || len(v.alive(Refresher)) == 0 {
		return nil
	}
	since := v.At.Add(-stuckAfter)
	waits := v.Broker != nil && v.Broker.Backlog > 0 && !v.Broker.Oldest.IsZero() && v.Broker.Oldest.Before(since)
	if v.Work.LastFive.Busy == 0 && !waits {
		return nil
	}
	return []Incident{page("RollcallStuck", "there is work, and for five minutes no refresh has ended").since(since)}
}

func consumerBlocked(v View) []Incident {
	if v.Broker == nil || !v.Broker.Blocked {
		return nil
	}
	var names []string
	for _, c := range v.Broker.Consumers {
		if c.Blocked {
			names = append(names, c.Name)
		}
	}
	return []Incident{page("RollcallConsumerBlocked",
		fmt.Sprintf("the broker delivers no more to %s: too many un-acked messages", some(names, "the subscription")))}
}

func consumerStuck(v View) []Incident {
	if v.Broker == nil || v.Work == nil || v.Broker.Oldest.IsZero() || v.Work.LastFive.Accounted == 0 || v.At.Sub(v.Broker.Oldest) < oldMessage {
		return nil
	}
	text := fmt.Sprintf("codes move, and the oldest message does not; %d hashes are draining", v.Broker.Draining)
	return []Incident{page("RollcallConsumerStuck", text).since(v.Broker.Oldest)}
}

func heldNearLimit(v View) []Incident {
	if v.Work == nil || float64(v.Work.HeldSum) <= nearLimit*float64(v.Work.Limit) {
		return nil
	}
	text := fmt.Sprintf("the refreshers hold %d of the %d codes that they may; more go to the dirty set", v.Work.HeldSum, v.Work.Limit)
	return []Incident{ticket("RollcallHeldNearLimit", text)}
}

func refreshersFull(v View) []Incident {
	if v.Work == nil || v.Work.Load <= fullLoad || v.Work.Runnable == 0 {
		return nil
	}
	text := fmt.Sprintf("the work at hand could keep %.0f %% of the workers busy; %s in line", 100*v.Work.Load, codes(v.Work.Runnable))
	return []Incident{ticket("RollcallRefreshersFull", text)}
}

func panics(v View) []Incident {
	if v.Work == nil || v.Work.LastHour.Panics == 0 {
		return nil
	}
	text := counted(v.Work.LastHour.Panics, "refresh", "refreshes") + " of the last hour met a bug of Rollcall's; the log has the stack"
	return []Incident{ticket("RollcallPanics", text).because(reason.Panicked)}
}
