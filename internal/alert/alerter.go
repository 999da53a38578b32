package alert

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"go.opentelemetry.io/otel/trace"
)

// Options of an Alerter. All are required.
type Options struct {
	// Interval is the least time between two messages about one kind, tenant
	// and subject. What comes between them is merged.
	Interval time.Duration
	// PerMinute is the most messages in any minute.
	PerMinute int
	// MaxOpen is how many different alerts are remembered or wait; more are
	// dropped, and counted.
	MaxOpen int
	// MaxText is the longest message that the channel takes, in bytes.
	MaxText int
	// SendTimeout bounds one message; RetryAfter is the wait after one that
	// failed, and MaxTries how often it is tried in all.
	SendTimeout time.Duration
	RetryAfter  time.Duration
	MaxTries    int
	Logger      *slog.Logger
}

// Ports are what an Alerter needs from the world.
type Ports struct {
	Channel  Channel // nil: alerts are logged and counted only
	Claims   Claims  // nil: every instance tells of what it sees
	Observer Observer
}

// Alerter tells a person. Raise is safe for concurrent use.
type Alerter struct {
	Ports
	opts Options
	poke chan struct{} // capacity 1: there is something new

	mu   sync.Mutex // never held over I/O
	book *book
}

// New returns an Alerter; Run tells what is raised.
func New(ports Ports, opts Options) *Alerter {
	return &Alerter{Ports: ports, opts: opts, poke: make(chan struct{}, 1), book: newBook(opts)}
}

// Raise notes an alert. It does not wait for anything: what cannot be told now
// is merged, or dropped and counted. ctx gives the trace that the alert belongs
// to.
func (a *Alerter) Raise(ctx context.Context, al Alert) {
	a.mu.Lock()
	fate := a.book.raise(al, trace.SpanContextFromContext(ctx), time.Now())
	a.mu.Unlock()
	if fate != "" {
		a.Observer.Alerted(ctx, al.Kind, fate)
		return
	}
	select {
	case a.poke <- struct{}{}:
	default:
	}
}

// Run tells what is raised until ctx ends. What waits then is logged only.
func (a *Alerter) Run(ctx context.Context) {
	timer := time.NewTimer(a.opts.Interval)
	defer timer.Stop()
	for ctx.Err() == nil {
		batch, wake := a.next()
		if len(batch) > 0 {
			a.tell(ctx, batch)
			continue
		}
		if !wake.IsZero() {
			timer.Reset(time.Until(wake))
		}
		select {
		case <-ctx.Done():
		case <-a.poke:
		case <-timer.C:
		}
	}
	a.logUntold(ctx)
}

func (a *Alerter) next() ([]notice, time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.book.next(time.Now())
}

// tell brings one batch to a person, and always into the log.
func (a *Alerter) tell(ctx context.Context, batch []notice) {
	ctx = trace.ContextWithRemoteSpanContext(ctx, batch[0].span)
	mine := a.claim(ctx, batch)
	if len(mine) == 0 {
		return
	}
	text := shorten(render(mine, a.takeDropped()), a.opts.MaxText)
	for _, n := range mine {
		a.opts.Logger.LogAttrs(ctx, slog.LevelWarn, "alert", n.attrs()...)
	}
	if a.Channel == nil {
		a.settle(ctx, mine, Logged)
		return
	}
	sending, cancel := context.WithTimeout(ctx, a.opts.SendTimeout)
	defer cancel()
	if err := a.Channel.Send(sending, text); err != nil {
		a.opts.Logger.ErrorContext(ctx, "alert not delivered", "reason", mine[0].Kind.String(), "tenant", mine[0].Tenant, "error", err)
		a.settle(ctx, mine, Failed)
		return
	}
	a.settle(ctx, mine, Sent)
}

// claim keeps what this instance is to tell of.
func (a *Alerter) claim(ctx context.Context, batch []notice) []notice {
	if a.Claims == nil {
		return batch
	}
	mine := batch[:0:0]
	for _, n := range batch {
		if n.claimed {
			mine = append(mine, n)
			continue
		}
		// A claim ends a little before the interval, so that whoever told last
		// can tell again.
		first, err := a.Claims.Claim(ctx, n.key().String(), a.opts.Interval-a.opts.Interval/10)
		if err != nil {
			a.opts.Logger.WarnContext(ctx, "alert not claimed, other instances may tell of it too", "reason", n.Kind.String(), "error", err)
		}
		if first || err != nil {
			n.claimed = true
			mine = append(mine, n)
			continue
		}
		a.settle(ctx, []notice{n}, Elsewhere)
	}
	return mine
}

func (a *Alerter) takeDropped() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := a.book.dropped
	a.book.dropped = 0
	return n
}

// settle notes what became of alerts. One that failed waits for its next try,
// and is counted when there is none.
func (a *Alerter) settle(ctx context.Context, notices []notice, fate Fate) {
	a.mu.Lock()
	final := a.book.settle(notices, fate, time.Now())
	a.mu.Unlock()
	for _, n := range final {
		a.Observer.Alerted(ctx, n.Kind, fate)
	}
}

func (a *Alerter) logUntold(ctx context.Context) {
	a.mu.Lock()
	untold := a.book.untold()
	a.mu.Unlock()
	for _, n := range untold {
		traced := trace.ContextWithRemoteSpanContext(ctx, n.span)
		a.opts.Logger.LogAttrs(traced, slog.LevelWarn, "alert not told before the stop", n.attrs()...)
		a.Observer.Alerted(ctx, n.Kind, Logged)
	}
}

// attrs are a notice in the log. Its text is there too: the log is where an
// alert can be read when no channel took it.
func (n notice) attrs() []slog.Attr {
	return []slog.Attr{
		slog.String("reason", n.Kind.String()), slog.String("tenant", n.Tenant), slog.String("subject", n.Subject),
		slog.Int("merged", n.merged), slog.String("text", n.Text),
	}
}
