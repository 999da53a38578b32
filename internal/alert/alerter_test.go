package alert

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/trace"
	"go.uber.org/goleak"

	"github.com/rollcall-dev/rollcall/internal/reason"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// What is raised when, and the messages that a person gets, with the second at
// which each comes.
func TestWhatAPersonIsTold(t *testing.T) {
	for _, tc := range []struct {
		name string
		run  func(*bench)
		want []string
	}{
		{
			"the first alert goes at once",
			func(b *bench) { b.raise("acme", "") },
			[]string{"0: acme is blocked"},
		},
		{
			"repeats within the interval are told with their number when it is over",
			func(b *bench) {
				b.raise("acme", "")
				for range 3 {
					b.pass(time.Second)
					b.raise("acme", "")
				}
				b.pass(20 * time.Minute)
			},
			[]string{"0: acme is blocked", "600: acme is blocked\n> 2 more like this since 00:00:01 UTC"},
		},
		{
			"after a silence the next one goes at once again",
			func(b *bench) {
				b.raise("acme", "")
				b.pass(11 * time.Minute)
				b.raise("acme", "")
			},
			[]string{"0: acme is blocked", "660: acme is blocked"},
		},
		{
			"subjects are told apart, and the ones that wait together share a message",
			func(b *bench) {
				b.channel.hold()
				b.raise("acme", "")
				b.raise("acme", "c1")
				b.raise("zeta", "c2")
				b.raise("zeta", "c2")
				b.channel.release()
			},
			[]string{"0: acme is blocked", "0: acme is blocked\n> The same for 1 more: zeta c2 (2 times)"},
		},
		{
			"no more than so many a minute, whatever happens; the rest share one message",
			func(b *bench) {
				for i := range 10 {
					b.raise(fmt.Sprint("t", i), "")
				}
				b.pass(time.Minute)
			},
			[]string{
				"0: t0 is blocked", "0: t1 is blocked", "0: t2 is blocked",
				"60: t3 is blocked\n> The same for 6 more: t4, t5, t6, t7, t8, t9",
			},
		},
		{
			"kinds do not share a message",
			func(b *bench) {
				b.channel.hold()
				b.raise("acme", "")
				b.raiseAlert(Alert{Kind: reason.StoreDown, Text: "Redis is gone"})
				b.raise("zeta", "")
				b.channel.release()
			},
			[]string{"0: acme is blocked", "0: Redis is gone", "0: zeta is blocked"},
		},
		{
			"what is too much is dropped, and its number told",
			func(b *bench) {
				b.channel.hold()
				for i := range maxOpen + 5 {
					b.raise(fmt.Sprint("t", i), "")
				}
				b.channel.release()
				b.pass(11 * time.Minute)
				b.raise("later", "")
			},
			[]string{
				"0: t0 is blocked",
				"0: t1 is blocked\n> The same for 18 more: t2, t3, t4, t5, t6, t7, t8, t9, t10, t11, t12, t13, t14, t15, t16, t17, t18, t19\n" +
					"> 5 other alerts were dropped, too many at once; rollcall_alerts_total counts them by kind",
				"660: later is blocked",
			},
		},
		{
			"a message that fails is tried again, with what came meanwhile",
			func(b *bench) {
				b.channel.fail(2)
				b.raise("acme", "")
				b.raise("acme", "")
				b.pass(2 * time.Minute)
			},
			[]string{"60: acme is blocked\n> 1 more like this since 00:00:00 UTC"},
		},
		{
			"and is given up in the end, but not for ever",
			func(b *bench) {
				b.channel.fail(3)
				b.raise("acme", "")
				b.pass(20 * time.Minute)
				b.raise("acme", "")
			},
			[]string{"1200: acme is blocked"},
		},
		{
			"another instance tells of it",
			func(b *bench) {
				b.claims.taken = true
				b.raise("acme", "")
			},
			nil,
		},
		{
			"unless nobody can be asked who does",
			func(b *bench) {
				b.claims.err = errors.New("no answer")
				b.raise("acme", "")
			},
			[]string{"0: acme is blocked"},
		},
		{
			"a claim is made once, however often the message is tried",
			func(b *bench) {
				b.channel.fail(1)
				b.claims.once = true
				b.raise("acme", "")
				b.pass(time.Minute)
			},
			[]string{"30: acme is blocked"},
		},
		{
			"whoever told of it can tell of its repeats",
			func(b *bench) {
				b.claims.once = true
				b.raise("acme", "")
				b.raise("acme", "")
				b.pass(20 * time.Minute)
			},
			[]string{"0: acme is blocked", "600: acme is blocked"},
		},
		{
			"a long text is cut to what the channel takes",
			func(b *bench) {
				b.raiseAlert(Alert{Kind: reason.Blocked, Text: strings.Repeat("多", 100)})
			},
			[]string{"0: " + strings.Repeat("多", 82) + "…"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := run(t)
				tc.run(b)
				synctest.Wait()
				if diff := cmp.Diff(tc.want, b.channel.messages()); diff != "" {
					t.Errorf("messages (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestEveryAlertIsCountedOnce(t *testing.T) {
	for _, tc := range []struct {
		name string
		run  func(*bench)
		want []string
	}{
		{"sent", func(b *bench) { b.raise("acme", "") }, []string{"blocked sent"}},
		{"merged", func(b *bench) { b.raise("acme", ""); b.raise("acme", "") }, []string{"blocked merged", "blocked sent"}},
		{"elsewhere", func(b *bench) { b.claims.taken = true; b.raise("acme", "") }, []string{"blocked elsewhere"}},
		{"failed", func(b *bench) { b.channel.fail(3); b.raise("acme", ""); b.pass(5 * time.Minute) }, []string{"blocked failed"}},
		{"logged", func(b *bench) { b.alerter.Channel = nil; b.raise("acme", "") }, []string{"blocked logged"}},
		{"at the stop", func(b *bench) { b.channel.fail(1); b.raise("acme", ""); synctest.Wait(); b.stop() }, []string{"blocked logged"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := run(t)
				tc.run(b)
				synctest.Wait()
				if diff := cmp.Diff(tc.want, b.observed()); diff != "" {
					t.Errorf("fates (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// The log has every alert, in the trace that it belongs to, even without a
// channel.
func TestTheLogHasEveryAlert(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := run(t)
		b.alerter.Channel = nil
		b.raise("acme", "")
		synctest.Wait()
		for _, want := range []string{"level=WARN", "msg=alert", "reason=blocked", "tenant=acme", "acme is blocked"} {
			if !strings.Contains(b.log.String(), want) {
				t.Errorf("no %q in %s", want, &b.log)
			}
		}
	})
}

func TestASendBelongsToTheTraceOfItsAlert(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := run(t)
		ids := trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}}
		b.alerter.Raise(trace.ContextWithSpanContext(t.Context(), trace.NewSpanContext(ids)), Alert{Kind: reason.Blocked, Text: "x"})
		synctest.Wait()
		if got := b.channel.trace; got != ids.TraceID {
			t.Errorf("sent in the trace %v; want %v", got, ids.TraceID)
		}
	})
}

// A channel that hangs keeps nobody who raises an alert, and ends at its limit.
func TestRaisingNeverWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := run(t)
		b.channel.hold()
		began := time.Now()
		for i := range 10 * maxOpen {
			b.raise(fmt.Sprint("t", i), "")
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("raising took %v of simulated time", took)
		}
		b.pass(sendTimeout)
		if got := b.channel.timedOut(); got == 0 {
			t.Error("a message was sent without a limit")
		}
		b.channel.release()
	})
}

func TestTheBookForgetsWhatIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := run(t)
		b.raise("acme", "")
		b.pass(11 * time.Minute)
		b.alerter.mu.Lock()
		defer b.alerter.mu.Unlock()
		if n := len(b.alerter.book.entries); n != 0 {
			t.Errorf("%d alerts are still remembered after the interval", n)
		}
	})
}

