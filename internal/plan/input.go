package plan

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Input is all that a plan rests on.
type Input struct {
	Company  Company
	Campaign Campaign
	Budget   Budget
	Releasing
	Refreshing
	SlowInterval time.Duration // of codes that a what-if puts in the slow lane
	Stagger      time.Duration // by up to so much each person's shifts begin and end later
}

// Releasing is how fan-outs and the keeper give codes to the refreshers. Each
// process has a pace of its own, at the tenant's rate of calls.
type Releasing struct {
	Ingresses int           // processes that begin a fan-out at once
	Burst     int           // codes of a fan-out that go at once after a pause
	Jobs      int           // fan-outs of a tenant that a process works on at a time
	Poll      time.Duration // how often the keeper looks for those that nobody works on
	Saved     time.Duration // for how long the keeper saves up its pace
}

// Refreshing is what the refreshers add to a push.
type Refreshing struct {
	InFlight  int           // codes of a tenant worked on at once, by all refreshers
	PushTime  time.Duration // from reading the facts to the record of the push
	ParkAfter time.Duration // a longer wait goes through the dirty set and the keeper
}

// The limits of a plan.
const (
	minLength = time.Second
	maxLength = 7 * 24 * time.Hour
	// maxChanges is how often a person may come or go by hand.
	maxChanges = 1000
)

// Validate names everything that makes no sense.
func (in *Input) Validate() error {
	var wrong []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			wrong = append(wrong, fmt.Errorf(format, args...))
		}
	}
	c := &in.Campaign
	check(c.Length >= minLength && c.Length <= maxLength, "the time planned is %v; want %v to %v", c.Length, minLength, maxLength)
	peaks := 0.0
	for _, p := range c.Peaks {
		peaks += p.Share
		check(p.Share >= 0 && p.At >= 0 && p.At < c.Length && p.Over > 0, "a peak of %.0f %% at %v; want it within the %v planned", 100*p.Share, p.At, c.Length)
	}
	check(peaks <= 1+1e-9, "the peaks are %.0f %% of the additions; want 100 %% at most", 100*peaks)
	each := c.ChangesEach * c.Length.Hours() / 24
	check(each >= 0 && each <= maxChanges, "%.0f changes of presence each; want 0 to %d", each, maxChanges)
	for _, change := range c.Changes {
		check(change.At >= 0 && change.At <= c.Length, "a change at %v; want it within the %v planned", change.At, c.Length)
		for _, person := range slices.Concat(change.Who, change.But) {
			check(in.knows(person), "%s has no staff member %s", in.Company.Tenant, person)
		}
	}
	tenant, address := in.Budget.Rates()
	check(tenant > 0 && address > 0, "the budget leaves nothing beside its burst")
	check(in.Ingresses > 0 && in.Jobs > 0 && in.InFlight > 0 && in.PushTime > 0, "there is nobody to release and refresh codes")
	return errors.Join(wrong...)
}

func (in *Input) knows(person string) bool {
	for i := range in.Company.People {
		if in.Company.People[i].ID == person {
			return true
		}
	}
	return false
}
