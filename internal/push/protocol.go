package push

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// maxRounds is how often one refresh starts again because the facts, the set
// or the record changed under it, before it gives the code back.
const maxRounds = 16

// Options of a Protocol. All are required.
type Options struct {
	// Owner names this instance in the intents it leaves, for a person.
	Owner string
	// CallTimeout is an intent's life: no call is sent later than this after
	// its intent was written.
	CallTimeout time.Duration
	// IntentMargin is how long after its intent's deadline a call may still
	// take effect: the skew between clocks and the time on the wire.
	IntentMargin time.Duration
	// ParkAfter is the longest wait that is a hold; a longer one is a park.
	ParkAfter time.Duration
	Lanes     roster.LaneRules
	Backoff   Backoff
	// MaxFailures in a row make a code dirty instead of holding it again.
	MaxFailures int
	// Now is the clock.
	Now func() time.Time
}

// Breaker says whether calls for a tenant are let through at all.
type Breaker interface {
	// Allow reports whether a call may be tried; if not, until when none may.
	Allow(tenant string) (ok bool, until time.Time)
}

// Change is a list that WeCom took in place of another, and that the record has.
type Change struct {
	Ref
	At            time.Time
	Epoch         int64
	Before, After []string
	PerStaff      []roster.Judgement // of the verdict behind After
}

// Refusal is a push that no record tells of: WeCom refused it, nobody knows
// whether WeCom took it, or it took it and the record could not be written.
type Refusal struct {
	Ref
	At    time.Time
	Epoch int64
	// Class is the failure's, or that of what kept the push out of the record:
	// Contended is another instance that has begun a push since.
	Class   reason.Reason
	Unknown bool   // WeCom may hold the list
	Detail  string // WeCom's answer, or the cause; holds no secret
}

// Journal is told of each push. It must not wait, and keeps nothing of what it
// is given but values.
type Journal interface {
	Changed(ctx context.Context, c Change)
	Refused(ctx context.Context, r Refusal)
}

// Ports are what a Protocol needs from the world. All but the Journal are
// required.
type Ports struct {
	Store    Store
	Rotation Rotation
	Budget   Budget
	Vendor   Vendor
	Breaker  Breaker
	Shadows  Shadows
	Journal  Journal // nil: nobody is told
}

// Protocol refreshes codes. It is safe for concurrent use and keeps nothing
// that a restart may not lose.
type Protocol struct {
	Ports
	opts     Options
	families familyHints
}

// New returns a Protocol.
func New(ports Ports, opts Options) *Protocol {
	return &Protocol{Ports: ports, opts: opts}
}

// Refresh brings one code up to its facts: it reads them, decides, and leaves
// WeCom, the rotation set and the record agreeing with the decision, or says
// what is in the way. observe is called right before each read of the facts;
// every event received before the last of them is covered by the outcome.
//
// Refresh may be stopped at any point and may run twice at once for the same
// code; both leave a state from which the next Refresh converges.
func (p *Protocol) Refresh(ctx context.Context, ref Ref, observe func()) (out Outcome) {
	defer func() {
		if r := recover(); r != nil {
			out = Fail{Class: reason.Panicked, Err: fmt.Errorf("refresh of %s panicked: %v", ref.Code, r)}
		}
	}()
	a := &attempt{Protocol: p, ref: ref, observe: observe, rotates: p.families.rotates(ref.Code)}
	out = a.rounds(ctx)
	a.tellUnrecorded(ctx, out)
	return out
}

// attempt is one Refresh: what it learned and did over its rounds.
type attempt struct {
	*Protocol
	ref     Ref
	observe func()
	rotates bool // read the set's version first

	facts   roster.Facts
	record  Record
	readAt  time.Time      // before the facts were read
	verdict roster.Verdict // what the facts ask for
	sending roster.Verdict // the same, or a part of it in the search for a bad member
	version int64          // of the rotation set, as read and then as written

	own    []int64   // epochs of our calls that WeCom took
	pushed Committed // what the last of them brought, once it is committed
	began  time.Time // when that one was announced
	before []string  // what the record said that WeCom held before our first call, or since it was told
	told   int64     // the epoch of the last push that the journal knows of
}

