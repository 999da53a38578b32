package draw

import (
	"context"
	"fmt"
	"time"

	"github.com/rollcall-dev/rollcall/internal/ident"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/recent"
)

const (
	// directorySize is how many codes are remembered: about 12 MiB.
	directorySize = 50_000
	// refusedFor is how long a code that is not there, or cannot be drawn,
	// stays so without a look at the facts.
	refusedFor = 5 * time.Second
	// lookupLimit bounds one look at the facts.
	lookupLimit = 5 * time.Second
)

// directory knows whose the codes are, and which of them were found not to be
// drawn a moment ago. A tenant is kept for as long as there is room, since it
// never changes, so draws go on while MongoDB is away.
type directory struct {
	codes   Codes
	now     func() time.Time
	known   *recent.Map[string, listing]
	lookups flights[string, listing]
}

// listing is what is known of a code.
type listing struct {
	tenant  string
	refusal error // lasting; until then
	until   time.Time
}

func newDirectory(codes Codes, now func() time.Time) *directory {
	return &directory{codes: codes, now: now, known: recent.NewMap[string, listing](directorySize)}
}

// find returns a code's ref, whether or not the code can be drawn; refusal is
// why it cannot, as far as is remembered. The error is, or wraps, ErrUnknown or
// ErrUnavailable.
func (d *directory) find(ctx context.Context, code string) (ref push.Ref, refusal, err error) {
	if !ident.Code(code) {
		return push.Ref{}, nil, ErrUnknown
	}
	entry, ok := d.known.Get(code)
	if !ok || entry.tenant == "" && !d.now().Before(entry.until) {
		entry, err = d.lookups.do(ctx, code, lookupLimit, func(ctx context.Context) (listing, error) {
			return d.lookup(ctx, code)
		})
	}
	switch {
	case err != nil:
		return push.Ref{}, nil, fmt.Errorf("find code %s: %w", code, unreadable(err))
	case entry.tenant == "":
		return push.Ref{}, nil, ErrUnknown
	case d.now().Before(entry.until):
		refusal = entry.refusal
	}
	return push.Ref{Tenant: entry.tenant, Code: code}, refusal, nil
}

// lookup asks MongoDB, and remembers a code that is not there too.
func (d *directory) lookup(ctx context.Context, code string) (listing, error) {
	tenant, err := d.codes.TenantOf(ctx, code)
	entry := listing{tenant: tenant}
	if err != nil {
		if !lasting(unreadable(err)) {
			return listing{}, err
		}
		entry = listing{refusal: ErrUnknown, until: d.now().Add(refusedFor)}
	}
	d.known.Put(code, entry)
	return entry, nil
}

// refuse remembers for a moment that a code cannot be drawn.
func (d *directory) refuse(ref push.Ref, why error) {
	entry := listing{tenant: ref.Tenant, refusal: why, until: d.now().Add(refusedFor)}
	d.known.Put(ref.Code, entry)
}
