package quota

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rollcall-dev/rollcall/internal/fanout"
	"github.com/rollcall-dev/rollcall/internal/notify"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// maxRounds is how often one event is taken in again because somebody else
// wrote the same contact meanwhile.
const maxRounds = 16

// errContended says that others wrote the contact at every attempt.
var errContended = errors.New("the contact was changed by others at every attempt")

// Ports are what a Counter needs. All but Ledgers are required.
type Ports struct {
	Facts    Facts
	Contacts Contacts
	Counters Counters
	Staff    Staff
	Publish  Publisher
	FanOuts  fanout.Requester
	Notices  Filer
	Observer Observer
	Ledgers  Ledgers // nil: nobody draws
}

// Options of a Counter. All are required.
type Options struct {
	// ForgetAfter is how long the counters remember an addition that is done:
	// longer than any attempt at it may still be under way.
	ForgetAfter time.Duration
	// Overdue is the age from which an addition that is not done counts as
	// left behind.
	Overdue time.Duration
	Now     func() time.Time
}

// Counter takes events in. It is safe for concurrent use and keeps nothing.
type Counter struct {
	Ports
	opts Options
}

// New returns a Counter.
func New(ports Ports, opts Options) *Counter { return &Counter{Ports: ports, opts: opts} }

// Take takes an event in: when it returns nil, all that follows from it is
// durable. An event may be taken in any number of times and in any order with
// others. After an error it may be repeated; what was begun is finished by
// whoever comes next.
func (c *Counter) Take(ctx context.Context, event Event) (Judgement, error) {
	tenant, code, known, err := c.place(ctx, event)
	if err != nil {
		return "", fmt.Errorf("take an event of tenant %s: %w", event.Tenant, err)
	}
	if !known {
		c.Observer.Judged(ctx, NoCode)
		return NoCode, nil
	}
	entry := Entry{Change: event.Change, At: event.At, State: event.State, Code: code.ID}
	contact, judgement, err := c.note(ctx, event.Pair, entry, tenant)
	if err != nil {
		return "", fmt.Errorf("take an event of tenant %s: %w", event.Tenant, err)
	}
	c.Observer.Judged(ctx, judgement)
	if err := c.complete(ctx, event.Pair, contact); err != nil {
		return judgement, fmt.Errorf("count an addition of tenant %s: %w", event.Tenant, err)
	}
	return judgement, nil
}

// place finds the tenant and, for an event that adds, the code. An end of a
// contact carries no state and concerns the pair alone.
func (c *Counter) place(ctx context.Context, event Event) (roster.Tenant, roster.Code, bool, error) {
	tenant, err := c.Facts.Tenant(ctx, event.Tenant)
	if err != nil || !event.Change.adds() {
		return tenant, roster.Code{}, true, err
	}
	if event.State == "" {
		return tenant, roster.Code{}, false, nil
	}
	code, found, err := c.Facts.CodeWith(ctx, event.Tenant, event.State)
	return tenant, code, found, err
}

// note writes the event into its contact, and with it what has to be counted.
func (c *Counter) note(ctx context.Context, pair Pair, entry Entry, tenant roster.Tenant) (Contact, Judgement, error) {
	zone, err := tenant.Location()
	if err != nil {
		return Contact{}, "", err
	}
	for range maxRounds {
		seen, err := c.Contacts.Contact(ctx, pair)
		if err != nil {
			return Contact{}, "", err
		}
		next, judgement := seen.Take(pair, entry, c.opts.Now(), zone)
		if judgement == Repeated {
			return seen, judgement, nil
		}
		stored, err := c.Contacts.Put(ctx, pair, next)
		if err != nil {
			return Contact{}, "", err
		}
		if stored {
			next.Version++
			return next, judgement, nil
		}
	}
	return Contact{}, "", errContended
}

