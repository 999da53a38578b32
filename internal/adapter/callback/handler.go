package callback

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/rollcall-dev/rollcall/internal/quota"
	"github.com/rollcall-dev/rollcall/internal/recent"
	"github.com/rollcall-dev/rollcall/internal/wecomcrypto"
)

// Taker makes durable what follows from an event; quota.Counter is one.
type Taker interface {
	Take(ctx context.Context, event quota.Event) (quota.Judgement, error)
	Change(ctx context.Context, change quota.StaffChange) (quota.Staffing, error)
}

// Fate is what became of a callback.
type Fate string

// The fates.
const (
	Verified  Fate = "verified"   // the check of the URL
	Taken     Fate = "taken"      // everything that follows is durable
	Ignored   Fate = "ignored"    // an event that nothing follows from
	Unknown   Fate = "unknown"    // no such tenant, or it takes no callbacks
	Forged    Fate = "forged"     // the signature is not WeCom's
	Misdirect Fate = "misdirect"  // meant for, or about, another company
	Stale     Fate = "stale"      // signed too long ago, or in the future
	TooLarge  Fate = "too_large"  // larger than any callback
	Malformed Fate = "malformed"  // not what WeCom documents
	Crowded   Fate = "crowded"    // too many of the tenant wait
	Failed    Fate = "failed"     // could not be made durable; WeCom sends it again
	BadMethod Fate = "bad_method" // neither GET nor POST
)

// Observer counts callbacks. It must not wait.
type Observer interface {
	Answered(ctx context.Context, fate Fate, took time.Duration)
}

// Options of a Handler. All are required.
type Options struct {
	// Timeout bounds the work on one callback: WeCom waits 5 s.
	Timeout time.Duration
	// MaxAge is how far a callback's timestamp may be from now.
	MaxAge time.Duration
	// Places is how many callbacks of one tenant are worked on at once, and
	// Waiting how many more may wait.
	Places, Waiting int
	// Remember is how long a tenant's settings are used before they are read
	// again, and MaxTenants of how many they are remembered.
	Remember   time.Duration
	MaxTenants int
	Now        func() time.Time
	Observer   Observer
	Logger     *slog.Logger
}

// Handler serves a path with the wildcard {tenant}. It is safe for concurrent
// use.
type Handler struct {
	taker     Taker
	receivers *receivers
	lanes     *lanes
	opts      Options
}

// New returns a Handler.
func New(taker Taker, directory Directory, opts Options) *Handler {
	return &Handler{
		taker: taker,
		receivers: &receivers{
			directory: directory, keep: opts.Remember, now: opts.Now,
			known: recent.NewMap[string, remembered](opts.MaxTenants),
		},
		lanes: newLanes(opts.Places, opts.Waiting),
		opts:  opts,
	}
}

// answer is what a callback gets.
type answer struct {
	fate Fate
	body []byte // of the check alone
	err  error  // the cause, for the log; holds no secret
}

// statuses of the answers. WeCom repeats whatever is not 200.
var statuses = map[Fate]int{
	Verified: http.StatusOK, Taken: http.StatusOK, Ignored: http.StatusOK,
	Unknown: http.StatusNotFound,
	Forged:  http.StatusForbidden, Misdirect: http.StatusForbidden, Stale: http.StatusForbidden,
	TooLarge: http.StatusRequestEntityTooLarge, Malformed: http.StatusBadRequest,
	Crowded: http.StatusTooManyRequests, Failed: http.StatusServiceUnavailable,
	BadMethod: http.StatusMethodNotAllowed,
}

// ServeHTTP answers one callback.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	begun := h.opts.Now()
	tenant := r.PathValue("tenant")
	// What was begun is finished, even when WeCom waits no longer.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), h.opts.Timeout)
	defer cancel()
	got := h.answer(ctx, w, r, tenant)
	h.opts.Observer.Answered(ctx, got.fate, h.opts.Now().Sub(begun))
	h.log(ctx, tenant, got)
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if got.fate == BadMethod {
		w.Header().Set("Allow", "GET, POST")
	}
	w.WriteHeader(statuses[got.fate])
	if len(got.body) > 0 {
		_, _ = w.Write(got.body) // the caller has gone: there is nobody to tell
	}
}

