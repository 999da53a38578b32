// Package reason owns the one vocabulary with which Rollcall explains itself.
//
// The same Reason appears in a verdict, in a log line, as the label of a
// metric, in the dirty set, on a dead letter and on the operator's screen, so
// that a question asked in one place can be answered in another. The package
// refuses to own behaviour: what follows from a reason is decided where the
// reason is used.
package reason

// Reason is one entry of the vocabulary: lower case, words joined by
// underscores, stable once released. The set is small and closed, so a Reason
// is safe as a metric label.
type Reason string

// Why a staff member is, or is not, on a code's list.
const (
	Eligible        Reason = "eligible"          // on the list in his own right
	BackupInUse     Reason = "backup_in_use"     // on the list because no member was left
	FallbackInUse   Reason = "fallback_in_use"   // on the list by the tenant's fallback
	KeptLast        Reason = "kept_last"         // on the list because nobody was left and the policy is to keep
	Guarded         Reason = "guarded"           // on the list because removing him was refused by the blast-radius guard
	Offline         Reason = "offline"           // the online flag says off line
	OffDuty         Reason = "off_duty"          // the schedule says off duty
	AtAddLimit      Reason = "at_add_limit"      // ceiling per staff member and code
	AtDailyLimit    Reason = "at_daily_limit"    // the same, per day
	AtRoundLimit    Reason = "at_round_limit"    // the same, per rotation round
	AtCompanyLimit  Reason = "at_company_limit"  // company-wide daily total
	Resigned        Reason = "resigned"          // left the company
	TakenOff        Reason = "taken_off"         // an operator took him off every list
	Quarantined     Reason = "quarantined"       // WeCom refused him
	RemovedToday    Reason = "removed_today"     // marked as removed for the rest of the day
	StaffMissing    Reason = "staff_missing"     // listed on the code, no such staff member
	OverMemberCap   Reason = "over_member_cap"   // WeCom takes at most 100 members
	BackupNotNeeded Reason = "backup_not_needed" // a backup while members are left
	NotAMember      Reason = "not_a_member"      // another system lists him, and the code names him nowhere
)

// What a verdict has to say beyond its list.
const (
	NobodyLeft    Reason = "nobody_left"    // no member, no backup and no fallback can take a customer
	MemberCap     Reason = "member_cap"     // more eligible members than WeCom takes
	BlastRadius   Reason = "blast_radius"   // a removal without a reason in the facts was refused
	RoundAdvanced Reason = "round_advanced" // every eligible member was at the round limit
)

// How an event of a code ended.
const (
	Pushed    Reason = "pushed"    // WeCom holds the new list and the record says so
	Unchanged Reason = "unchanged" // the list was already right
	Coalesced Reason = "coalesced" // a newer event of the same code took its place
	Deleted   Reason = "deleted"   // the code is gone; nothing to keep true
	Shadowed  Reason = "shadowed"  // another system writes the list; what ours would be is noted
	Wayless   Reason = "wayless"   // the code has no contact way yet; whoever makes it brings the code back
)

// Why a code has to wait (a hold or a park).
const (
	Throttled   Reason = "throttled"    // no vendor budget yet: a slot is booked
	Blocked     Reason = "blocked"      // WeCom answered 45009: the tenant's API is blocked
	SlowLane    Reason = "slow_lane"    // demoted: not before the last commit + interval
	Backoff     Reason = "backoff"      // failed before: not before the record's instant
	BreakerOpen Reason = "breaker_open" // too many failures in a row at the vendor
	Unsettled   Reason = "unsettled"    // pushed, but an earlier call may still land after it
	Paced       Reason = "paced"        // the code ran several times just now; its next run takes in all events until then
	Contended   Reason = "contended"    // another instance works on the code
	Suspended   Reason = "suspended"    // the tenant's credentials do not work
	OnHold      Reason = "on_hold"      // an operator keeps the list at WeCom as it is
	Overflow    Reason = "overflow"     // too many codes held, or too long a wait
	StoreDown   Reason = "store_down"   // MongoDB or Redis could not be asked
	HandedBack  Reason = "handed_back"  // given back to the broker: a sibling joined or we stop
	Unpublished Reason = "unpublished"  // its facts changed and the broker did not take the event
)