// complete goes through the steps of every addition of a contact that is not
// done, whoever began it.
func (c *Counter) complete(ctx context.Context, pair Pair, contact Contact) error {
	for _, addition := range contact.open() {
		err := c.count(ctx, Counting{pair, addition})
		if err == nil {
			contact, err = c.finish(ctx, pair, contact, addition.ID)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// count counts an addition and makes everything durable that follows from it.
func (c *Counter) count(ctx context.Context, counting Counting) error {
	counts, err := c.Counters.Count(ctx, counting.Pair, counting.Addition)
	if err != nil {
		return err
	}
	ref := push.Ref{Tenant: counting.Tenant, Code: counting.Code}
	if _, err := c.Publish.Refresh(ctx, ref, "addition"); err != nil {
		return err
	}
	return c.ceilings(ctx, counting, counts)
}

func (c *Counter) ceilings(ctx context.Context, counting Counting, counts Counts) error {
	tenant, err := c.Facts.Tenant(ctx, counting.Tenant)
	if errors.Is(err, ErrUnknownTenant) {
		return nil // removed meanwhile: nobody has a ceiling any more
	}
	if err != nil {
		return err
	}
	c.tell(ctx, tenant, counting, counts)
	// A code that was removed meanwhile is the zero Code: the company's ceiling
	// is left.
	code, err := c.Facts.Code(ctx, push.Ref{Tenant: counting.Tenant, Code: counting.Code})
	if err != nil {
		return err
	}
	for _, ceiling := range Ceilings(tenant, code, counting.Staff, counts) {
		c.Observer.Reached(ctx, counting, ceiling)
		if err := c.reached(ctx, counting, ceiling); err != nil {
			return err
		}
	}
	return nil
}

// tellLimit bounds what an addition spends on telling the ledgers.
const tellLimit = 250 * time.Millisecond

// tell tells the draws of what was counted. It failing costs time and no more:
// they learn of it when a rotation set of the member is next written.
func (c *Counter) tell(ctx context.Context, tenant roster.Tenant, counting Counting, counts Counts) {
	zone, err := tenant.Location()
	if c.Ledgers == nil || tenant.DailyTotal == 0 || err != nil {
		return
	}
	day, err := time.ParseInLocation("20060102", string(counting.Day), zone)
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, tellLimit)
	defer cancel()
	_ = c.Ledgers.Tell(ctx, push.Ref{Tenant: counting.Tenant, Code: counting.Code}, roster.Seat{
		Staff: counting.Staff, Counted: counts.Total,
		Company: roster.CompanyDay{Total: tenant.DailyTotal, Counted: counts.Company, Until: day.AddDate(0, 0, 1).Unix()},
	})
}

// reached does what a ceiling asks for: that of the company takes the member off
// every code, in the name of the day's mark. A ceiling of one code is that
// code's refresh, which is published by now.
//
// Whoever finds the mark requests its fan-out, not its winner alone: he may have
// died since, and another attempt at his addition, which saw the counters before
// they were at the ceiling, may have called it done.
func (c *Counter) reached(ctx context.Context, counting Counting, ceiling Ceiling) error {
	if ceiling.Everywhere() {
		winner, err := c.Staff.MarkRemoved(ctx, counting.Tenant, counting.Staff, counting.Day, counting.ID)
		if err != nil || winner == "" {
			return err
		}
		if err := c.fanOut(ctx, counting.Tenant, counting.Staff, reason.RemovedToday, winner); err != nil {
			return err
		}
		if winner == counting.ID {
			c.Observer.Fell(ctx, reason.RemovedToday)
		}
	}
	return c.Notices.File(ctx, ceilingNotice(counting, ceiling))
}

// fanOut requests that all codes of a member are recomputed; by makes it
// idempotent.
func (c *Counter) fanOut(ctx context.Context, tenant, staff string, why reason.Reason, by string) error {
	_, err := c.FanOuts.Request(ctx, fanout.Request{
		Scope: fanout.Scope{Tenant: tenant, Staff: staff},
		Why:   why.String(), At: c.opts.Now(), Key: why.String() + "/" + by,
	})
	return err
}

// ceilingNotice tells of a ceiling once a day, or once ever where the ceiling
// has no day.
func ceilingNotice(counting Counting, ceiling Ceiling) notify.Notice {
	notice := notify.Notice{
		Tenant: counting.Tenant, Kind: notify.Kind(ceiling.Kind), Staff: counting.Staff, Day: counting.Day,
		Count: ceiling.Count, Limit: ceiling.Limit, At: counting.At,
	}
	notice.Key = fmt.Sprintf("%s/%s/%s", ceiling.Kind, counting.Staff, counting.Day)
	switch ceiling.Kind {
	case reason.AtDailyLimit:
		notice.Code = counting.Code
		notice.Key = fmt.Sprintf("%s/%s/%s/%s", ceiling.Kind, counting.Code, counting.Staff, counting.Day)
	case reason.AtAddLimit:
		notice.Code = counting.Code
		notice.Key = fmt.Sprintf("%s/%s/%s/%d", ceiling.Kind, counting.Code, counting.Staff, ceiling.Limit)
	}
	return notice
}

// finish notes in the contact, as it was last seen or as it is by now, that an
// addition is done.
func (c *Counter) finish(ctx context.Context, pair Pair, contact Contact, id string) (Contact, error) {
	for range maxRounds {
		next := contact.finish(id, c.opts.Now())
		stored, err := c.Contacts.Put(ctx, pair, next)
		if err != nil {
			return Contact{}, err
		}
		if stored {
			next.Version++
			return next, nil
		}
		if contact, err = c.Contacts.Contact(ctx, pair); err != nil {
			return Contact{}, err
		}
	}
	return Contact{}, errContended
}
