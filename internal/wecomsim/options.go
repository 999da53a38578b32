package wecomsim

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/rollcall-dev/rollcall/internal/wecomsim/limits"
)

// Options say how a Sim is made. The zero value is WeCom as documented, with
// no latency, a lossless ledger and nobody in it.
type Options struct {
	// Now is the clock of windows, tokens, propagation and records; nil is
	// time.Now. Waiting (latency, scans, retries) always takes real time.
	Now func() time.Time
	// Seed makes faults, latencies and tokens repeatable.
	Seed uint64
	// Limits are enforced per API; nil is limits.Documented().
	Limits *limits.Config
	// Quirks settle what WeCom's pages leave open; zero fields have defaults.
	Quirks Quirks
	// Latency of every call that is not refused at the door.
	Latency Latency
	// Keep bounds the ledger and the log of scans to the newest so many
	// entries each; 0 loses nothing.
	Keep int
	// IPHeader names a request header that carries the caller's IP, so that
	// one machine can play several egress IPs; "" is DefaultIPHeader. Without
	// the header the IP is that of the connection.
	IPHeader string
	// OnScan is called at the instant of every pick, before anything else
	// happens, from the goroutine of the scan. It must be quick.
	OnScan func(Scan)
	// OnCall is called after every call's effect and before its answer, from
	// the goroutine of the call. It must be quick. Its Seq is 0.
	OnCall func(Call)
	// Callbacks say how often and how long callbacks are tried.
	Callbacks CallbackRules
	// HTTPClient POSTs callbacks; nil is a client of its own.
	HTTPClient *http.Client
	// Logger is told of callbacks given up; nil is silent.
	Logger *slog.Logger
}

// DefaultIPHeader is the request header that overrides the caller's IP.
const DefaultIPHeader = "X-Wecomsim-Ip"

// Quirks are the points that WeCom's pages leave open or that differ between
// corps. A zero field takes the default named with it.
type Quirks struct {
	// TokenTTL is how long a token is valid; 7200 s.
	TokenTTL time.Duration `json:"-"`
	// ExpiredCode answers an expired token; 42001. 40014 has been seen.
	ExpiredCode int `json:"expired_code"`
	// UnknownUserCode answers a user nobody knows; 40003. 40031 and 60111 are
	// possible as well.
	UnknownUserCode int `json:"unknown_user_code"`
	// GoneCode and GoneText answer a config_id that does not exist; 41044.
	// 41037 has been seen on delete.
	GoneCode int    `json:"gone_code"`
	GoneText string `json:"gone_text"`
	// EmptyCode answers an empty member list; 40063. No page names the code.
	EmptyCode int `json:"empty_code"`
	// Propagation is how long after an update customers still meet the old
	// list; 0. get_contact_way tells the new list at once.
	Propagation time.Duration `json:"-"`
	// MaxWays is the cap of contact ways per corp; 500 000.
	MaxWays int `json:"max_ways"`
	// BadSecrets in a row from one IP block it for BadSecretBlock; 20 and one
	// hour. WeCom does not document the number, nor the answer: every call of
	// the IP then gets 45009.
	BadSecrets     int           `json:"bad_secrets"`
	BadSecretBlock time.Duration `json:"-"`
	// Conflicts is how calls that meet on one contact way are answered.
	Conflicts ConflictPolicy `json:"conflicts"`
}

// ConflictPolicy says what happens when a write on a contact way arrives while
// another one is in flight.
type ConflictPolicy string

const (
	// ConflictsAllowed lets both through; the later effect wins. The default.
	ConflictsAllowed ConflictPolicy = "allow"
	// ConflictsRefused answers the second with 45035.
	ConflictsRefused ConflictPolicy = "refuse"
)

// DefaultQuirks returns the documented or most likely behavior.
func DefaultQuirks() Quirks { return Quirks{}.withDefaults() }

func (q Quirks) withDefaults() Quirks {
	q.TokenTTL = orDefault(q.TokenTTL, 7200*time.Second)
	q.ExpiredCode = orDefault(q.ExpiredCode, codeTokenExpired)
	q.UnknownUserCode = orDefault(q.UnknownUserCode, codeBadUser)
	q.GoneCode = orDefault(q.GoneCode, codeGone)
	q.GoneText = orDefault(q.GoneText, "invalid config_id")
	q.EmptyCode = orDefault(q.EmptyCode, codeEmptyParameter)
	q.MaxWays = orDefault(q.MaxWays, 500_000)
	q.BadSecrets = orDefault(q.BadSecrets, 20)
	q.BadSecretBlock = orDefault(q.BadSecretBlock, time.Hour)
	q.Conflicts = orDefault(q.Conflicts, ConflictsAllowed)
	return q
}

func (q Quirks) validate() error {
	if q.TokenTTL < 0 || q.Propagation < 0 || q.BadSecretBlock < 0 || q.MaxWays < 0 || q.BadSecrets < 0 {
		return errors.New("quirks: durations and counts must not be negative")
	}
	if q.Conflicts != ConflictsAllowed && q.Conflicts != ConflictsRefused {
		return fmt.Errorf("quirks: conflicts %q is neither %q nor %q", q.Conflicts, ConflictsAllowed, ConflictsRefused)
	}
	return nil
}

// CallbackRules are WeCom's patience with a callback URL (page 90930). A zero
// field takes the default named with it.
type CallbackRules struct {
	// Timeout is how long an answer may take; 5 s.
	Timeout time.Duration
	// Attempts in all; 3.
	Attempts int
	// Wait before another attempt; 1 s. No page names it.
	Wait time.Duration
}

func (r CallbackRules) withDefaults() CallbackRules {
	return CallbackRules{
		Timeout:  orDefault(r.Timeout, 5*time.Second),
		Attempts: orDefault(r.Attempts, 3),
		Wait:     orDefault(r.Wait, time.Second),
	}
}

func orDefault[T comparable](value, otherwise T) T {
	var zero T
	if value == zero {
		return otherwise
	}
	return value
}