func (a *attempt) rounds(ctx context.Context) Outcome {
	for range maxRounds {
		if out := a.round(ctx); out != nil {
			return out
		}
	}
	return Hold{Until: a.opts.Now().Add(a.opts.Backoff.Base), Cause: reason.Contended}
}

// round goes the way of the protocol once. A nil outcome says: something
// changed under us, start again.
func (a *attempt) round(ctx context.Context) Outcome {
	if out, again := a.read(ctx); again || out != nil {
		return out
	}
	if a.facts.Shadowed() {
		return a.shadow(ctx)
	}
	if out, again := a.writeSet(ctx); again || out != nil {
		return out
	}
	a.sending = a.sendable()
	if !a.pushStands() {
		if out := a.settled(ctx); out != nil {
			return out
		}
		if out, again := a.push(ctx); again || out != nil {
			return out
		}
	}
	if out, again := a.verify(ctx); again || out != nil {
		return out
	}
	if out := a.commit(ctx); out != nil {
		return out
	}
	return a.finish(ctx)
}

// finish ends the refresh, unless what WeCom holds now was only a probe.
func (a *attempt) finish(ctx context.Context) Outcome {
	if a.probes() {
		return a.tookProbe(ctx)
	}
	if out := a.endSearch(ctx); out != nil {
		return out
	}
	return a.done(reason.Pushed)
}

// read takes in the set's version, the record and the facts, in this order,
// and decides.
func (a *attempt) read(ctx context.Context) (out Outcome, again bool) {
	if a.rotates {
		version, err := a.Rotation.Version(ctx, a.ref)
		if err != nil {
			return a.storeDown("read the rotation set's version", err), false
		}
		a.version = version
	}
	a.readAt = a.opts.Now()
	a.observe()
	facts, record, err := a.Store.Load(ctx, a.ref)
	if err != nil {
		return a.unreadable(err), false
	}
	a.facts, a.record = facts, record
	if facts.Code.Deleted {
		return a.deleted(ctx), false
	}
	if facts.Code.Family.Rotates() != a.rotates {
		a.rotates = facts.Code.Family.Rotates()
		a.families.note(facts.Code)
		if a.rotates {
			return nil, true // the version has to be older than the facts
		}
	}
	if a.verdict, err = a.decide(facts); err != nil {
		return a.invalid(err), false
	}
	if a.verdict.Round != facts.Counters.Round {
		if _, err := a.Store.AdvanceRound(ctx, a.ref, facts.Counters.Round); err != nil {
			return a.storeDown("advance the rotation round", err), false
		}
		return nil, true
	}
	return nil, false
}

func (a *attempt) decide(facts roster.Facts) (roster.Verdict, error) {
	last := a.record
	if a.ours() {
		last.Committed = a.pushed // WeCom holds it, though the record does not say so yet
	}
	return roster.Decide(facts, last.Last(), a.opts.Lanes, a.opts.Now())
}

// ours reports that our push is the last one that anybody began.
func (a *attempt) ours() bool {
	return len(a.own) > 0 && a.own[len(a.own)-1] == a.record.Epoch
}

// writeSet writes the rotation set at once, since it costs no vendor budget,
// and even when its members stay: the version that grows tells an older
// writer that his facts are.
func (a *attempt) writeSet(ctx context.Context) (out Outcome, again bool) {
	if !a.rotates {
		return nil, false
	}
	set := Set{Round: a.verdict.Round, Seats: a.verdict.Rotation}
	version, ok, err := a.Rotation.Replace(ctx, a.ref, a.version, set)
	if err != nil {
		return a.storeDown("write the rotation set", err), false
	}
	a.version = version
	return nil, !ok
}

// pushStands reports that the list decided now is the one that we have just
// pushed in an earlier round.
func (a *attempt) pushStands() bool { return a.ours() && a.pushed.Hash == a.sending.Hash }

