package contactway

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// Ports are what a Maker works with. All are required.
type Ports struct {
	Vendor    Vendor
	Rows      Rows
	Codes     Codes
	Announcer Announcer
	Observer  Observer
}

// Options of a Maker. Zero values take the default.
type Options struct {
	// Owner names the process in the rows, for a person.
	Owner string
	// SendWithin is how long after its announcement a call may be sent;
	// default 5 s.
	SendWithin time.Duration
	// Margin is how long after the last instant for sending the effect of a
	// call may take to be seen in a listing, with the differences between the
	// clocks of all machines and WeCom; default 30 s.
	Margin time.Duration
	// Step bounds one process's work on a row: after it others may go on;
	// default 60 s.
	Step time.Duration
	// Retry is how long a failed attempt waits; default 2 s to 10 min.
	Retry push.Backoff
	// Refusal is how long WeCom's refusal is believed before it is asked again;
	// default 10 min to a day.
	Refusal push.Backoff
	// Patience is how long a page waits for a member's way that another process
	// makes; default 2 s.
	Patience time.Duration
	// Parallel is how many tenants one sweep works on at a time; default 8.
	Parallel int
	// PerSweep is how many rows of a tenant one sweep takes; default 50.
	PerSweep int
	// Now is the clock; default time.Now.
	Now func() time.Time
	// Logger takes what nobody is told otherwise; nil discards it.
	Logger *slog.Logger
}

func (o Options) withDefaults() Options {
	o.SendWithin = orDefault(o.SendWithin, 5*time.Second)
	o.Margin = orDefault(o.Margin, 30*time.Second)
	o.Step = orDefault(o.Step, time.Minute)
	o.Refusal.Base = orDefault(o.Refusal.Base, 10*time.Minute)
	o.Refusal.Cap = orDefault(o.Refusal.Cap, 24*time.Hour)
	o.Patience = orDefault(o.Patience, 2*time.Second)
	o.Retry.Base = orDefault(o.Retry.Base, 2*time.Second)
	o.Retry.Cap = orDefault(o.Retry.Cap, 10*time.Minute)
	o.Parallel = orDefault(o.Parallel, 8)
	o.PerSweep = orDefault(o.PerSweep, 50)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

func orDefault[T comparable](value, fallback T) T {
	var zero T
	if value == zero {
		return fallback
	}
	return value
}

// Maker gives codes and their members contact ways. It is safe for concurrent
// use, by several processes too.
type Maker struct {
	Ports
	opts    Options
	flights flights
	remarks remarks
}

// NewMaker returns a Maker.
func NewMaker(ports Ports, opts Options) *Maker {
	return &Maker{Ports: ports, opts: opts.withDefaults()}
}

// Create makes the contact way of a code whose facts are stored, unless it has
// one, and returns it. qrCode is "" when the code's contact way was given to it
// by somebody else. The error is ErrPending (it will be made by Sweep), a
// *RefusedError (ask again when it is put right), one of push.Store's about
// the facts, or says that the store could not be asked.
func (m *Maker) Create(ctx context.Context, ref push.Ref) (configID, qrCode string, err error) {
	held, err := m.Codes.Held(ctx, ref)
	if err != nil {
		return "", "", fmt.Errorf("create the contact way of code %s: %w", ref.Code, err)
	}
	if held.ConfigID != "" {
		return held.ConfigID, held.QRCode, nil
	}
	held, err = m.obtain(ctx, Key{Ref: ref}, asked)
	if errors.Is(err, errUnwanted) {
		held, err = m.has(ctx, ref)
	}
	if err != nil {
		return "", "", fmt.Errorf("create the contact way of code %s: %w", ref.Code, err)
	}
	return held.ConfigID, held.QRCode, nil
}

// has returns the contact way that a code was given meanwhile; a code that is
// deleted and has none counts as unknown.
func (m *Maker) has(ctx context.Context, ref push.Ref) (Held, error) {
	held, err := m.Codes.Held(ctx, ref)
	if err == nil && held.ConfigID == "" {
		err = push.ErrUnknownCode
	}
	return held, err
}

// MemberWay returns the address of the QR code with which a customer adds one
// staff member through a code, and makes its contact way when there is none.
// The errors are those of Create; WeCom's refusal is remembered for
// Options.Refusal.
func (m *Maker) MemberWay(ctx context.Context, ref push.Ref, staff string) (qrURL string, err error) {
	facts, err := m.Codes.Facts(ctx, ref)
	if err != nil {
		return "", fmt.Errorf("the contact way of %s on code %s: %w", staff, ref.Code, err)
	}
	code := facts.Code
	key := memberKey(ref, staff, code.State, code.SkipVerify)
	held, err := m.flights.do(ctx, key, m.opts.Step, func(ctx context.Context) (Held, error) {
		held, err := m.obtain(ctx, key, shown)
		if errors.Is(err, ErrPending) {
			return m.await(ctx, key)
		}
		return held, err
	})
	if errors.Is(err, errUnwanted) {
		err = push.ErrUnknownCode // a code that is deleted has no landing page
	}
	if err != nil {
		return "", fmt.Errorf("the contact way of %s on code %s: %w", staff, ref.Code, err)
	}
	return held.QRCode, nil
}

// await looks for a while whether another process finishes a member's way.
func (m *Maker) await(ctx context.Context, key Key) (Held, error) {
	ctx, cancel := context.WithTimeout(ctx, m.opts.Patience)
	defer cancel()
	tick := time.NewTicker(m.opts.Patience / 20)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return Held{}, ErrPending
		case <-tick.C:
		}
		row, found, err := m.Rows.Get(ctx, key)
		if err == nil && found && row.Phase == Done {
			return Held{ConfigID: row.ConfigID, QRCode: row.QRCode}, nil
		}
	}
}

