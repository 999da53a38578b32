package draw

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/rollcall-dev/rollcall/internal/access"
	"github.com/rollcall-dev/rollcall/internal/push"
)

// The producer's words for why a code is to be recomputed.
const (
	whyRebuilt   = "rotation_set_rebuilt"
	whyExhausted = "rotation_set_exhausted"
)

const (
	// refreshEvery is how often an exhausted code is given to the refreshers,
	// by each process.
	refreshEvery = time.Second
	// failureEvery is how often one kind of failure is logged.
	failureEvery = time.Second
	// failureEndings is how many kinds there are: Invalid and Unavailable.
	failureEndings = 2
	// pacedCodes is how many exhausted codes are told apart.
	pacedCodes = 10_000
)

// Ports are what a Desk needs from the world. All are required.
type Ports struct {
	Sets      Sets
	Trail     Trail
	Codes     Codes
	Facts     Facts
	Refresher Refresher
	Observer  Observer
}

// Options of a Desk. All are required.
type Options struct {
	Now    func() time.Time
	Logger *slog.Logger
}

// Request is a customer who is to be given a member.
type Request struct {
	Code string
	// Grant is what the caller may do; nil is a customer at our own page, who
	// may draw from every code.
	Grant *access.Grant
	// Key makes the request repeatable; "" does not. Keys of different callers
	// must not be the same.
	Key     string
	Surface Surface
	// From is the network that asked, shortened, for the log.
	From string
}

// Desk answers draws. It is safe for concurrent use.
type Desk struct {
	ports     Ports
	opts      Options
	directory *directory
	rebuilder *rebuilder
	rebuilds  flights[push.Ref, struct{}]
	refreshed *pacer[push.Ref]
	failures  *pacer[Ending]
}

// NewDesk returns a Desk.
func NewDesk(ports Ports, opts Options) *Desk {
	return &Desk{
		ports:     ports,
		opts:      opts,
		directory: newDirectory(ports.Codes, opts.Now),
		rebuilder: &rebuilder{sets: ports.Sets, facts: ports.Facts, now: opts.Now},
		refreshed: newPacer[push.Ref](refreshEvery, pacedCodes),
		failures:  newPacer[Ending](failureEvery, failureEndings),
	}
}

// Answer is what a draw gave.
type Answer struct {
	push.Ref
	Turn
}

// Draw gives the next member of a code. It asks the rotation set alone, once,
// unless the code is asked for the first time in this process or its set is
// missing. The error is, or wraps, ErrUnknown (also for a code that the grant
// does not reach), ErrNative, ErrDeleted, ErrInvalid, ErrExhausted or
// ErrUnavailable.
func (d *Desk) Draw(ctx context.Context, r Request) (Answer, error) {
	begun := d.opts.Now()
	ref, turn, err := d.draw(ctx, r)
	ending := EndingOf(turn, err)
	if ending == Unavailable && errors.Is(ctx.Err(), context.Canceled) {
		ending = Abandoned
	}
	d.ports.Observer.Ended(ctx, r.Surface, ending, d.opts.Now().Sub(begun))
	d.log(ctx, r, ref, turn, ending, err)
	if err != nil {
		return Answer{}, err
	}
	return Answer{Ref: ref, Turn: turn}, nil
}

func (d *Desk) draw(ctx context.Context, r Request) (push.Ref, Turn, error) {
	ref, refusal, err := d.find(ctx, r.Code, r.Grant)
	if err == nil {
		err = refusal
	}
	if err != nil {
		return ref, Turn{}, err
	}
	turn, err := d.ports.Sets.Draw(ctx, ref, r.Key)
	if errors.Is(err, ErrNoSet) {
		if err := d.rebuild(ctx, ref); err != nil {
			return ref, Turn{}, err
		}
		turn, err = d.ports.Sets.Draw(ctx, ref, r.Key)
	}
	switch {
	case err == nil:
		return ref, turn, nil
	case errors.Is(err, ErrExhausted):
		d.refresh(ctx, ref, whyExhausted)
		return ref, Turn{}, err
	}
	return ref, Turn{}, fmt.Errorf("%w: %w", ErrUnavailable, err)
}