// settled ends the refresh when nothing has to be, or can be, sent.
func (a *attempt) settled(ctx context.Context) Outcome {
	if a.facts.Code.ConfigID == "" {
		return a.done(reason.Wayless)
	}
	if len(a.verdict.Members) == 0 {
		return a.park(reason.NobodyLeft, "no member, backup or fallback can take a customer", a.nextLook())
	}
	if a.verdict.Hash != a.record.Committed.Hash || len(a.record.Intents) > 0 {
		return nil
	}
	if !slices.Equal(a.verdict.Members, a.record.Committed.Members) {
		return nil // the record contradicts itself: it says nothing
	}
	if err := a.Budget.GiveBack(ctx, a.ref); err != nil {
		return a.storeDown("give back a slot", err)
	}
	if out := a.endSearch(ctx); out != nil {
		return out
	}
	if out := a.tidyRecord(ctx); out != nil {
		return out
	}
	if len(a.own) > 0 {
		return a.done(reason.Pushed) // the last probe of a search was the list
	}
	return a.done(reason.Unchanged)
}

// push waits for its turn, or announces the call and makes it.
func (a *attempt) push(ctx context.Context) (out Outcome, again bool) {
	if out := a.turn(); out != nil {
		return out, false
	}
	if out := a.allowed(ctx); out != nil {
		return out, false
	}
	admission, err := a.Budget.Admit(ctx, Ask{Ref: a.ref, Removes: a.sending.Removes(a.record.Committed.Members)})
	if err != nil {
		return a.storeDown("ask for vendor budget", err), false
	}
	if !admission.Granted {
		return a.refused(admission), false
	}
	return a.send(ctx, admission)
}

// send is Begin and Push.
func (a *attempt) send(ctx context.Context, admission Admission) (out Outcome, again bool) {
	if !a.rotates && a.record.Committed.Rotates {
		// The set from when the code did rotate would go on being drawn from. A
		// code that never did needs no rotation sets to be there.
		if err := a.Rotation.Delete(ctx, a.ref); err != nil {
			return a.storeDown("remove the rotation set", err), false
		}
	}
	a.began = a.opts.Now()
	intent := Intent{
		Epoch:    a.record.Epoch + 1,
		Hash:     a.sending.Hash,
		Owner:    a.opts.Owner,
		Deadline: earlier(a.began.Add(a.opts.CallTimeout), admission.Expires),
	}
	ok, err := a.Store.Begin(ctx, a.ref, a.record.Epoch, intent)
	if err != nil {
		return a.storeDown("begin a push", err), false
	}
	if !ok {
		return nil, true
	}
	a.record.Epoch = intent.Epoch
	if a.opts.Now().After(intent.Deadline) {
		return a.tooLate(ctx, intent)
	}
	if err := a.Vendor.Update(ctx, a.call(intent.Deadline)); err != nil {
		return a.refusal(ctx, intent, err)
	}
	if len(a.own) == 0 {
		a.before = a.record.Committed.Members
	}
	a.own = append(a.own, intent.Epoch)
	a.pushed = a.outcomeOf(intent)
	return a.resume(ctx), false
}

// outcomeOf is what the record is to say once the push of an intent is verified.
func (a *attempt) outcomeOf(intent Intent) Committed {
	return Committed{
		Members:  a.sending.Members,
		Hash:     a.sending.Hash,
		Epoch:    intent.Epoch,
		At:       a.opts.Now(),
		Revision: a.facts.Code.Revision,
		Notes:    a.verdict.Notes,
		Rotates:  a.rotates,
	}
}

// tooLate gives up a call whose admission ran out while it was announced: it
// has to be admitted anew.
func (a *attempt) tooLate(ctx context.Context, intent Intent) (out Outcome, again bool) {
	if err := a.Store.Drop(ctx, a.ref, intent.Epoch); err != nil {
		return a.storeDown("drop an intent", err), false
	}
	return nil, true
}

func (a *attempt) call(deadline time.Time) Call {
	code := a.facts.Code
	return Call{
		Ref:        a.ref,
		ConfigID:   code.ConfigID,
		Members:    a.sending.Members,
		Remark:     code.Remark,
		State:      code.State,
		SkipVerify: code.SkipVerify,
		Deadline:   deadline,
	}
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
