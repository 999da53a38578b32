package redisboard

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/rollcall-dev/rollcall/internal/board"
)

// mostReports bounds what one reading returns; the latest are those.
const mostReports = 1000

// indexKept is how long the index names a process that nobody has heard of
// since. It exceeds any difference between two processes' clocks, by which the
// index is sorted.
const indexKept = 24 * time.Hour

// Options configure a Board. A zero field takes its default.
type Options struct {
	Prefix string           // before every key, without a brace; default "rollcall:"
	Clock  func() time.Time // default time.Now
}

// Board keeps reports and calls. It is safe for concurrent use, starts no
// goroutine and needs no closing.
type Board struct {
	client redis.UniversalClient
	prefix string
	clock  func() time.Time
}

var (
	_ board.Place   = (*Board)(nil)
	_ board.Reports = (*Board)(nil)
	_ board.Uses    = (*Board)(nil)
)

// New returns a Board on client, which stays the caller's to close. It does not
// talk to Redis yet.
func New(client redis.UniversalClient, opts Options) (*Board, error) {
	b := &Board{client: client, prefix: cmp.Or(opts.Prefix, "rollcall:"), clock: opts.Clock}
	if strings.ContainsAny(b.prefix, "{}") {
		return nil, fmt.Errorf("board options: Prefix is %q: must hold no brace", b.prefix)
	}
	if b.clock == nil {
		b.clock = time.Now
	}
	return b, nil
}

// escape keeps a name from ending the hash tag or running into the next.
var escape = strings.NewReplacer("%", "%25", "{", "%7B", "}", "%7D", ":", "%3A")

func (b *Board) index() string             { return b.prefix + "{board}:index" }
func (b *Board) report(name string) string { return b.prefix + "{board}:report:" + name }

func nameOf(r board.Report) string { return string(r.Role) + ":" + escape.Replace(r.Instance) }

// Put writes a report and counts calls, in one round trip.
func (b *Board) Put(ctx context.Context, report board.Report, calls []board.TenantMinute) error {
	text, err := json.Marshal(report)
	if err != nil {
		return fmt.Errorf("put on the board: %w", err)
	}
	name, at := nameOf(report), report.At.UnixMilli()
	_, err = b.client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		pipe.Set(ctx, b.report(name), text, board.ForgottenAfter)
		pipe.ZAdd(ctx, b.index(), redis.Z{Score: float64(at), Member: name})
		pipe.ZRemRangeByScore(ctx, b.index(), "-inf", "("+strconv.FormatInt(at-indexKept.Milliseconds(), 10))
		pipe.Expire(ctx, b.index(), indexKept)
		b.count(ctx, pipe, calls)
		return nil
	})
	if err != nil {
		return fmt.Errorf("put a report and %d tenants' calls on the board: %w", len(calls), err)
	}
	return nil
}

// Remove takes the report of a process away.
func (b *Board) Remove(ctx context.Context, report board.Report) error {
	_, err := b.client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		pipe.Del(ctx, b.report(nameOf(report)))
		pipe.ZRem(ctx, b.index(), nameOf(report))
		return nil
	})
	if err != nil {
		return fmt.Errorf("take a report from the board: %w", err)
	}
	return nil
}

// Reports returns the reports that are not forgotten. At is by this process's
// clock, from how long each report still has in Redis: the clocks of two
// processes may differ by more than the time between two reports.
func (b *Board) Reports(ctx context.Context) ([]board.Report, error) {
	names, err := b.client.ZRevRange(ctx, b.index(), 0, mostReports-1).Result()
	if err != nil {
		return nil, fmt.Errorf("read the board: %w", err)
	}
	texts, left := make([]*redis.StringCmd, len(names)), make([]*redis.DurationCmd, len(names))
	_, err = b.client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for i, name := range names {
			texts[i], left[i] = pipe.Get(ctx, b.report(name)), pipe.PTTL(ctx, b.report(name))
		}
		return nil
	})
	if err != nil && !errors.Is(err, redis.Nil) {
		return nil, fmt.Errorf("read %d reports from the board: %w", len(names), err)
	}
	now := b.clock()
	reports := make([]board.Report, 0, len(names))
	for i := range names {
		// One that has expired meanwhile, or that another version wrote in its own
		// way, must not keep the others from being read.
		var report board.Report
		if text, err := texts[i].Bytes(); err == nil && json.Unmarshal(text, &report) == nil {
			report.At = now.Add(min(left[i].Val(), board.ForgottenAfter) - board.ForgottenAfter)
			reports = append(reports, report)
		}
	}
	return reports, nil
}
