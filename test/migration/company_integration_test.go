//go:build integration

package migration

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/shadow"
	"github.com/rollcall-dev/rollcall/test/history"
)

const (
	posters = 300
	hosts   = 30  // they are always there: one on each poster, so that no list is empty
	sellers = 120 // they come and go: three on each poster
	busy    = 60  // posters through which most customers come
)

// company is the truth: its facts, and what they ask for. One goroutine changes
// it at a time.
type company struct {
	*installation
	rnd     *rand.Rand
	day     roster.Day
	offline map[string]bool
	posters []*poster
	// told is who hears of each change; nobody when it is nil.
	told    atomic.Pointer[func(change)]
	changes atomic.Int64
}

// poster is a live QR code.
type poster struct {
	history.History
	id, config string
	host       string
	seats      []roster.Member // of the sellers
	added      map[string]int  // today
}

// change is one change of a fact, and what it means for each poster that it
// concerns.
type change struct {
	writer  writer
	touched []consequence
}

// writer is the part of a company's systems that changes a fact.
type writer string

// The writers.
const (
	attendance writer = "attendance" // somebody comes or goes
	console    writer = "console"    // a poster's members are edited
	counting   writer = "counting"   // a seller got a customer
)

// consequence is what a change means for a poster.
type consequence struct {
	*poster
	before   []string // the list that the facts asked for
	wanted   []string // and the one that they ask for now
	uncapped []string // the same, if daily limits are not known
}

func newCompany(in *installation) *company {
	c := &company{
		installation: in, rnd: rand.New(rand.NewPCG(4, 2)), day: roster.DayOf(time.Now(), noonZone()), offline: map[string]bool{},
	}
	for i := range posters {
		p := &poster{id: fmt.Sprintf("poster-%03d", i), host: fmt.Sprintf("host-%02d", i%hosts), added: map[string]int{}}
		for _, n := range c.rnd.Perm(sellers)[:3] {
			p.seats = append(p.seats, roster.Member{Staff: seller(n), DailyLimit: 1 + c.rnd.IntN(2)})
		}
		c.posters = append(c.posters, p)
	}
	return c
}

func seller(n int) string { return fmt.Sprintf("seller-%03d", n) }

// noonZone is a time zone in which it is noon or one o'clock: no midnight comes
// during a rehearsal.
func noonZone() *time.Location {
	zone, _ := time.LoadLocation(fmt.Sprintf("Etc/GMT%+d", time.Now().UTC().Hour()-12))
	return zone
}

// wanted is the list that the facts ask for.
func (c *company) wanted(p *poster) []string {
	return c.list(p, func(m roster.Member) bool { return !c.offline[m.Staff] && p.added[m.Staff] < m.DailyLimit })
}

func (c *company) uncapped(p *poster) []string {
	return c.list(p, func(m roster.Member) bool { return !c.offline[m.Staff] })
}

func (c *company) list(p *poster, on func(roster.Member) bool) []string {
	list := []string{p.host}
	for _, m := range p.seats {
		if on(m) {
			list = append(list, m.Staff)
		}
	}
	slices.Sort(list)
	return list
}

// why says what keeps somebody off a poster's list, or on it.
func (c *company) why(p *poster, staff string) reason.Reason {
	i := slices.IndexFunc(p.seats, func(m roster.Member) bool { return m.Staff == staff })
	switch {
	case staff == p.host:
		return reason.Eligible
	case i < 0:
		return reason.NotAMember
	case c.offline[staff]:
		return reason.Offline
	case p.added[staff] >= p.seats[i].DailyLimit:
		return reason.AtDailyLimit
	}
	return reason.Eligible
}

// differences says how a poster's list at WeCom is wrong.
func (c *company) differences(p *poster) []shadow.Difference {
	var differences []shadow.Difference
	held, wanted := c.atWeCom(p), c.wanted(p)
	for _, staff := range held {
		if !slices.Contains(wanted, staff) {
			differences = append(differences, shadow.Difference{Staff: staff, Cause: shadow.Cause{Kind: shadow.Lists, Reason: c.why(p, staff)}})
		}
	}
	for _, staff := range wanted {
		if !slices.Contains(held, staff) {
			differences = append(differences, shadow.Difference{Staff: staff, Cause: shadow.Cause{Kind: shadow.Lacks, Reason: c.why(p, staff)}})
		}
	}
	return differences
}