// find returns a code that the grant reaches.
func (d *Desk) find(ctx context.Context, code string, grant *access.Grant) (ref push.Ref, refusal, err error) {
	ref, refusal, err = d.directory.find(ctx, code)
	if err == nil && grant != nil && !grant.Reaches(ref.Tenant) {
		return push.Ref{}, nil, ErrUnknown
	}
	return ref, refusal, err
}

// rebuild makes the missing set, once for all who miss it, and has the code
// recomputed: whoever lost the set may have lost more.
func (d *Desk) rebuild(ctx context.Context, ref push.Ref) error {
	_, err := d.rebuilds.do(ctx, ref, rebuildLimit, func(ctx context.Context) (struct{}, error) {
		err := d.rebuilder.rebuild(ctx, ref)
		d.ports.Observer.Rebuilt(ctx, err == nil)
		if err != nil && lasting(err) {
			d.directory.refuse(ref, err)
		}
		return struct{}{}, err
	})
	if err != nil {
		return fmt.Errorf("make the rotation set of code %s: %w", ref.Code, err)
	}
	d.refresh(ctx, ref, whyRebuilt) // by the first of them; the others do not wait for the broker
	return nil
}

// refresh has a code recomputed, at most once per refreshEvery. It failing
// costs time and no more: the next draw that finds nobody tries again, and
// whatever changes the facts publishes too.
func (d *Desk) refresh(ctx context.Context, ref push.Ref, why string) {
	if !d.refreshed.due(ref, d.opts.Now()) {
		return
	}
	// Nobody else tries for a while, so a customer who hangs up must not end it.
	if _, err := d.ports.Refresher.Refresh(context.WithoutCancel(ctx), ref, why); err != nil {
		d.opts.Logger.WarnContext(ctx, "a code that wants recomputing could not be given to the refreshers",
			"tenant", ref.Tenant, "code", ref.Code, "why", why, "error", err)
	}
}

// Last returns the last draws of a code, the newest first. The error is, or
// wraps, ErrUnknown or ErrUnavailable.
func (d *Desk) Last(ctx context.Context, code string, grant access.Grant) ([]Past, error) {
	ref, _, err := d.find(ctx, code, &grant)
	if err != nil {
		return nil, err
	}
	trail, err := d.ports.Trail.Trail(ctx, ref)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return trail, nil
}

// log writes down who was drawn, and what is an operator's to see.
func (d *Desk) log(ctx context.Context, r Request, ref push.Ref, turn Turn, ending Ending, err error) {
	switch ending {
	case Drawn, Repeated:
		d.opts.Logger.LogAttrs(ctx, slog.LevelInfo, "drawn",
			slog.String("tenant", ref.Tenant), slog.String("code", ref.Code), slog.String("staff", turn.Staff),
			slog.Int64("round", turn.Round), slog.Int64("lap", turn.Lap), slog.Int("position", turn.Position),
			slog.Bool("repeated", turn.Repeated), slog.String("surface", string(r.Surface)), slog.String("from", r.From))
	case NobodyFree:
		d.opts.Logger.LogAttrs(ctx, slog.LevelInfo, "nobody to draw",
			slog.String("tenant", ref.Tenant), slog.String("code", ref.Code),
			slog.String("surface", string(r.Surface)), slog.String("from", r.From))
	case Invalid, Unavailable:
		if !d.failures.due(ending, d.opts.Now()) {
			return
		}
		d.opts.Logger.LogAttrs(ctx, slog.LevelWarn, "draw failed",
			slog.String("tenant", ref.Tenant), slog.String("code", ref.Code), slog.String("ending", string(ending)),
			slog.String("surface", string(r.Surface)), slog.String("from", r.From), slog.Any("error", err))
	default: // what strangers ask for in vain is counted, not logged
	}
}
