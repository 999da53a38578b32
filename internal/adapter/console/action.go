package console

import (
	"cmp"
	"errors"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rollcall-dev/rollcall/internal/decision"
	"github.com/rollcall-dev/rollcall/internal/dirty"
	"github.com/rollcall-dev/rollcall/internal/ident"
	"github.com/rollcall-dev/rollcall/internal/intervene"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/registry"
)

// actionBody is the question before an action.
type actionBody struct {
	Name, Subject string
	URL, Back     string
	Danger        bool
	Facts         []string
	Objections    []string
	Hidden        [][2]string
	Fields        []field
	Why           string
	MaxWhy        int
	Wrong         string // key of what is wrong with the form
	Failed        string // why it was not done
	Refused       bool   // it cannot be done at all
}

// doneBody is what was done.
type doneBody struct{ Name, Subject, Told, Back string }

// getAction asks before it is done.
func (c *Console) getAction(v *visit) error {
	name, one, e, err := v.errand()
	if err != nil {
		return err
	}
	return c.ask(v, http.StatusOK, name, one, e, func(*actionBody) {})
}

// postAction does it, or asks again.
func (c *Console) postAction(v *visit) error {
	name, one, e, err := v.errand()
	if err != nil {
		return err
	}
	if problem := wrongWhy(e.Why); problem != "" {
		return c.ask(v, http.StatusUnprocessableEntity, name, one, e, func(b *actionBody) { b.Wrong = problem })
	}
	ctx, cancel := v.timed()
	defer cancel()
	told, err := one.carry(ctx, c, e, v.look.lang)
	if _, harms := errors.AsType[*intervene.HarmError](err); harms {
		return c.ask(v, http.StatusConflict, name, one, e, func(*actionBody) {})
	}
	if err != nil {
		c.opts.Logger.WarnContext(v.Context(), "an action of the console failed", "action", name, "by", e.By, "tenant", e.Tenant, "error", err)
		return c.ask(v, http.StatusConflict, name, one, e, func(b *actionBody) { b.Failed = v.failure(err) })
	}
	c.opts.Logger.InfoContext(v.Context(), "an action of the console was done", "action", name, "by", e.By, "tenant", e.Tenant)
	return c.show(v, http.StatusOK, "done", page{Title: "done.title"}, doneBody{name, e.named(), told, e.back()})
}

// meanwhile is what may have become of a subject since the question; it is nobody
// else's, and anybody who asked is told.
var meanwhile = []error{
	dirty.ErrNotDirty, dirty.ErrChanged, intervene.ErrNothing, intervene.ErrDeleted,
	registry.ErrUnknownTenant, registry.ErrUnknownStaff, registry.ErrUnknownCode,
}

