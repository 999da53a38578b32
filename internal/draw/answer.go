package draw

import (
	"errors"

	"github.com/rollcall-dev/rollcall/internal/push"
)

// Errors of the rotation sets.
var (
	// ErrNoSet says that the code has no rotation set: it was never written, or
	// is lost, or the code has none.
	ErrNoSet = errors.New("no rotation set")
	// ErrExhausted says that the set has nobody with headroom. The next
	// refresh may change that.
	ErrExhausted = errors.New("nobody in the rotation set has headroom")
)

// Errors of Desk.Draw, beside ErrExhausted.
var (
	// ErrUnknown says that there is no such code, or none that the caller may
	// know of.
	ErrUnknown = errors.New("no such code")
	// ErrNative says that WeCom itself picks the member of this code.
	ErrNative = errors.New("the code is not drawn: WeCom picks among its members")
	// ErrDeleted says that the code is gone.
	ErrDeleted = errors.New("the code is deleted")
	// ErrInvalid says that the facts of the code contradict themselves, so that
	// no set can be made.
	ErrInvalid = errors.New("the facts of the code contradict themselves")
	// ErrUnavailable says that Redis or MongoDB could not be asked. Nobody was
	// drawn, as far as is known.
	ErrUnavailable = errors.New("the draw cannot be made now")
)

// Surface is where a draw was asked for.
type Surface string

// The surfaces.
const (
	API  Surface = "api"  // another landing page, with a token
	Page Surface = "page" // our own
)

// Ending is what became of a request to draw. The set is closed.
type Ending string

// The endings.
const (
	Drawn       Ending = "drawn"
	Repeated    Ending = "repeated"    // an answer given before
	NobodyFree  Ending = "nobody_free" // ErrExhausted
	Unknown     Ending = "unknown_code"
	Native      Ending = "native"
	Deleted     Ending = "deleted"
	Invalid     Ending = "invalid_facts"
	Unavailable Ending = "unavailable"
	Abandoned   Ending = "abandoned" // the caller did not wait
	// The following end before a draw is tried.
	Refused Ending = "refused"  // no token, or not for this
	Limited Ending = "limited"  // too many requests from one address
	NoVisit Ending = "no_visit" // not a person: a prefetch, a preview, a robot
	// The following is told beside Drawn or Repeated.
	NoWay Ending = "no_way" // the QR code of who was drawn cannot be had
)

// EndingOf names what became of a draw.
func EndingOf(turn Turn, err error) Ending {
	switch {
	case err == nil && turn.Repeated:
		return Repeated
	case err == nil:
		return Drawn
	case errors.Is(err, ErrExhausted):
		return NobodyFree
	case errors.Is(err, ErrUnknown):
		return Unknown
	case errors.Is(err, ErrNative):
		return Native
	case errors.Is(err, ErrDeleted):
		return Deleted
	case errors.Is(err, ErrInvalid):
		return Invalid
	}
	return Unavailable
}

// lasting reports whether an error says something of the code itself, which
// stays so for a while.
func lasting(err error) bool {
	switch EndingOf(Turn{}, err) {
	case Unknown, Native, Deleted, Invalid:
		return true
	default:
		return false
	}
}

// unreadable tells what the facts say from a store that cannot be asked.
func unreadable(err error) error {
	switch {
	case errors.Is(err, push.ErrUnknownCode), errors.Is(err, push.ErrWrongTenant):
		return errors.Join(ErrUnknown, err)
	case errors.Is(err, push.ErrInvalidFacts), errors.Is(err, push.ErrUnknownTenant):
		return errors.Join(ErrInvalid, err)
	}
	return errors.Join(ErrUnavailable, err)
}
