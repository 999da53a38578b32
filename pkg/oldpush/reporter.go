package oldpush

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"time"
)

// Reporter tells Rollcall what was pushed. It is safe for concurrent use, starts
// nothing and needs no closing.
type Reporter struct {
	o    Options
	base *url.URL
}

// New returns a Reporter. It connects to nothing.
func New(o Options) (*Reporter, error) {
	o = o.withDefaults()
	base, err := o.validate()
	if err != nil {
		return nil, err
	}
	return &Reporter{o: o, base: base}, nil
}

// Outcome is what became of a report.
type Outcome string

// The outcomes. None of them is an error.
const (
	Recorded    Outcome = "recorded"      // it is the code's list now
	Repeated    Outcome = "repeated"      // the same list as before
	Outdated    Outcome = "outdated"      // a later push is known
	NotInShadow Outcome = "not_in_shadow" // Rollcall writes the code itself: this system should not
)

// StatusError is an answer that is no success.
type StatusError struct {
	Status int    // HTTP
	Code   string // Rollcall's name of the problem, such as "unknown_code"; "" is none
	Detail string // for a person

	retryAfter time.Duration
}

// Error repeats the answer.
func (e *StatusError) Error() string {
	return fmt.Sprintf("oldpush: rollcall answers %d %s: %s", e.Status, e.Code, e.Detail)
}

// Temporary reports whether the same report may succeed later.
func (e *StatusError) Temporary() bool {
	return e.Status == http.StatusTooManyRequests || e.Status >= http.StatusInternalServerError
}

// Pushed tells that a code's whole list was pushed to WeCom at an instant. It
// tries again after 429, 5xx and broken connections, and returns when the context
// ends at the latest. An error is a *StatusError, the context's, or that of the
// last try; it holds no token.
func (r *Reporter) Pushed(ctx context.Context, tenant, code string, users []string, at time.Time) error {
	_, err := r.Report(ctx, tenant, code, users, at, "")
	return err
}

// Report is Pushed with a note for a person, at most 200 characters, and returns
// what became of it.
func (r *Reporter) Report(ctx context.Context, tenant, code string, users []string, at time.Time, note string) (Outcome, error) {
	if !isName(tenant) || !isName(code) {
		return "", fmt.Errorf("oldpush: %q and %q are not the names of a tenant and a code", tenant, code)
	}
	body, err := json.Marshal(report{Users: users, At: at.Format(time.RFC3339Nano), Note: note})
	if err != nil {
		return "", fmt.Errorf("oldpush: write the report: %w", err)
	}
	to := r.base.JoinPath("v1", "tenants", tenant, "codes", code, "pushed").String()
	for try := 1; ; try++ {
		outcome, err := r.try(ctx, to, body)
		if err == nil || try == r.o.Tries {
			return outcome, err
		}
		wait, again := r.wait(err, try)
		if !again {
			return "", err
		}
		if ended := pause(ctx, wait); ended != nil {
			return "", errors.Join(ended, err)
		}
	}
}

// isName reports whether Rollcall can know a tenant or a code by the name. What
// is none could lead to another route.
func isName(id string) bool {
	return name.MatchString(id) && id != "." && id != ".."
}

var name = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,128}$`)

type report struct {
	Users []string `json:"users"`
	At    string   `json:"at"`
	Note  string   `json:"note,omitempty"`
}

// try is one request.
func (r *Reporter) try(ctx context.Context, to string, body []byte) (Outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, r.o.TryTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return "", fmt.Errorf("oldpush: %w", err)
	}
	request.Header.Set("Authorization", "Bearer "+r.o.Token())
	request.Header.Set("Content-Type", "application/json")
	response, err := r.o.Client.Do(request)
	if err != nil {
		return "", fmt.Errorf("oldpush: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	return read(response)
}

// maxAnswer bounds what is read of an answer, in bytes.
const maxAnswer = 64 << 10

func read(response *http.Response) (Outcome, error) {
	text, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return "", fmt.Errorf("oldpush: read the answer: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		refused := &StatusError{Status: response.StatusCode, retryAfter: retryAfter(response.Header)}
		var problem struct{ Code, Detail string }
		if json.Unmarshal(text, &problem) == nil { // a proxy's answer has neither
			refused.Code, refused.Detail = problem.Code, problem.Detail
		}
		return "", refused
	}
	var answer struct{ Outcome Outcome }
	if err := json.Unmarshal(text, &answer); err != nil {
		return "", fmt.Errorf("oldpush: read the answer: %w", err)
	}
	return answer.Outcome, nil
}

// retryAfter reads the header in seconds, which is how Rollcall writes it; 0 is
// none.
func retryAfter(h http.Header) time.Duration {
	seconds, err := strconv.Atoi(h.Get("Retry-After"))
	if err != nil || seconds < 0 || seconds > int(24*time.Hour/time.Second) {
		return 0
	}
	return time.Duration(seconds) * time.Second
}

// firstWait is before the second try; it doubles with each.
const firstWait = 200 * time.Millisecond

// wait is how long to wait before the next try, if there is to be one.
func (r *Reporter) wait(err error, tried int) (time.Duration, bool) {
	wait := min(firstWait<<(tried-1), r.o.MaxWait)
	wait = wait/2 + rand.N(wait/2+1) // callers that failed together come apart
	refused, isAnswer := errors.AsType[*StatusError](err)
	if !isAnswer {
		return wait, true
	}
	if !refused.Temporary() || refused.retryAfter > r.o.MaxWait {
		return 0, false
	}
	return max(wait, refused.retryAfter), true
}

// pause waits, but not beyond the context: it returns at once when the context
// would end first.
func pause(ctx context.Context, wait time.Duration) error {
	if end, bounded := ctx.Deadline(); bounded && time.Until(end) < wait {
		return context.DeadlineExceeded
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
