package redisrotation

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/rollcall-dev/rollcall/internal/draw"
	"github.com/rollcall-dev/rollcall/internal/push"
)

// Trail returns the last draws of a code, the newest first, at most as many as
// Options.Trail. Answers that were repeated are not draws. A code without a set
// has none.
func (r *Rotation) Trail(ctx context.Context, ref push.Ref) ([]draw.Past, error) {
	lines, err := r.client.LRange(ctx, r.keysOf(ref).trail, 0, -1).Result()
	if err != nil {
		return nil, fmt.Errorf("read the last draws of code %s: %w", ref.Code, err)
	}
	past := make([]draw.Past, 0, len(lines))
	for _, line := range lines {
		p, err := parsePast(line)
		if err != nil {
			return nil, fmt.Errorf("read the last draws of code %s: %w", ref.Code, err)
		}
		past = append(past, p)
	}
	return past, nil
}

// parsePast reads what the draw script wrote: microseconds, round, lap,
// position and staff, which alone may hold a space.
func parsePast(line string) (draw.Past, error) {
	var p draw.Past
	var micros int64
	if _, err := fmt.Sscanf(line, "%d %d %d %d ", &micros, &p.Round, &p.Lap, &p.Position); err != nil {
		return draw.Past{}, errReply
	}
	fields := strings.SplitN(line, " ", 5)
	if len(fields) != 5 {
		return draw.Past{}, errReply
	}
	p.At, p.Staff = time.UnixMicro(micros).UTC(), fields[4]
	return p, nil
}
