package roster

import "time"

// MaxListed is the most members WeCom takes on one contact way
// (WeCom's page 96348; error 41041 beyond it).
const MaxListed = 100

// Family says who picks the staff member for a customer.
type Family string

const (
	// Native codes let WeCom pick at random among the config's members.
	Native Family = "native"
	// Sequenced codes draw from the rotation set, one member after the other.
	Sequenced Family = "sequenced"
	// Quota codes draw from the rotation set by remaining quota.
	Quota Family = "quota"
)

// Rotates reports whether codes of the family have a rotation set.
func (f Family) Rotates() bool { return f == Sequenced || f == Quota }

// EmptyPolicy says what a code's list becomes when nobody is left.
type EmptyPolicy string

const (
	// KeepLast keeps the last pushed list and raises an alert.
	KeepLast EmptyPolicy = "keep"
	// TenantFallback lists the tenant's fallback staff.
	TenantFallback EmptyPolicy = "tenant_fallback"
)

// Code is what producers say about one live QR code.
type Code struct {
	ID       string
	Tenant   string
	ConfigID string // WeCom's config_id of the contact way
	Family   Family
	// Members are in the order of the rotation. Of several places of one staff
	// member the first counts and the others are ignored.
	Members []Member
	// Backups are staff IDs, used when no member is left. The limits of a
	// Member do not hold for a backup, even if he is a member as well.
	Backups  []string
	Switches Switches
	OnEmpty  EmptyPolicy // "" is KeepLast
	// Revision grows with every edit of the code by a producer. It tells an
	// intended removal of members from a lost one (the blast-radius guard).
	Revision  int64
	CreatedAt time.Time
	UpdatedAt time.Time
	Lane      LaneSwitch // the operator's switch; "" follows the rules
	Mode      Mode       // before the tenant's; Inherited follows it
	Term      int64      // grows with every switch of Mode
	Hold      Stop       // while active its list at WeCom stays as it is; no verdict depends on it
	Deleted   bool

	// Fields that an update at WeCom overwrites and that therefore travel
	// with every push (WeCom's page 96348). Remark and State hold at most 30
	// characters each.
	Remark     string
	State      string
	SkipVerify bool
}

// Member is a staff member's place on a code. A limit of 0 is no limit; a
// limit only counts while the code's switch of that name is on.
type Member struct {
	Staff      string
	AddLimit   int // additions, ever
	DailyLimit int // additions a day in the tenant's time zone
	RoundLimit int // additions a rotation round
}

// Switches turn a code's rules on.
type Switches struct {
	OfflineCheck bool // leave out who is off line or off duty
	AddLimit     bool
	DailyLimit   bool
	RoundLimit   bool
}

// Tenant is what holds for all codes of a company.
type Tenant struct {
	ID       string
	TimeZone string // IANA name; "" is Asia/Shanghai
	// DailyTotal is the most additions of one staff member a day over all
	// codes; 0 is no limit.
	DailyTotal  int
	Fallback    []string // staff IDs for EmptyPolicy TenantFallback, as Backups
	Tier        string   // a name the lane rules know, e.g. "premium"
	Whitelisted bool     // always in the fast lane
	Lane        LaneSwitch
	Mode        Mode  // of the codes that have none of their own
	Term        int64 // grows with every switch of Mode
	// Suspension is Rollcall's own note that WeCom refuses the tenant's
	// credentials. No verdict depends on it.
	Suspension Suspension
	// Hold, while active, leaves all lists at WeCom as they are. No verdict
	// depends on it.
	Hold Stop
	// MaxRemovalShare is the largest share (0..1] of a list that one push may
	// remove without a reason in the facts; 0 is the default of 0.5, 1 switches
	// the guard off.
	MaxRemovalShare float64
}

// Suspension says since when a tenant's calls are not made, because WeCom
// refuses its credentials. The zero value is none.
type Suspension struct {
	Since time.Time
	// NextProbe is when one call may be tried; who tries it moves it on first.
	NextProbe time.Time
	Probes    int    // calls tried since
	Detail    string // WeCom's answer, for a person; holds no secret
}

// Active reports whether the tenant is suspended.
func (s Suspension) Active() bool { return !s.NextProbe.IsZero() }

// Presence is the online flag of a staff member.
type Presence string

const (
	// PresenceUnset leaves duty to the schedule.
	PresenceUnset Presence = ""
	// Online overrides the schedule: on duty.
	Online Presence = "online"
	// OfflineNow overrides the schedule: not on duty.
	OfflineNow Presence = "offline"
)

// Staff is what is known about one staff member of a tenant.
type Staff struct {
	ID       string
	Resigned bool
	Presence Presence
	Schedule *Schedule // nil: always on duty
	// QuarantinedUntil is in the future while WeCom refuses this member.
	QuarantinedUntil time.Time
	Off              Stop        // an operator took him off every list
	RemovedOn        Day         // the day for which he is marked as removed; "" is none
	Added            map[Day]int // company-wide additions by day
}

// Counters are the additions of one code. A day's counts matter on that day
// and, for NextChange, on the day before.
type Counters struct {
	Total   map[string]int         // by staff ID, ever
	Days    map[Day]map[string]int // by day in the tenant's time zone, then staff ID
	Round   int64                  // the rotation round, from 0, never smaller
	InRound map[string]int         // by staff ID, in Round
}

// Facts are all that a verdict rests on, as read at one moment.
type Facts struct {
	Code     Code
	Tenant   Tenant
	Staff    map[string]Staff // by staff ID; absent: no such staff member
	Counters Counters
}

// Last is what the record says of the code's last committed push; the zero
// value is a code that was never pushed.
type Last struct {
	Members  []string
	Revision int64 // Code.Revision that the push was decided from
	At       time.Time
	// Kept says that the list was a stopgap: its verdict noted
	// reason.NobodyLeft. Whoever was on it only as a stopgap may leave without
	// an edit of the code once somebody is available again.
	Kept bool
}
