//go:build integration

package redisrotation

import (
	"errors"
	"fmt"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// What a code with a landing page takes in Redis, keys included, as
// docs/operations/sizing.md says it: right after a refresh, and with a full trail.
func TestASetIsAsLargeAsTheSizingPageSays(t *testing.T) {
	for _, tt := range []struct {
		members    int
		set, trail int64 // bytes, at most
	}{
		{10, 1400, 3800},
		{40, 3400, 6200},
		{100, 7100, 10_400},
	} {
		t.Run(fmt.Sprint(tt.members, " members"), func(t *testing.T) {
			r, _ := realRotation(t)
			ref := push.Ref{Tenant: "wwd08c8e7c775ab44d", Code: "c-0000123456"}
			set := push.Set{}
			for i := range tt.members {
				set.Seats = append(set.Seats, roster.Seat{Staff: fmt.Sprintf("zhang.san%03d", i), Headroom: 20})
			}
			if _, ok, err := r.Replace(t.Context(), ref, 0, set); err != nil || !ok {
				t.Fatalf("replace: %v, %v", ok, err)
			}
			wantAbout(t, "the set", r.bytes(t, ref), tt.set)
			for range 60 {
				if _, err := r.Draw(t.Context(), ref, ""); err != nil {
					t.Fatal(err)
				}
			}
			wantAbout(t, "set and trail", r.bytes(t, ref), tt.trail)
		})
	}
}

func wantAbout(t *testing.T, what string, got, page int64) {
	t.Helper()
	if got > page || got < page*7/10 {
		t.Errorf("%s: %d bytes; the page says %d", what, got, page)
	}
}

// bytes is what Redis says that a code's keys take.
func (r *Rotation) bytes(t *testing.T, ref push.Ref) int64 {
	t.Helper()
	var sum int64
	for _, key := range r.keysOf(ref).all() {
		n, err := r.client.(*redis.Client).MemoryUsage(t.Context(), key, 0).Result()
		if err != nil && !errors.Is(err, redis.Nil) {
			t.Fatal(err)
		}
		sum += n
	}
	return sum
}
