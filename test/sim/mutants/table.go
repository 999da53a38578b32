package main

// mutant is one fault: in file, old becomes new.
type mutant struct {
	name string
	file string
	old  string
	new  string
}

const (
	commit     = "internal/push/commit.go"
	protocol   = "internal/push/protocol.go"
	failing    = "internal/push/failing.go"
	waiting    = "internal/push/waiting.go"
	search     = "internal/push/search.go"
	suspension = "internal/push/suspension.go"
	store      = "internal/push/pushtest/store.go"
	rotation   = "internal/push/pushtest/rotation.go"
	vendor     = "internal/push/pushtest/vendor.go"
	queue      = "internal/keyqueue/queue.go"
	settling   = "internal/intake/desk/desk.go"
	tenant     = "internal/keyqueue/tenant.go"
	release    = "internal/backstop/release.go"
	intents    = "internal/backstop/intents.go"
	changes    = "internal/push/pushtest/changes.go"
	inTurn     = "internal/backstop/inturn.go"
)

// mutants are grouped by what they are a fault of. The conditions of the
// store's and Redis's writes stand in the models, which the conformance suites
// hold to the adapters.
var mutants = []mutant{
	// The push protocol.
	{"no second read of the facts", commit, "	if facts.Code.Deleted || facts.Code.ConfigID != a.facts.Code.ConfigID || !sameDemand(a.verdict, now) {", "	_ = now\n	if false {"},
	{"commit whatever the epoch is", store, "		if r.Epoch != committed.Epoch {", "		if false {"},
	{"begin whatever the epoch is", store, "		if r.Epoch != seen || intent.Epoch != seen+1 {", "		if false {"},
	{"a superseded push drops its intent", commit, "	if !ok {\n		return Hold{Until: a.opts.Now().Add(a.opts.Backoff.Base), Cause: reason.Contended}", "	if !ok {\n		for _, epoch := range a.own {\n			_ = a.Store.Drop(ctx, a.ref, epoch)\n		}\n		return Hold{Until: a.opts.Now().Add(a.opts.Backoff.Base), Cause: reason.Contended}"},
	{"no intent", store, "		r.Intents = append(r.Intents, intent)\n", ""},
	{"dedupe while an intent is open", protocol, "	if a.verdict.Hash != a.record.Committed.Hash || len(a.record.Intents) > 0 {", "	if a.verdict.Hash != a.record.Committed.Hash {"},
	{"an unknown outcome counts as refused", failing, "	if !call.Unknown {", "	if true {"},
	{"a commit settles every intent", commit, "		case ends.Before(a.began):", "		case true:"},
	{"an intent settles at its deadline", commit, "		ends := intent.Deadline.Add(a.opts.IntentMargin)", "		ends := intent.Deadline"},
	{"done beside somebody else's intent", commit, "	if !open.IsZero() {", "	if false {"},
	{"recorded before it is pushed", protocol, "	a.record.Epoch = intent.Epoch\n", "	a.record.Epoch = intent.Epoch\n	_, _ = a.Store.Commit(ctx, a.ref, a.outcomeOf(intent), nil, time.Time{})\n"},
	{"a call is sent however late", vendor, "	if now.After(call.Deadline) {", "	if false {"},
	{"an admission never runs out", protocol, "		Deadline: earlier(a.began.Add(a.opts.CallTimeout), admission.Expires),", "		Deadline: a.began.Add(a.opts.CallTimeout),"},
	{"events until the end are covered", protocol, "	a.observe()\n	facts, record, err := a.Store.Load(ctx, a.ref)", "	facts, record, err := a.Store.Load(ctx, a.ref)\n	a.observe()"},
	{"events until the verification's end are covered", commit, "	a.observe()\n	facts, err := a.Store.Facts(ctx, a.ref)", "	facts, err := a.Store.Facts(ctx, a.ref)\n	a.observe()"},
	{"a backoff is not waited for", waiting, "	if until := a.record.Failure.NotBefore; until.After(now) {", "	if until := a.record.Failure.NotBefore; false {"},
	{"gone without asking", failing, "	known, err := a.Vendor.Exists(ctx, a.ref, a.facts.Code.ConfigID)", "	known, err := false, error(nil)"},

	// What WeCom refuses.
	{"the other half is suspected", search, "		suspects, _ = halves(a.suspects())\n", "		if _, second := halves(a.suspects()); len(second) > 0 {\n			suspects = second\n		}\n"},
	{"everybody makes the probe", suspension, "	if !won {", "	_ = won\n	if false {"},
	{"a suspended tenant is called", suspension, "	if s.NextProbe.After(now) {", "	if false {"},

	// The rotation set.
	{"the set is written only when it differs", rotation, "		if version != seen {\n			return\n		}", "		if version != seen {\n			return\n		}\n		if old, ok := r.sets[ref]; ok && len(old.Seats) == len(set.Seats) && (len(old.Seats) == 0 || old.Seats[0] == set.Seats[0]) {\n			won = true\n			return\n		}"},
	{"the set is written over any version", rotation, "		if version != seen {", "		if false {"},
	{"the set's version is read after the facts", protocol, "	a.facts, a.record = facts, record\n", "	a.facts, a.record = facts, record\n	if a.rotates {\n		a.version, _ = a.Rotation.Version(ctx, a.ref)\n	}\n"},

	// What time alone changes.
	{"the keeper forgets what time changes", inTurn, "		which := (t.first + i) % len(t.sets)\n", "		which := 0 * i\n"},
	{"a push expects no change", commit, "settled, a.verdict.NextChange)", "settled, time.Time{})"},
	{"an unchanged list expects no change", waiting, "	if next := a.verdict.NextChange; !a.record.Expects(next) {", "	if next := a.verdict.NextChange; false {"},
	{"a change is expected as first decided", commit, "	a.verdict.NextChange = now.NextChange // an edit may have moved it and left the list alone\n", ""},
	{"an expectation puts another off", store, "	if !r.Expects(at) {", "	if !at.IsZero() {"},
	{"a change is forgotten by its instant", changes, "			delete(c.store.taken, change.Ref)\n", "			delete(c.store.taken, change.Ref)\n			if record := c.store.recordOf(change.Ref); record.NextChange.Equal(taken.At) {\n				record.NextChange = time.Time{}\n				c.store.records[change.Ref] = record\n			}\n"},
	{"a change that was taken is forgotten with its keeper", changes, "		if ref.Tenant == tenant && !change.At.After(now) {\n", "		if ref.Tenant == tenant && change.At.IsZero() {\n"},

	// The queue.
	{"a code in work is handed out again", queue, "	if e.state == working || e.state == shed {\n		e.again = true\n	}", "	if e.state == working {\n		q.makeReady(e)\n	}"},
	{"a touch during the work is forgotten", queue, "	if e.state == working || e.state == shed {\n		e.again = true\n	}", ""},
	{"the older of two events is kept", queue, "	older := e.message\n	e.message = t.Message\n", "	older := t.Message\n"},
	{"a newer event is acked before its facts are read", queue, "	if e.again {\n		q.rerun(e, now)\n		return end\n	}", ""},
	{"a failure's hold is shortened", queue, "	if e.wait.Firm {\n		return\n	}\n", ""},
	{"a hold of any length", queue, "	if latest := now.Add(q.opts.MaxHold); wait.Until.After(latest) {", "	if latest := now.Add(q.opts.MaxHold); false {"},
	{"what is due is not given back", queue, "			out.Nacks = append(out.Nacks, q.giveBack(e, now))", "			q.giveBack(e, now)"},
	{"a hand-back forgets", queue, "			nacks = append(nacks, q.giveBack(e, now))", "			q.giveBack(e, now)"},
	{"tenants do not take turns", tenant, "	if r.last == nil {\n		r.first = t\n	} else {\n		r.last.after = t\n	}\n	r.last = t", "	t.after = r.first\n	r.first = t\n	if r.last == nil {\n		r.last = t\n	}"},

	// The desk.
	{"acked before it is dirty", settling, "		return Settlement[M]{Outcome: out, Mark: &out.Mark}", "		return Settlement[M]{Outcome: out, Ending: d.Park(work.Key, now)}"},
	{"any number of codes is held", settling, "	if d.Held() < threeQuarters(d.opts.MaxHeld) {", "	if true {"},
	{"an unstored park is acked", settling, "	if err != nil {\n		return d.stumble(work, push.Fail{Class: reason.StoreDown, Err: err}, now)\n	}\n", ""},
	{"an overflow is dropped", settling, "	return Settlement[M]{Outcome: push.Park{Mark: mark}, Mark: &mark}\n}\n\n// fail", "	return d.Marked(work, mark, nil, now)\n}\n\n// fail"},

	// The keeper.
	{"no keeper looks after intents", intents, "	err := m.find(ctx, from, before, found)", "	err := error(nil)"},
	{"an entry is removed before its event is stored", release, "	failures, first := 0, error(nil)\n", "	failures, first := 0, error(nil)\n	_ = r.due.Published(ctx, entries)\n"},
	{"an entry is removed although its event was not stored", release, "		case failures == 0:\n			first = err\n			failures++", "		case failures == 0:\n			first = err\n			failures++\n			out.stored = append(out.stored, entries[i])"},
}