func (h *Handler) answer(ctx context.Context, w http.ResponseWriter, r *http.Request, tenant string) answer {
	if r.Method != http.MethodGet && r.Method != http.MethodPost {
		return answer{fate: BadMethod}
	}
	receiver, err := h.receivers.of(ctx, tenant)
	if err != nil {
		if errors.Is(err, ErrNoReceiver) {
			return answer{fate: Unknown}
		}
		return answer{fate: Failed, err: err}
	}
	stamp := wecomcrypto.StampOf(r.URL.Query())
	if r.Method == http.MethodGet {
		return h.check(receiver, stamp, r.URL.Query().Get("echostr"))
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, wecomcrypto.MaxBody))
	if err != nil {
		if _, large := errors.AsType[*http.MaxBytesError](err); large {
			return answer{fate: TooLarge}
		}
		return answer{fate: Malformed, err: err}
	}
	return h.event(ctx, tenant, receiver, stamp, body)
}

// check answers the check of the URL with the text that only the holder of the
// key can read.
func (h *Handler) check(r *receiver, stamp wecomcrypto.Stamp, echo string) answer {
	text, err := r.try(func(c *wecomcrypto.Codec) ([]byte, error) { return c.OpenEcho(stamp, echo) })
	if err != nil {
		return answer{fate: refusal(err), err: err}
	}
	if !h.fresh(stamp) {
		return answer{fate: Stale}
	}
	return answer{fate: Verified, body: text}
}

func (h *Handler) event(ctx context.Context, tenant string, r *receiver, stamp wecomcrypto.Stamp, body []byte) answer {
	text, err := r.try(func(c *wecomcrypto.Codec) ([]byte, error) { return c.Open(stamp, body) })
	if err != nil {
		return answer{fate: refusal(err), err: err}
	}
	if !h.fresh(stamp) {
		return answer{fate: Stale}
	}
	m, err := parse(text)
	switch {
	case err != nil:
		return answer{fate: Malformed, err: err}
	case !r.about(m.ToUserName):
		return answer{fate: Misdirect}
	}
	return h.take(ctx, tenant, m)
}

// take waits in the tenant's lane and does what follows from the event.
func (h *Handler) take(ctx context.Context, tenant string, m message) answer {
	event, ofCustomer, customerErr := m.customer(tenant)
	change, ofStaff, staffErr := m.staff(tenant)
	switch {
	case !ofCustomer && !ofStaff:
		return answer{fate: Ignored}
	case customerErr != nil || staffErr != nil:
		return answer{fate: Malformed, err: errors.Join(customerErr, staffErr)}
	}
	leave, err := h.lanes.enter(ctx, tenant)
	if err != nil {
		return answer{fate: Crowded, err: err}
	}
	defer leave()
	if ofCustomer {
		_, err = h.taker.Take(ctx, event)
	} else {
		_, err = h.taker.Change(ctx, change)
	}
	if err != nil {
		return answer{fate: Failed, err: err}
	}
	return answer{fate: Taken}
}

// fresh reports whether a genuine callback was signed about now: an old one was
// recorded and sent again.
func (h *Handler) fresh(stamp wecomcrypto.Stamp) bool {
	seconds, err := strconv.ParseInt(stamp.Timestamp, 10, 64)
	return err == nil && h.opts.Now().Sub(time.Unix(seconds, 0)).Abs() <= h.opts.MaxAge
}

func refusal(err error) Fate {
	switch {
	case errors.Is(err, wecomcrypto.ErrSignature):
		return Forged
	case errors.Is(err, wecomcrypto.ErrReceiveID):
		return Misdirect
	case errors.Is(err, wecomcrypto.ErrTooLarge):
		return TooLarge
	}
	return Malformed
}

func (h *Handler) log(ctx context.Context, tenant string, a answer) {
	switch a.fate {
	case Taken, Ignored, Verified, Unknown, BadMethod:
		return // counted; a stranger must not fill the log
	case Failed:
		h.opts.Logger.ErrorContext(ctx, "a callback could not be made durable; WeCom sends it again", "tenant", tenant, "error", a.err)
	default:
		h.opts.Logger.DebugContext(ctx, "a callback was refused", "tenant", tenant, "fate", a.fate, "error", a.err)
	}
}
