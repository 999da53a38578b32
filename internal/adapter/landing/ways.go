package landing

import (
	"context"
	"time"

	"github.com/rollcall-dev/rollcall/internal/draw"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/recent"
)

const (
	// maxWays is how many QR codes are remembered: about 8 MiB.
	maxWays = 20_000
	// wayFresh is how long a QR code is shown without asking again. WeCom's
	// codes do not change; the code's own settings may.
	wayFresh = time.Minute
)

// ways remembers QR codes for a moment, so that a hot code costs no read each
// time it is shown.
type ways struct {
	Ways
	now   func() time.Time
	known *recent.Map[wayKey, way]
}

type wayKey struct {
	push.Ref
	staff string
}

type way struct {
	url   string
	until time.Time
}

func newWays(source Ways, now func() time.Time) *ways {
	return &ways{Ways: source, now: now, known: recent.NewMap[wayKey, way](maxWays)}
}

// MemberWay is that of Ways. When it fails, what it said before still counts.
func (w *ways) MemberWay(ctx context.Context, ref push.Ref, staff string) (string, error) {
	key := wayKey{ref, staff}
	known, ok := w.known.Get(key)
	if ok && w.now().Before(known.until) {
		return known.url, nil
	}
	url, err := w.Ways.MemberWay(ctx, ref, staff)
	switch {
	case err == nil:
		w.known.Put(key, way{url: url, until: w.now().Add(wayFresh)})
		return url, nil
	case ok:
		return known.url, nil
	}
	return "", err
}

// wayOf returns the QR code of who was drawn, or "" when it cannot be had,
// which is told.
func (s *Site) wayOf(ctx context.Context, surface draw.Surface, answer draw.Answer) string {
	url, err := s.ways.MemberWay(ctx, answer.Ref, answer.Staff)
	if err != nil {
		s.Observer.Ended(ctx, surface, draw.NoWay, 0)
		s.opts.Logger.WarnContext(ctx, "the QR code of who was drawn cannot be had",
			"tenant", answer.Tenant, "code", answer.Code, "staff", answer.Staff, "error", err)
	}
	return url
}
