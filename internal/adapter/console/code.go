package console

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-dev/rollcall/internal/access"
	"github.com/rollcall-dev/rollcall/internal/explain"
	"github.com/rollcall-dev/rollcall/internal/intervene"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/registry"
	"github.com/rollcall-dev/rollcall/internal/trail"
)

// codeBody is what a code's page shows.
type codeBody struct {
	X        explain.Explanation
	Headline string // key
	Grade    string // "good", "warn" or "bad"
	Trail    []step // newest first
	Plot     *plot
	Acts     []act
	MayAsk   bool

	At      string // the instant asked about, as the address has it
	AtText  string // the same, as the field has it
	AtWrong string // key of what is wrong with it
	Asked   string // the staff member asked about
	Past    *explain.Past
}

// Rotates reports a code whose customers are drawn.
func (b codeBody) Rotates() bool { return b.X.Facts.Code.Family.Rotates() }

// AskPast is the address of the same question about a staff member.
func (b codeBody) AskPast(staff string) string {
	return query(codeURL(b.X.Tenant, b.X.Code), "at", b.At, "staff", staff) + "#past"
}

// step is an entry of the trail with the list before and after it.
type step struct {
	trail.Entry
	Known         bool
	Before, After []string
}

func (c *Console) getCode(v *visit) error {
	ctx, cancel := v.timed()
	defer cancel()
	ref, err := v.code()
	if err != nil {
		return err
	}
	x, err := c.Explainer.Explain(ctx, ref, false)
	if err != nil {
		return err
	}
	return c.showCode(v, x, query("/console/live", "page", "code", "tenant", ref.Tenant, "code", ref.Code))
}

// postCode asks WeCom, which spends a call of the tenant's.
func (c *Console) postCode(v *visit) error {
	ctx, cancel := v.timed()
	defer cancel()
	ref, err := v.code()
	if err != nil {
		return err
	}
	if !v.may(access.Write, ref.Tenant) {
		return refusal{http.StatusForbidden, "error.scope", string(access.Write)}
	}
	x, err := c.Explainer.Explain(ctx, ref, true)
	if err != nil {
		return err
	}
	return c.showCode(v, x, "") // live figures would lose WeCom's answer
}

// showCode shows a code's explanation; live is the address of its figures.
func (c *Console) showCode(v *visit, x explain.Explanation, live string) error {
	ref := x.Ref
	zone := zoneOf(x.Facts.Tenant)
	body := codeBodyOf(x, v.look.lang, zone)
	stops := x.Record.Failure.Streak // a failure's backoff can be ended too
	if hold := x.Facts.Hold(v.now); hold.Active(v.now) {
		stops++
	}
	body.Acts = v.acts(intervene.Subject{Kind: intervene.Code, Tenant: ref.Tenant, ID: ref.Code}, offered(ordersOfList, stops))
	if x.Dirty != nil && v.may(access.Write, ref.Tenant) {
		body.Acts = append(body.Acts, act{Name: "dirty-retry", URL: query("/console/do/dirty-retry", "tenant", ref.Tenant, "code", ref.Code)})
	}
	body.MayAsk = v.may(access.Write, ref.Tenant)
	body.past(v, zone)
	return c.show(v, http.StatusOK, "code", page{Title: "kind.code", Named: ref.Tenant + "/" + ref.Code, Zone: zone, Live: live}, body)
}

// code returns the code of the path, within the visitor's walls.
func (v *visit) code() (push.Ref, error) {
	tenant, err := v.within()
	if err != nil {
		return push.Ref{}, err
	}
	if registry.CheckCodeID(v.PathValue("code")) != nil {
		return push.Ref{}, notFound
	}
	return push.Ref{Tenant: tenant, Code: v.PathValue("code")}, nil
}

func codeBodyOf(x explain.Explanation, l lang, zone *time.Location) codeBody {
	body := codeBody{X: x, Trail: steps(x), Plot: sizes(x, l, zone)}
	switch f := x.Finding; {
	case f.Hopeless():
		body.Headline, body.Grade = "verdict.hopeless", "bad"
	case f.Shadowed && f.Agrees():
		body.Headline, body.Grade = "verdict.shadowed", "good"
	case f.Agrees():
		body.Headline, body.Grade = "verdict.agrees", "good"
	case f.Waits != "":
		body.Headline, body.Grade = "verdict.waits", "warn"
	default:
		body.Headline, body.Grade = "verdict.differs", "bad"
	}
	return body
}

// steps are the entries of a trail, newest first, with the lists that each push
// found and left.
func steps(x explain.Explanation) []step {
	all := make([]step, 0, len(x.Trail))
	for _, e := range slices.Backward(x.Trail) {
		s := step{Entry: e}
		if e.Kind == trail.Pushed {
			after := trail.At(x.Record.Committed.Members, x.Trail, e.At)
			s.Known, s.After = after.Known, after.Members
			s.Before = before(e, after.Members)
		}
		all = append(all, s)
	}
	return all
}

// before is the list that a push replaced, by the list that it left.
func before(e trail.Entry, after []string) []string {
	list := slices.Clone(after)
	for _, m := range e.Moves {
		if m.Came {
			list = slices.DeleteFunc(list, func(s string) bool { return s == m.Staff })
		} else {
			list = append(list, m.Staff)
		}
	}
	slices.Sort(list)
	return list
}

// past answers what the address asks of another time.
func (b *codeBody) past(v *visit, zone *time.Location) {
	b.AtText, b.Asked = v.now.In(zone).Format(localTime), v.param("staff")
	text := v.param("at")
	if text == "" {
		return
	}
	at, err := instant(text, zone)
	if err != nil || at.After(v.now) {
		b.AtWrong = "past.wrong"
		return
	}
	b.At, b.AtText = text, at.In(zone).Format(localTime)
	past := explain.OfPast(b.X.Record.Committed.Members, b.X.Trail, strings.TrimSpace(b.Asked), at)
	b.Past = &past
}

// instant reads an instant, or what a field for a time holds, to its second's
// end: an entry of that second is part of the answer.
func instant(text string, zone *time.Location) (time.Time, error) {
	for _, layout := range []string{localTime, "2006-01-02T15:04"} {
		if at, err := time.ParseInLocation(layout, text, zone); err == nil {
			return at.Add(time.Second - time.Millisecond), nil
		}
	}
	return time.Parse(time.RFC3339, text)
}
