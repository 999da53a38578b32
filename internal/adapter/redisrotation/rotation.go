package redisrotation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// MaxSeats is the most members a set can have.
const MaxSeats = 1 << 16

// Options configure a Rotation. A zero field takes its default.
type Options struct {
	// Prefix goes before every key and holds no brace. Default "rollcall:".
	Prefix string
	// DrawGrace is how long a draw may wait for its addition to be counted.
	// Default 60 s.
	DrawGrace time.Duration
	// RepeatWithin is how long a draw's key gets the same answer, 1 ms or more.
	// Default 60 s.
	RepeatWithin time.Duration
	// Trail is how many of its last draws each code remembers. Default 50;
	// negative: none.
	Trail int
	// Clock replaces Redis's clock. For tests.
	Clock func() time.Time
}

// Rotation implements push.Rotation, draw.Sets and draw.Trail. It is safe for concurrent
// use.
type Rotation struct {
	client redis.Cmdable
	prefix string
	grace  time.Duration
	repeat time.Duration
	trail  int
	clock  func() time.Time
}

var _ push.Rotation = (*Rotation)(nil)

// New returns a Rotation on client, which stays the caller's to close.
func New(client redis.Cmdable, opts Options) (*Rotation, error) {
	r := &Rotation{
		client: client, clock: opts.Clock,
		prefix: cmp.Or(opts.Prefix, "rollcall:"),
		grace:  cmp.Or(opts.DrawGrace, time.Minute),
		repeat: cmp.Or(opts.RepeatWithin, time.Minute),
		trail:  max(cmp.Or(opts.Trail, 50), 0),
	}
	if strings.ContainsAny(r.prefix, "{}") {
		return nil, fmt.Errorf("rotation options: Prefix is %q: must hold no brace", r.prefix)
	}
	if r.grace < 0 {
		return nil, fmt.Errorf("rotation options: DrawGrace is %v: must not be negative", r.grace)
	}
	if r.repeat < time.Millisecond {
		return nil, fmt.Errorf("rotation options: RepeatWithin is %v: must be 1ms or more", r.repeat)
	}
	return r, nil
}

// Version returns the set's version, 0 when there is no set.
func (r *Rotation) Version(ctx context.Context, ref push.Ref) (int64, error) {
	v, err := r.client.HGet(ctx, r.keysOf(ref).meta, "version").Int64()
	switch {
	case errors.Is(err, redis.Nil):
		return 0, nil
	case err != nil:
		return 0, fmt.Errorf("read the rotation set's version of code %s: %w", ref.Code, err)
	}
	return v, nil
}

// Replace writes the set if its version is seen (0: there is none), and returns
// the new version. It reports false, with the version that is, otherwise. A set
// without seats is kept as such: a draw then finds everyone exhausted. After an
// error the set may have been written.
func (r *Rotation) Replace(ctx context.Context, ref push.Ref, seen int64, set push.Set) (int64, bool, error) {
	if err := validate(set.Seats); err != nil {
		return 0, false, fmt.Errorf("replace the rotation set of code %s: %w", ref.Code, err)
	}
	args := make([]any, 0, 4+4*len(set.Seats))
	args = append(args, r.now(), seen, set.Round, r.grace.Microseconds())
	for _, s := range set.Seats {
		args = append(args, s.Staff, s.Headroom, s.Counted, companyText(s.Company))
	}
	res, err := replaceScript.Run(ctx, r.client, r.keysOf(ref).set(), args...).Int64Slice()
	if err == nil {
		err = r.tellLedgers(ctx, ref, set.Seats, res)
	}
	if err != nil {
		return 0, false, fmt.Errorf("replace the rotation set of code %s: %w", ref.Code, err)
	}
	return res[1], res[0] == 1, nil
}

func validate(seats []roster.Seat) error {
	if len(seats) > MaxSeats {
		return fmt.Errorf("%d seats, at most %d", len(seats), MaxSeats)
	}
	had := make(map[string]struct{}, len(seats))
	for _, s := range seats {
		if _, twice := had[s.Staff]; twice || s.Staff == "" {
			return fmt.Errorf("staff %q listed twice, or without a name", s.Staff)
		}
		had[s.Staff] = struct{}{}
	}
	return nil
}

// Delete removes the set with all that is known of its members.
func (r *Rotation) Delete(ctx context.Context, ref push.Ref) error {
	if err := r.client.Del(ctx, r.keysOf(ref).all()...).Err(); err != nil {
		return fmt.Errorf("delete the rotation set of code %s: %w", ref.Code, err)
	}
	return nil
}

// now is the scripts' first argument: 0 lets them read Redis's clock.
func (r *Rotation) now() int64 {
	if r.clock == nil {
		return 0
	}
	return r.clock().UnixMicro()
}

// keys are the keys of a code, on one slot of Redis Cluster.
type keys struct{ base, meta, due, members, trail, aside string }

func (k keys) set() []string { return []string{k.meta, k.due, k.members, k.aside} }
func (k keys) all() []string { return []string{k.meta, k.due, k.members, k.trail, k.aside} }

// escape keeps a name from ending the hash tag or running into the next.
var escape = strings.NewReplacer("%", "%25", "{", "%7B", "}", "%7D", ":", "%3A")

func (r *Rotation) keysOf(ref push.Ref) keys {
	base := r.prefix + "{c:" + escape.Replace(ref.Tenant) + ":" + escape.Replace(ref.Code) + "}:rotation:"
	return keys{
		base: base, meta: base + "meta", due: base + "due", members: base + "members", trail: base + "trail", aside: base + "aside",
	}
}
