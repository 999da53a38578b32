package notify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// Kind is what a notice is about. Its word is the reason under which verdicts,
// logs and metrics show the same.
type Kind reason.Reason

// The kinds.
const (
	CeilingReachedCode    = Kind(reason.AtAddLimit)     // a staff member's additions through one code
	CeilingReachedDay     = Kind(reason.AtDailyLimit)   // the same, in one day
	CeilingReachedCompany = Kind(reason.AtCompanyLimit) // his additions of one day through all codes
	StaffResigned         = Kind(reason.Resigned)
	MemberQuarantined     = Kind(reason.Quarantined) // WeCom refused him
	CodeNobodyLeft        = Kind(reason.NobodyLeft)  // nobody on the code can take a customer
	TenantSuspended       = Kind(reason.Suspended)   // WeCom refuses the tenant's credentials
)

// Kinds returns all kinds.
func Kinds() []Kind {
	return []Kind{
		CeilingReachedCode, CeilingReachedDay, CeilingReachedCompany, StaffResigned, MemberQuarantined,
		CodeNobodyLeft, TenantSuspended,
	}
}

// String returns the kind as it appears everywhere.
func (k Kind) String() string { return string(k) }

// Notice is one thing to tell a tenant's people.
type Notice struct {
	// Key is the notice's idempotency key within its tenant, 1 to 512 bytes:
	// the same key tells once, whoever files it and however often.
	Key    string
	Tenant string
	Kind   Kind
	Code   string     // "": it is about no single code
	Staff  string     // "": it is about no single staff member
	Day    roster.Day // in the tenant's time zone; "": it is about no day
	// Count and Limit are additions, of a notice about a ceiling; else 0.
	Count, Limit int
	At           time.Time // when it happened
}

// ErrInvalidNotice is a notice that no repeat makes right.
var ErrInvalidNotice = errors.New("invalid notice")

// maxKey bounds a notice's key, and any other text in it, in bytes.
const maxKey = 512

func (n Notice) validate() error {
	switch {
	case n.Key == "" || len(n.Key) > maxKey:
		return fmt.Errorf("%w: a key of %d bytes; 1 to %d are allowed", ErrInvalidNotice, len(n.Key), maxKey)
	case n.Tenant == "":
		return fmt.Errorf("%w: no tenant", ErrInvalidNotice)
	case !slices.Contains(Kinds(), n.Kind):
		return fmt.Errorf("%w: kind %q", ErrInvalidNotice, n.Kind)
	case n.At.IsZero():
		return fmt.Errorf("%w: no instant", ErrInvalidNotice)
	}
	for _, text := range []string{n.Key, n.Tenant, n.Code, n.Staff, string(n.Day)} {
		if len(text) > maxKey || !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
			return fmt.Errorf("%w: a text that is too long or no text", ErrInvalidNotice)
		}
	}
	return nil
}

// Filer takes notices.
type Filer interface {
	// File creates a delivery for each of the tenant's channels that wants
	// notices of this kind, unless it is there already. When it returns nil
	// they are durable: each will be sent, refused for good or held, whoever
	// dies. After an error some may be there; repeat it with the same key. An
	// error that wraps ErrInvalidNotice stays whatever is repeated.
	File(ctx context.Context, notice Notice) error
}