// failure is why an action could not be finished.
func (v *visit) failure(err error) string {
	for _, known := range meanwhile {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return v.cause(err)
}

func wrongWhy(why string) string {
	switch {
	case why == "":
		return "ask.noreason"
	case len(why) > decision.MaxReason || !utf8.ValidString(why):
		return "ask.longreason"
	}
	return ""
}

// ask shows the question.
func (c *Console) ask(v *visit, status int, name string, one deed, e errand, change func(*actionBody)) error {
	ctx, cancel := v.timed()
	defer cancel()
	b := actionBody{
		Name: name, Subject: e.named(), URL: "/console/do/" + name, Back: e.back(), Danger: one.danger,
		Hidden: e.hidden(), Why: e.Why, MaxWhy: decision.MaxReason,
	}
	for _, f := range one.fields {
		f.Value = cmp.Or(v.asked(f), f.Value)
		b.Fields = append(b.Fields, f)
	}
	change(&b)
	if one.weigh != nil {
		w, err := one.weigh(ctx, c, e, v.look.lang)
		switch {
		case errors.Is(err, intervene.ErrNothing), errors.Is(err, intervene.ErrDeleted), errors.Is(err, intervene.ErrNoAction):
			b.Objections, b.Refused = []string{v.look.lang.orderError(err)}, true
		case err != nil:
			return err
		default:
			b.Facts, b.Objections = w.effect, w.harm
		}
	}
	return c.show(v, status, "action", page{Title: "do." + name}, b)
}

// asked is what was chosen for a field; "" is nothing that can be chosen.
func (v *visit) asked(f field) string {
	if text := v.FormValue(f.Name); slices.Contains(f.Options, text) {
		return text
	}
	return ""
}

// errand reads what is to be done, and whether the visitor may.
func (v *visit) errand() (name string, one deed, e errand, err error) {
	name = v.PathValue("action")
	one, there := deeds[name]
	if !there {
		return "", deed{}, errand{}, notFound
	}
	e = errand{
		Subject: intervene.Subject{Kind: intervene.Tenant, Tenant: v.FormValue("tenant")},
		For:     v.asked(askFor), Lane: v.asked(askLane), Repush: v.FormValue("repush") == "yes",
		By: v.by, Why: strings.TrimSpace(v.PostFormValue("why")), Insist: v.PostFormValue("anyway") == "yes", Now: v.now,
	}
	e.For, e.Lane = cmp.Or(e.For, askFor.Value), cmp.Or(e.Lane, askLane.Value)
	v.subject(name, &e)
	if err := v.mayDo(name, one, e); err != nil {
		return "", deed{}, errand{}, err
	}
	return name, one, e, nil
}

// subject reads what of a subject the deed is about, and nothing else: what a page
// names before an action is what the action is about.
func (v *visit) subject(name string, e *errand) {
	code, staff := v.FormValue("code"), v.FormValue("staff")
	switch {
	case aboutLetter(name):
		e.Tenant, e.Letter = "", v.FormValue("id")
	case name == retryAllName:
		e.Cause = reason.Reason(v.FormValue("reason"))
	case code != "":
		e.Kind, e.ID = intervene.Code, code
	case staff != "":
		e.Kind, e.ID = intervene.Staff, staff
	}
}

func aboutLetter(name string) bool { return strings.HasPrefix(name, "letter-") }

// mayDo refuses what the visitor must not do, and what names nothing.
func (v *visit) mayDo(name string, one deed, e errand) error {
	letter := aboutLetter(name)
	switch {
	case letter && (v.grant.Tenant != "" || e.Letter == "" || len(e.Letter) > maxParam):
		return notFound
	case !letter && (registry.CheckTenantID(e.Tenant) != nil || !v.grant.Reaches(e.Tenant)):
		return notFound
	case e.Kind == intervene.Code && !ident.Code(e.ID), e.Kind == intervene.Staff && registry.CheckStaffID(e.ID) != nil:
		return notFound
	case strings.HasPrefix(name, "dirty-") && name != retryAllName && e.Kind != intervene.Code,
		name == retryAllName && !known(e.Cause):
		return notFound
	case !slices.Contains(v.grant.Scopes, one.scope):
		return refusal{http.StatusForbidden, "error.scope", string(one.scope)}
	}
	return nil
}

// named is the subject for a person.
func (e errand) named() string {
	switch {
	case e.Letter != "":
		return e.Letter
	case e.Cause != "":
		return e.Tenant + " · " + string(e.Cause)
	case e.ID != "":
		return e.Tenant + "/" + e.ID
	}
	return e.Tenant
}

// back is where the visitor came from.
func (e errand) back() string {
	switch {
	case e.Letter != "":
		return "/console/letters"
	case e.Cause != "":
		return query("/console/dirty", "tenant", e.Tenant, "reason", e.Cause)
	case e.Kind == intervene.Code:
		return codeURL(e.Tenant, e.ID)
	case e.Kind == intervene.Staff:
		return staffURL(e.Tenant, e.ID)
	}
	return tenantURL(e.Tenant)
}

// hidden are what the form repeats of the subject.
func (e errand) hidden() [][2]string {
	var all [][2]string
	for _, pair := range [][2]string{{"tenant", e.Tenant}, {"id", e.Letter}, {"reason", string(e.Cause)}} {
		if pair[1] != "" {
			all = append(all, pair)
		}
	}
	if e.ID != "" {
		all = append(all, [2]string{string(e.Kind), e.ID})
	}
	return all
}
