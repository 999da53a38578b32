package redisboard

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/rollcall-dev/rollcall/internal/board"
)

// How long calls are kept, and over how many minutes a tenant is hot.
const (
	Kept     = 24 * time.Hour
	callsTTL = Kept + time.Hour // the hour that a day begins in is kept whole
	hotFor   = 5                // minutes
	hotTTL   = 10 * time.Minute
)

func (b *Board) hot(minute time.Time) string {
	return b.prefix + "{board}:hot:" + strconv.FormatInt(minute.Unix()/60, 10)
}

func (b *Board) calls(tenant string, hour time.Time) string {
	return b.prefix + "{t:" + escape.Replace(tenant) + "}:calls:" + strconv.FormatInt(hour.Unix()/3600, 10)
}

// count adds calls to their tenants' hours.
func (b *Board) count(ctx context.Context, pipe redis.Pipeliner, calls []board.TenantMinute) {
	minutes := map[string]bool{}
	for _, c := range calls {
		key, field := b.calls(c.Tenant, c.At), strconv.Itoa(c.At.UTC().Minute())
		for suffix, n := range map[string]int{"g": c.Granted, "r": c.Refused} {
			if n > 0 {
				pipe.HIncrBy(ctx, key, field+suffix, int64(n))
			}
		}
		pipe.Expire(ctx, key, callsTTL)
		hot := b.hot(c.At)
		pipe.ZIncrBy(ctx, hot, float64(c.Granted+c.Refused), c.Tenant)
		minutes[hot] = true
	}
	for hot := range minutes {
		pipe.Expire(ctx, hot, hotTTL)
	}
}

// Use returns the minutes since an instant, at most [Kept] ago, in which a tenant
// asked for calls, the oldest first, in one round trip.
func (b *Board) Use(ctx context.Context, tenant string, since time.Time) ([]board.Minute, error) {
	now := b.clock()
	if oldest := now.Add(-Kept); since.Before(oldest) {
		since = oldest
	}
	uses, err := b.uses(ctx, []string{tenant}, since, now)
	if err != nil {
		return nil, fmt.Errorf("read the calls of tenant %s: %w", tenant, err)
	}
	return uses[0], nil
}

// Hottest returns what the tenants with most asks of the last minutes use of
// their budget, n at most, and those that are named. It takes two round trips.
func (b *Board) Hottest(ctx context.Context, now time.Time, n int, named []string) ([]board.TenantUse, error) {
	tenants, err := b.hottest(ctx, now, n)
	if err != nil {
		return nil, err
	}
	for _, tenant := range named {
		if !slices.Contains(tenants, tenant) {
			tenants = append(tenants, tenant)
		}
	}
	if len(tenants) == 0 {
		return nil, nil
	}
	minutes, err := b.uses(ctx, tenants, now.Add(-59*time.Minute), now)
	if err != nil {
		return nil, fmt.Errorf("read the calls of %d tenants: %w", len(tenants), err)
	}
	uses := make([]board.TenantUse, len(tenants))
	for i, tenant := range tenants {
		uses[i] = useOf(tenant, minutes[i], now)
	}
	return uses, nil
}

// useOf adds up an hour.
func useOf(tenant string, minutes []board.Minute, now time.Time) board.TenantUse {
	use := board.TenantUse{Tenant: tenant}
	for _, m := range minutes {
		use.Hour += m.Granted
		use.Refused += m.Refused
		if now.Sub(m.At) < 2*time.Minute {
			use.Minute = max(use.Minute, m.Granted)
		}
	}
	return use
}

// hottest are the tenants with most asks over the last minutes.
func (b *Board) hottest(ctx context.Context, now time.Time, n int) ([]string, error) {
	answers := make([]*redis.ZSliceCmd, hotFor)
	_, err := b.client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for i := range answers {
			minute := now.Add(-time.Duration(i) * time.Minute)
			answers[i] = pipe.ZRevRangeWithScores(ctx, b.hot(minute), 0, int64(n-1))
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read which tenants ask most: %w", err)
	}
	asks := map[string]float64{}
	for _, answer := range answers {
		for _, z := range answer.Val() {
			if tenant, ok := z.Member.(string); ok {
				asks[tenant] += z.Score
			}
		}
	}
	tenants := make([]string, 0, len(asks))
	for tenant := range asks {
		tenants = append(tenants, tenant)
	}
	slices.SortFunc(tenants, func(one, other string) int {
		return cmp.Or(cmp.Compare(asks[other], asks[one]), cmp.Compare(one, other))
	})
	return tenants[:min(n, len(tenants))], nil
}

// uses reads the minutes of each tenant from the minute of since on, in one round
// trip of as many hashes as there are tenants and hours.
func (b *Board) uses(ctx context.Context, tenants []string, since, now time.Time) ([][]board.Minute, error) {
	first, last := since.Unix()/3600, now.Unix()/3600
	answers := make([][]*redis.MapStringStringCmd, len(tenants))
	_, err := b.client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for i, tenant := range tenants {
			for hour := first; hour <= last; hour++ {
				answers[i] = append(answers[i], pipe.HGetAll(ctx, b.calls(tenant, time.Unix(hour*3600, 0))))
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	uses := make([][]board.Minute, len(tenants))
	for i, hours := range answers {
		for offset, hour := range hours {
			uses[i] = append(uses[i], minutesOf(hour.Val(), time.Unix((first+int64(offset))*3600, 0).UTC())...)
		}
		uses[i] = slices.DeleteFunc(uses[i], func(m board.Minute) bool { return m.At.Before(since.Truncate(time.Minute)) })
	}
	return uses, nil
}

// minutesOf reads one hour, in the order of its minutes.
func minutesOf(fields map[string]string, hour time.Time) []board.Minute {
	var minutes []board.Minute
	for minute := range 60 {
		granted, _ := strconv.Atoi(fields[strconv.Itoa(minute)+"g"]) // none is 0
		refused, _ := strconv.Atoi(fields[strconv.Itoa(minute)+"r"])
		if granted+refused > 0 {
			at := hour.Add(time.Duration(minute) * time.Minute)
			minutes = append(minutes, board.Minute{At: at, Granted: granted, Refused: refused})
		}
	}
	return minutes
}