func (c *company) atWeCom(p *poster) []string {
	way, _ := c.sim.Way(corp, p.config)
	return slices.Sorted(slices.Values(way.Users))
}

// wrong are the posters whose list at WeCom is not what the facts ask for.
func (c *company) wrong() map[string][]shadow.Difference {
	wrong := map[string][]shadow.Difference{}
	for _, p := range c.posters {
		if differences := c.differences(p); len(differences) > 0 {
			wrong[p.id] = differences
		}
	}
	return wrong
}

// live changes facts, several a second, until stop is called, which returns when
// the last change is told.
func (c *company) live() (stop func()) {
	ctx, cancel := context.WithCancel(c.Context())
	ended := make(chan error, 1)
	go func() {
		tick := time.NewTicker(80 * time.Millisecond)
		defer tick.Stop()
		for {
			if err := c.change(context.WithoutCancel(ctx)); err != nil {
				ended <- err
				return
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
				ended <- nil
				return
			}
		}
	}()
	return func() {
		cancel()
		c.must(<-ended)
	}
}

// change does as a producer does: the fact, then its events. What it asks for is
// in the history before.
func (c *company) change(ctx context.Context) error {
	writer, touched, store := c.next()
	now := time.Now()
	for i, t := range touched {
		touched[i].wanted, touched[i].uncapped = c.wanted(t.poster), c.uncapped(t.poster)
		t.Ask(now, touched[i].wanted)
	}
	if err := store(ctx); err != nil {
		return err
	}
	for _, t := range touched {
		if err := c.publish(ctx, t.id, string(writer)); err != nil {
			return err
		}
	}
	if told := c.told.Load(); told != nil {
		(*told)(change{writer, touched})
	}
	c.changes.Add(1)
	return nil
}

// next changes the truth and returns the write that says so.
func (c *company) next() (writer, []consequence, func(context.Context) error) {
	switch c.rnd.IntN(5) {
	case 0:
		staff := seller(c.rnd.IntN(sellers))
		return attendance, c.turn(staff), func(ctx context.Context) error {
			return c.db.Facts().SetPresence(ctx, tenant, staff, map[bool]roster.Presence{true: roster.OfflineNow, false: roster.Online}[c.offline[staff]])
		}
	case 1:
		p := c.posters[c.rnd.IntN(len(c.posters))]
		touched := []consequence{{poster: p, before: c.wanted(p)}}
		p.replace(c.rnd.IntN(len(p.seats)), seller(c.rnd.IntN(sellers)))
		return console, touched, func(ctx context.Context) error { return c.seat(ctx, p) }
	}
	p := c.posters[c.rnd.IntN(busy)]
	touched := []consequence{{poster: p, before: c.wanted(p)}}
	staff := p.seats[c.rnd.IntN(len(p.seats))].Staff
	p.added[staff]++
	return counting, touched, func(ctx context.Context) error {
		return c.db.Facts().CountAddition(ctx, mongostore.Addition{Ref: push.Ref{Tenant: tenant, Code: p.id}, Staff: staff, Day: c.day})
	}
}

// turn sends somebody off line, or has him come back.
func (c *company) turn(staff string) []consequence {
	var touched []consequence
	for _, p := range c.posters {
		if slices.ContainsFunc(p.seats, func(m roster.Member) bool { return m.Staff == staff }) {
			touched = append(touched, consequence{poster: p, before: c.wanted(p)})
		}
	}
	c.offline[staff] = !c.offline[staff]
	return touched
}

// replace gives a seat to somebody who has none on the poster.
func (p *poster) replace(seat int, staff string) {
	if !slices.ContainsFunc(p.seats, func(m roster.Member) bool { return m.Staff == staff }) {
		p.seats[seat].Staff = staff
	}
}

// seat stores a poster's members and rules.
func (c *company) seat(ctx context.Context, p *poster) error {
	members := append([]roster.Member{{Staff: p.host}}, p.seats...)
	return c.db.Facts().EditCode(ctx, push.Ref{Tenant: tenant, Code: p.id}, mongostore.CodeEdit{
		Members: &members, Switches: &roster.Switches{OfflineCheck: true, DailyLimit: true},
	})
}
