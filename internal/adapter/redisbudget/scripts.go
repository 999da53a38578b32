package redisbudget

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

var (
	//go:embed lua/admit.lua
	admitSource string
	//go:embed lua/release.lua
	releaseSource string
	//go:embed lua/giveback.lua
	giveBackSource string
	//go:embed lua/block.lua
	blockSource string

	admitScript    = redis.NewScript(admitSource)
	releaseScript  = redis.NewScript(releaseSource)
	giveBackScript = redis.NewScript(giveBackSource)
	blockScript    = redis.NewScript(blockSource)
)

// Outcomes of the admit script.
const (
	outcomeGranted = 1
	outcomeBooked  = 2
	outcomeBeyond  = 3
)

// Buckets of a pair, as the admit script names them.
const (
	laneCommon  = 0
	laneReserve = 1
)

// giveBackWaited is the give-back script's word for a code that waited for the
// address.
const giveBackWaited = 2

var errReply = errors.New("unexpected reply of a script")

// levels are the instants of a pair in microseconds of Redis's clock. None of
// them ever moves backwards.
type levels struct {
	common, reserve int64 // the theoretical arrival time of the next call
	blocked         int64 // the end of the last block
}

func (l levels) latest(other levels) levels {
	return levels{
		common:  max(l.common, other.common),
		reserve: max(l.reserve, other.reserve),
		blocked: max(l.blocked, other.blocked),
	}
}

// reply is the answer of the admit script. Instants are microseconds of
// Redis's clock; asked and answered are this process's instants around the
// call.
type reply struct {
	asked, answered time.Time
	outcome         int
	slot, now       int64
	lane            int
	level           int // thousandths of the pair's calls that were left
	levels          levels
	waited          bool // the code came back from a wait for the address
}

func (r reply) granted() bool { return r.outcome == outcomeGranted }
func (r reply) blocked() bool { return r.levels.blocked > r.now }

// earliest is the slot in this process's clock, or somewhat before: Redis read
// its clock after asked.
func (r reply) earliest() time.Time { return r.asked.Add(r.ahead()) }

// latest is the slot in this process's clock, or somewhat after.
func (r reply) latest() time.Time { return r.answered.Add(r.ahead()) }

func (r reply) ahead() time.Duration { return time.Duration(r.slot-r.now) * time.Microsecond }

func parseReply(values []int64) (reply, error) {
	if len(values) != 9 {
		return reply{}, fmt.Errorf("%w: %d values", errReply, len(values))
	}
	return reply{
		outcome: int(values[0]),
		slot:    values[1],
		now:     values[2],
		lane:    int(values[3]),
		level:   int(values[4]),
		levels:  levels{common: values[5], reserve: values[6], blocked: values[7]},
		waited:  values[8] == 1,
	}, nil
}

// scripts runs the scripts, each bounded by timeout.
type scripts struct {
	client  redis.Scripter
	timeout time.Duration
	clock   func() time.Time // this process's
	pinned  bool             // the scripts use clock instead of Redis's
	usable  time.Duration    // from its instant on, how long a slot can be used
	horizon time.Duration
}

// nowArg is the scripts' first argument.
func (s scripts) nowArg() int64 {
	if !s.pinned {
		return 0
	}
	return s.clock().UnixMicro()
}

func (s scripts) run(ctx context.Context, script *redis.Script, keys []string, args ...any) *redis.Cmd {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	return script.Run(ctx, s.client, keys, args...)
}

// question is one ask of one pair.
type question struct {
	keys     keyring
	pair     pair
	id       string // of the code, under this pair
	reserved bool   // the reserve is for this ask
	known    levels
}

func (s scripts) admit(ctx context.Context, q question) (reply, error) {
	reserved := 0
	if q.reserved {
		reserved = 1
	}
	asked := s.clock()
	values, err := s.run(ctx, admitScript,
		[]string{q.keys.pair(), q.keys.slot(q.id), q.keys.freedCommon(), q.keys.freedReserve()},
		s.nowArg(), reserved, s.usable.Microseconds(), s.horizon.Microseconds(),
		q.pair.common.every, q.pair.common.depth(), q.pair.reserve.every, q.pair.reserve.depth(),
		q.known.common, q.known.reserve, q.known.blocked,
	).Int64Slice()
	if err != nil {
		return reply{}, err
	}
	r, err := parseReply(values)
	r.asked, r.answered = asked, s.clock()
	return r, err
}

// release frees the slot by which r granted; until is the address's instant for
// the code, 0 when it has none.
func (s scripts) release(ctx context.Context, q question, r reply, until int64) error {
	const spare = 10_000 // ms
	keep := max(0, until-r.now)/1000 + s.usable.Milliseconds() + spare
	return s.run(ctx, releaseScript, []string{q.keys.slot(q.id), q.keys.freed(r.lane)},
		r.slot, s.usable.Milliseconds()+spare, until, keep, r.now-s.usable.Microseconds()).Err()
}

// giveBack frees the slot of a code, and reports whether the code waited for
// the address.
func (s scripts) giveBack(ctx context.Context, keys keyring, id string) (bool, error) {
	n, err := s.run(ctx, giveBackScript, []string{keys.slot(id), keys.freedCommon(), keys.freedReserve()},
		s.nowArg(), s.usable.Microseconds()).Int()
	return n == giveBackWaited, err
}

// blockSpans are the durations of a block.
type blockSpans struct{ first, again, within time.Duration }

// block returns the pair's levels after the block, and Redis's instant.
func (s scripts) block(ctx context.Context, q question, spans blockSpans) (levels, int64, error) {
	values, err := s.run(ctx, blockScript, []string{q.keys.pair()}, s.nowArg(),
		spans.first.Microseconds(), spans.again.Microseconds(), spans.within.Microseconds(),
		q.pair.common.every, q.pair.common.depth(), q.pair.reserve.every, q.pair.reserve.depth(),
		q.known.common, q.known.reserve, q.known.blocked,
	).Int64Slice()
	if err != nil {
		return levels{}, 0, err
	}
	if len(values) != 4 {
		return levels{}, 0, fmt.Errorf("%w: %d values", errReply, len(values))
	}
	return levels{common: values[1], reserve: values[2], blocked: values[3]}, values[0], nil
}