// Why the keeper publishes a code that nobody marked.
const (
	TimeChange Reason = "time_change" // time alone changes its verdict: a shift, a day, a quarantine has ended or begun
)

// Why what WeCom holds of a code is not what Rollcall left there (the spot
// check). Gone is one of them.
const (
	ForeignEdit      Reason = "foreign_edit"      // WeCom holds a list that is not ours: somebody else changed it
	AttributesDiffer Reason = "attributes_differ" // the list is ours; remark, state or skip_verify are not
)

// Why something failed.
const (
	Transient     Reason = "transient"      // network, 5xx, system busy
	Gone          Reason = "gone"           // WeCom no longer knows the contact way
	BadMember     Reason = "bad_member"     // WeCom refuses one of the members
	Credentials   Reason = "credentials"    // WeCom refuses the tenant's credentials, or there are none
	UnknownError  Reason = "unknown_error"  // WeCom answered a code nobody has classified
	Panicked      Reason = "panicked"       // a bug: the handler panicked on this code
	UnknownTenant Reason = "unknown_tenant" // no such tenant in the facts
	UnknownCode   Reason = "unknown_code"   // no such code in the facts
	InvalidFacts  Reason = "invalid_facts"  // the facts contradict themselves (an unknown time zone)
	WrongTenant   Reason = "wrong_tenant"   // the event names another tenant than the code's
)

// What the audit finds.
const (
	Stale          Reason = "stale"           // the list that was pushed is not the one the facts ask for, and no event is under way
	NeverPushed    Reason = "never_pushed"    // a code without a push
	RecordLies     Reason = "record_lies"     // a record whose members are not those of its hash
	SetMissing     Reason = "set_missing"     // a landing page's code without a rotation set
	SetDiffers     Reason = "set_differs"     // a rotation set that is not the one the facts ask for
	RecordOrphaned Reason = "record_orphaned" // a record without a code
	SetOrphaned    Reason = "set_orphaned"    // a rotation set without a code
	Dirty          Reason = "dirty"           // the code is in the dirty set already
)

// Why a contact way cannot be had.
const (
	WayCap   Reason = "way_cap"   // WeCom makes no more contact ways for the company
	WayTaken Reason = "way_taken" // the contact way is another code's
	WayUnfit Reason = "way_unfit" // the contact way is of a kind that a code cannot use
)

// Why many codes are recomputed at once (a fan-out), beside what takes a member
// off a list.
const (
	StaffChanged  Reason = "staff_changed"  // facts of a staff member were written
	TenantChanged Reason = "tenant_changed" // facts of a tenant were written
)

// Why a message is a dead letter.
const (
	Undecodable  Reason = "undecodable"   // not the documented payload
	WrongVersion Reason = "wrong_version" // a version this build does not read
	NoKey        Reason = "no_key"        // without a key the broker cannot keep a code with one consumer
	KeyMismatch  Reason = "key_mismatch"  // the key is not the code's ID
	TooLarge     Reason = "too_large"     // beyond the documented size
)

// Why a notice to a tenant's people waits, or was given up.
const (
	PoolExhausted Reason = "pool_exhausted" // the tenant's deliveries of the day are used up
	OwnerLost     Reason = "owner_lost"     // whoever worked on it did not finish in time
	Refused       Reason = "refused"        // the receiver does not want it
	NoChannel     Reason = "no_channel"     // the tenant has no such channel any more
)

// Firm reports whether a wait of this cause runs its full time whatever
// happens meanwhile. A booked slot or a slow lane may be overtaken by a newer
// event that asks for something else; a failure's backoff may not.
func (r Reason) Firm() bool {
	switch r {
	case Throttled, SlowLane, Contended:
		return false
	}
	return true
}

// Repairs reports whether a dirty code of this reason has something to mend, as
// opposed to work that only had to wait.
func (r Reason) Repairs() bool {
	switch r {
	case Transient, Gone, BadMember, Credentials, UnknownError, Panicked,
		UnknownTenant, UnknownCode, InvalidFacts, WrongTenant,
		Stale, NeverPushed, RecordLies, SetMissing, SetDiffers, ForeignEdit, AttributesDiffer:
		return true
	}
	return false
}

// String returns the reason as it appears everywhere.
func (r Reason) String() string { return string(r) }
