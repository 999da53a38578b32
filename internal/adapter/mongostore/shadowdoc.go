package mongostore

import (
	"strings"
	"time"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/shadow"
)

// shadowDoc is a document of the collection shadows. Changed is there only while
// the code is due to be compared, so that its index holds those only.
type shadowDoc struct {
	ID      string                  `bson:"_id"` // tenant/code
	Tenant  string                  `bson:"tenant"`
	Code    string                  `bson:"code"`
	Ours    oursDoc                 `bson:"ours"`
	Theirs  theirsDoc               `bson:"theirs"`
	Changes int64                   `bson:"changes"`
	Changed time.Time               `bson:"changed"`
	Verdict verdictDoc              `bson:"verdict"`
	Days    map[roster.Day]tallyDoc `bson:"days"`
}

type oursDoc struct {
	Members  []string       `bson:"members"`
	List     string         `bson:"list"` // listKey
	Hash     string         `bson:"hash"`
	Revision int64          `bson:"revision"`
	At       time.Time      `bson:"at"`
	Why      []judgementDoc `bson:"why"`
}

type judgementDoc struct {
	Staff    string        `bson:"staff"`
	Included bool          `bson:"included,omitempty"`
	Reason   reason.Reason `bson:"reason"`
	Despite  reason.Reason `bson:"despite,omitempty"`
}

type theirsDoc struct {
	Members []string      `bson:"members"`
	List    string        `bson:"list"` // listKey
	At      time.Time     `bson:"at"`
	Source  shadow.Source `bson:"source"`
	Note    string        `bson:"note,omitempty"`
	Term    int64         `bson:"term"`
}

type verdictDoc struct {
	Outcome     shadow.Outcome        `bson:"outcome"`
	Differences []shadowDifferenceDoc `bson:"differences,omitempty"`
	Since       time.Time             `bson:"since"`
	First       time.Time             `bson:"first"`
	Term        int64                 `bson:"term"`
}

type shadowDifferenceDoc struct {
	Staff  string        `bson:"staff"`
	Kind   shadow.Kind   `bson:"kind"`
	Reason reason.Reason `bson:"reason"`
}

// tallyDoc counts causes by their names, such as lists/offline.
type tallyDoc struct {
	Compared   int            `bson:"compared"`
	Matched    int            `bson:"matched"`
	Mismatched int            `bson:"mismatched"`
	Standing   int            `bson:"standing"`
	Causes     map[string]int `bson:"causes"`
}

func oursDocOf(s push.Shadow) oursDoc {
	why := make([]judgementDoc, len(s.Why))
	for i, judgement := range s.Why {
		why[i] = judgementDoc(judgement)
	}
	return oursDoc{
		Members: s.Members, List: listKey(s.Members, 0), Hash: s.Hash, Revision: s.Revision, At: s.At, Why: why,
	}
}

func (d oursDoc) shadow() push.Shadow {
	why := make([]roster.Judgement, len(d.Why))
	for i, judgement := range d.Why {
		why[i] = roster.Judgement(judgement)
	}
	return push.Shadow{Members: d.Members, Hash: d.Hash, Revision: d.Revision, At: utc(d.At), Why: why}
}

func theirsDocOf(r shadow.Reported) theirsDoc {
	return theirsDoc{
		Members: r.Members, List: listKey(r.Members, r.Term), At: r.At, Source: r.Source, Note: r.Note, Term: r.Term,
	}
}

func (d theirsDoc) reported() shadow.Reported {
	return shadow.Reported{Members: d.Members, At: utc(d.At), Source: d.Source, Note: d.Note, Term: d.Term}
}

func verdictDocOf(v shadow.Verdict) verdictDoc {
	differences := make([]shadowDifferenceDoc, len(v.Differences))
	for i, d := range v.Differences {
		differences[i] = shadowDifferenceDoc{Staff: d.Staff, Kind: d.Kind, Reason: d.Reason}
	}
	return verdictDoc{Outcome: v.Outcome, Differences: differences, Since: v.Since, First: v.First, Term: v.Term}
}

func (d verdictDoc) verdict() shadow.Verdict {
	differences := make([]shadow.Difference, len(d.Differences))
	for i, one := range d.Differences {
		differences[i] = shadow.Difference{Staff: one.Staff, Cause: shadow.Cause{Kind: one.Kind, Reason: one.Reason}}
	}
	return shadow.Verdict{
		Outcome: d.Outcome, Differences: differences, Since: utc(d.Since), First: utc(d.First), Term: d.Term,
	}
}

func (d tallyDoc) tally() shadow.Tally {
	causes := make(map[shadow.Cause]int, len(d.Causes))
	for name, n := range d.Causes {
		kind, why, _ := strings.Cut(name, "/")
		causes[shadow.Cause{Kind: shadow.Kind(kind), Reason: reason.Reason(why)}] = n
	}
	return shadow.Tally{
		Compared: d.Compared, Matched: d.Matched, Mismatched: d.Mismatched, Standing: d.Standing, Causes: causes,
	}
}

func (d shadowDoc) state() shadow.State {
	days := make(map[roster.Day]shadow.Tally, len(d.Days))
	for day, tally := range d.Days {
		days[day] = tally.tally()
	}
	return shadow.State{
		Ref: push.Ref{Tenant: d.Tenant, Code: d.Code}, Ours: d.Ours.shadow(), Theirs: d.Theirs.reported(),
		Changes: d.Changes, Changed: utc(d.Changed), Verdict: d.Verdict.verdict(), Days: days,
	}
}