const (
	maxOpen     = 20
	sendTimeout = 10 * time.Second
)

// bench is a running Alerter on fakes, in simulated time.
type bench struct {
	*testing.T
	alerter *Alerter
	channel *channel
	claims  *claims
	log     bytes.Buffer
	stop    func()

	mu    sync.Mutex
	fates []string
}

func run(t *testing.T) *bench {
	b := &bench{T: t, channel: &channel{start: time.Now()}, claims: &claims{}}
	b.alerter = New(Ports{Channel: b.channel, Claims: b.claims, Observer: b}, Options{
		Interval: 10 * time.Minute, PerMinute: 3, MaxOpen: maxOpen, MaxText: 250,
		SendTimeout: sendTimeout, RetryAfter: 30 * time.Second, MaxTries: 3,
		Logger: slog.New(slog.NewTextHandler(&b.log, nil)),
	})
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { b.alerter.Run(ctx) })
	b.stop = func() { cancel(); running.Wait() }
	t.Cleanup(b.stop)
	return b
}

func (b *bench) raise(tenant, subject string) {
	b.raiseAlert(Alert{Kind: reason.Blocked, Tenant: tenant, Subject: subject, Text: tenant + " is blocked"})
}

// raiseAlert lets the Alerter come to rest: with a message at a channel that is
// held, what is raised then waits together.
func (b *bench) raiseAlert(al Alert) {
	b.alerter.Raise(b.Context(), al)
	synctest.Wait()
}

func (b *bench) pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func (b *bench) Alerted(_ context.Context, kind reason.Reason, fate Fate) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fates = append(b.fates, kind.String()+" "+string(fate))
}

func (b *bench) observed() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Sorted(slices.Values(b.fates))
}

// channel notes what is sent. It can be held: a message then waits for the
// release, or for its own limit.
type channel struct {
	start time.Time

	mu       sync.Mutex
	got      []string
	failures int
	timeouts int
	gate     chan struct{}
	trace    trace.TraceID
}

func (c *channel) Send(ctx context.Context, text string) error {
	c.mu.Lock()
	gate := c.gate
	c.mu.Unlock()
	if gate != nil {
		select {
		case <-gate:
		case <-ctx.Done():
			c.mu.Lock()
			defer c.mu.Unlock()
			c.timeouts++
			return ctx.Err()
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failures > 0 {
		c.failures--
		return errors.New("refused")
	}
	c.trace = trace.SpanContextFromContext(ctx).TraceID()
	c.got = append(c.got, fmt.Sprintf("%.0f: %s", time.Since(c.start).Seconds(), text))
	return nil
}

func (c *channel) hold() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gate = make(chan struct{})
}

func (c *channel) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.gate)
	c.gate = nil
}

func (c *channel) fail(times int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failures = times
}

func (c *channel) messages() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.got)
}

func (c *channel) timedOut() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.timeouts
}

// claims grants every claim, none, or one a key until its span is over.
type claims struct {
	taken bool
	once  bool
	err   error
	until map[string]time.Time
}

func (c *claims) Claim(_ context.Context, key string, span time.Duration) (bool, error) {
	if c.once && !time.Now().After(c.until[key]) {
		return false, nil
	}
	if c.until == nil {
		c.until = map[string]time.Time{}
	}
	c.until[key] = time.Now().Add(span)
	return !c.taken && c.err == nil, c.err
}
