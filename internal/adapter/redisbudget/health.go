package redisbudget

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// health knows whether Redis answers, and keeps those that would find out the
// hard way from trying: after a failure one ask every retryAfter does.
type health struct {
	retryAfter time.Duration
	log        *slog.Logger
	changed    func(ctx context.Context, degraded bool)

	mu       sync.Mutex
	degraded bool
	probeAt  time.Time
}

// shared reports whether the shared budget is to be asked at now.
func (h *health) shared(now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.degraded {
		return true
	}
	if now.Before(h.probeAt) {
		return false
	}
	h.probeAt = now.Add(h.retryAfter)
	return true
}

// up notes an answer.
func (h *health) up(ctx context.Context) {
	h.mu.Lock()
	was := h.degraded
	h.degraded = false
	h.mu.Unlock()
	if was {
		h.log.InfoContext(ctx, "vendor budget: Redis answers again, the shared budget takes over")
		h.changed(ctx, false)
	}
}

// down notes a failure at now.
func (h *health) down(ctx context.Context, now time.Time, err error) {
	h.mu.Lock()
	was := h.degraded
	h.degraded = true
	h.probeAt = now.Add(h.retryAfter)
	h.mu.Unlock()
	if !was {
		h.log.ErrorContext(ctx, "vendor budget: Redis does not answer, pacing by this instance's share alone", "error", err)
		h.changed(ctx, true)
	}
}
