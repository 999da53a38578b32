package board

import (
	"fmt"
	"slices"
	"time"

	"github.com/rollcall-dev/rollcall/internal/reason"
)

func storeDown(v View) []Incident {
	var found []Incident
	for _, store := range []struct {
		server, name string
		parts        []Part
		silent       bool // nothing of it was read
	}{
		{"MongoDB", "mongodb", []Part{PartDirty, PartFanOuts}, v.Dirty == nil && v.FanOuts == nil},
		{"Redis", "redis", []Part{PartBoard, PartBudget}, v.Work == nil && v.Budget == nil},
	} {
		u, failed := v.unread(store.parts...)
		if failed && store.silent {
			found = append(found, page("RollcallStoreDown", store.server+" does not answer here: "+u.Cause).because(reason.StoreDown))
			continue
		}
		if failed { // it is slow, as with the count of a very large dirty set
			text := fmt.Sprintf("%s answers here, and the part %s cannot be read: %s", store.server, u.Part, u.Cause)
			found = append(found, ticket("RollcallStoreDown", text).because(reason.StoreDown))
		}
		all := v.alive("")
		without := missing(all, store.name)
		if 2*without > len(all) {
			text := fmt.Sprintf("%s does not answer %d of %d processes", store.server, without, len(all))
			found = append(found, page("RollcallStoreDown", text).because(reason.StoreDown))
		}
	}
	if n := v.held(reason.StoreDown); n > 0 && !Pages(found) {
		found = append(found, page("RollcallStoreDown", codesWait(n)+" because a store does not answer their refresher").because(reason.StoreDown))
	}
	return found
}

// missing is how many processes say that a server does not answer them.
func missing(all []Instance, server string) int {
	n := 0
	for _, i := range all {
		if slices.ContainsFunc(i.Missing, func(m Missing) bool { return m.Name == server }) {
			n++
		}
	}
	return n
}

func refreshersDown(v View) []Incident {
	const runbook = "RollcallRefreshersDown"
	switch {
	case v.boardRead() && len(v.alive(Refresher)) == 0:
		return []Incident{page(runbook, "no refresher is heard: no list changes, events wait at the broker").since(lastHeard(v.Instances, Refresher))}
	case v.Broker != nil && len(v.Broker.Consumers) == 0:
		return []Incident{page(runbook, "no refresher is connected to the broker: no list changes")}
	}
	return nil
}

// lastHeard is when a process of the role told last; zero when none is known.
func lastHeard(all []Instance, role Role) time.Time {
	var last time.Time
	for _, i := range all {
		if i.Role == role && i.Heard.After(last) {
			last = i.Heard
		}
	}
	return last
}

// noKeeper leaves a keeper that has just started the time to take the lease, and
// to say so.
func noKeeper(v View) []Incident {
	works := func(i Instance) bool { return i.Leads || v.At.Sub(i.Started).Abs() < SilentAfter } // by its own clock
	if !v.boardRead() || slices.ContainsFunc(v.alive(Keeper), works) {
		return nil
	}
	const text = "no keeper is at work: shifts, midnights and dirty codes change no list"
	return []Incident{page("RollcallNoKeeper", text).since(lastHeard(v.Instances, Keeper))}
}

func brokerDown(v View) []Incident {
	all := v.alive(Refresher)
	if len(all) == 0 || missing(all, "pulsar") < len(all) {
		return nil
	}
	return []Incident{page("RollcallBrokerDown", "no refresher is connected to the broker: no event comes through")}
}

func instancesDown(v View) []Incident {
	var names []string
	var since time.Time
	for _, i := range v.Instances {
		if i.Silent {
			names = append(names, string(i.Role)+" "+i.Instance)
			since = earlier(since, i.Heard)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return []Incident{ticket("RollcallInstanceDown", "not heard any more: "+some(names, "")).since(since)}
}

func subscriptionUnseen(v View) []Incident {
	u, failed := v.unread(PartBroker)
	if !failed {
		return nil
	}
	return []Incident{ticket("RollcallSubscriptionUnseen", "the broker's statistics cannot be read: "+u.Cause)}
}
