package roster

import (
	"time"

	"github.com/rollcall-dev/rollcall/internal/reason"
)

// Verdict is what the facts of a code ask for at one instant.
type Verdict struct {
	// Members is the list for WeCom's config: sorted, without repetition, 1 to
	// MaxListed entries; or empty, when nobody can be listed and nothing may
	// be sent (Notes then holds reason.NobodyLeft), or when the code is deleted.
	Members []string
	// Hash identifies all that a push sends: Members, remark, state,
	// verification. 16 hexadecimal characters.
	Hash string
	// Rotation is the rotation set in order; empty for Native codes.
	Rotation []Seat
	// Round is the rotation round the verdict is for. It is Counters.Round, or
	// one more when every eligible member is at the round limit; the round has
	// then to be advanced in the facts before the list is pushed.
	Round int64
	// PerStaff has each person once: the members in their order, the backups,
	// the fallback staff if they were considered, then those who are listed
	// without being any of these (kept or guarded), sorted. Who is Included
	// here is in Members and the other way round.
	PerStaff []Judgement
	Lane     Lane
	Notes    []reason.Reason
	// NextChange is the next instant, in UTC, at which time alone changes the
	// verdict; zero when it never does. Until then Decide answers the same. It
	// is exact but for facts about days to come (a count or a removal dated
	// tomorrow, as skewed clocks write them) and for a guard that has no place
	// left: there it may be early, never late. Counts dated later than
	// tomorrow are not looked at.
	NextChange time.Time
}

// Judgement says of one staff member whether he is on the list, and why.
type Judgement struct {
	Staff    string
	Included bool
	Reason   reason.Reason
	// Despite is the reason that would have kept him off the list, when he is
	// on it as a stopgap (KeptLast, Guarded, or a member as a backup); "" is
	// none.
	Despite reason.Reason
}

// Seat is a member's place in the rotation set.
type Seat struct {
	Staff string
	// Headroom is how many more additions the member may take before his
	// nearest ceiling; negative: no ceiling. Who is listed in spite of the
	// rules (KeptLast, Guarded) has none: a landing page must find somebody.
	Headroom int
	// Counted is the member's additions on this code, ever, that Headroom
	// already accounts for.
	Counted int
	// Company is the ceiling that the member's codes share. Headroom accounts
	// for it, but cannot know what the other codes give him from now on.
	Company CompanyDay
}

// CompanyDay is what the company's daily total leaves a staff member, over all
// codes. The zero value is no limit.
type CompanyDay struct {
	Total   int // the most additions a day; 0 is no limit
	Counted int // those of today
	// Until is the Unix second at which the tenant's day ends and Counted says
	// nothing any more; 0 when Counted is 0, which says nothing at any time.
	Until int64
}

// Removes reports whether the verdict's list lacks somebody of before: such a
// push stops harm and goes first.
func (v Verdict) Removes(before []string) bool {
	have := make(map[string]struct{}, len(v.Members))
	for _, m := range v.Members {
		have[m] = struct{}{}
	}
	for _, m := range before {
		if _, ok := have[m]; !ok {
			return true
		}
	}
	return false
}