// occasion is why a row is worked on.
type occasion int

const (
	asked occasion = iota // somebody put something right and asks again
	shown                 // a customer waits for it
	swept                 // it is due
)

// obtain brings a contact way as far as it goes now.
func (m *Maker) obtain(ctx context.Context, key Key, why occasion) (Held, error) {
	row, found, err := m.Rows.Get(ctx, key)
	if err != nil {
		return Held{}, err
	}
	if !found {
		return m.begin(ctx, key)
	}
	waits := row.Phase != Done && m.opts.Now().Before(row.NotBefore)
	if again := row.Phase == Refused && why == asked; waits && !again {
		return Held{}, pending(row)
	}
	return m.resume(ctx, row)
}

// pending is what is said of a row whose time has not come.
func pending(row Row) error {
	if row.Phase == Refused {
		return &RefusedError{Why: row.Why, Detail: row.Detail}
	}
	return ErrPending
}

// begin writes the first row of a contact way and makes the call.
func (m *Maker) begin(ctx context.Context, key Key) (Held, error) {
	order, err := m.order(ctx, key)
	if err != nil {
		return Held{}, err
	}
	row := Row{Key: key, Marker: newMarker(), Owner: m.opts.Owner}
	m.announce(&row)
	inserted, err := m.Rows.Insert(ctx, row)
	if err != nil {
		return Held{}, err
	}
	if !inserted {
		return Held{}, ErrPending // another one has just begun it
	}
	row.Version = 1
	return m.add(ctx, row, order)
}

// resume takes over a row whose time has come.
func (m *Maker) resume(ctx context.Context, row Row) (Held, error) {
	switch row.Phase {
	case Wanted, Refused:
		return m.addAgain(ctx, row)
	case Adding:
		return m.search(ctx, row)
	case Made:
		if err := m.claim(ctx, &row); err != nil {
			return Held{}, err
		}
		return m.finish(ctx, row)
	case Done:
		return Held{ConfigID: row.ConfigID, QRCode: row.QRCode}, nil
	}
	return Held{}, fmt.Errorf("the row of %s is in phase %q, which this build does not know", row.Code, row.Phase)
}

// claim keeps others off a row for a step.
func (m *Maker) claim(ctx context.Context, row *Row) error {
	row.Owner, row.NotBefore = m.opts.Owner, m.opts.Now().Add(m.opts.Step)
	return m.replace(ctx, row)
}

// errLost says that another process has taken the row over.
var errLost = fmt.Errorf("another process works on it: %w", ErrPending)

// replace stores a row that is still the one that was read.
func (m *Maker) replace(ctx context.Context, row *Row) error {
	replaced, err := m.Rows.Replace(ctx, *row)
	if err != nil {
		return err
	}
	if !replaced {
		return errLost
	}
	row.Version++
	return nil
}

// order is what WeCom is asked for, from the facts as they are now.
func (m *Maker) order(ctx context.Context, key Key) (Order, error) {
	facts, err := m.Codes.Facts(ctx, key.Ref)
	if err != nil {
		return Order{}, err
	}
	if facts.Code.Deleted || (!key.OfMember() && facts.Code.ConfigID != "") {
		return Order{}, errUnwanted
	}
	order := Order{Kind: Multi, State: facts.Code.State, SkipVerify: facts.Code.SkipVerify}
	if key.OfMember() {
		order.Kind, order.Users = Single, []string{key.Staff}
		return order, nil
	}
	if order.Users = firstList(facts, m.opts.Now()); len(order.Users) == 0 {
		return Order{}, refused(reason.NobodyLeft, "the code has no member whom WeCom could list")
	}
	return order, nil
}

// errUnwanted says that the code has a contact way by now, or is deleted.
var errUnwanted = errors.New("the code needs no contact way")

// unwanted reports whether nobody wants the contact way any more.
func unwanted(err error) bool {
	return errors.Is(err, errUnwanted) || errors.Is(err, push.ErrUnknownCode) || errors.Is(err, push.ErrUnknownTenant) || errors.Is(err, push.ErrWrongTenant)
}

// firstList is whom a code lists at first: whom the facts ask for; else, as
// WeCom takes no empty list and the code is not printed yet, whoever is able to
// serve at another time.
func firstList(facts roster.Facts, now time.Time) []string {
	verdict, err := roster.Decide(facts, roster.Last{}, roster.LaneRules{}, now)
	if err == nil && len(verdict.Members) > 0 {
		return verdict.Members
	}
	var users []string
	for _, member := range facts.Code.Members {
		staff, known := facts.Staff[member.Staff]
		if known && !staff.Resigned && !staff.Off.Active(now) && !now.Before(staff.QuarantinedUntil) && len(users) < roster.MaxListed {
			users = append(users, member.Staff)
		}
	}
	return users
}
