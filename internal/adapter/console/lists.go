package console

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rollcall-dev/rollcall/internal/access"
	"github.com/rollcall-dev/rollcall/internal/decision"
	"github.com/rollcall-dev/rollcall/internal/fanout"
	"github.com/rollcall-dev/rollcall/internal/letters"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/registry"
)

// chosenTenant is the tenant that a list is about; "" is all, for whoever reaches
// all.
func (v *visit) chosenTenant() (string, error) {
	tenant := strings.TrimSpace(v.param("tenant"))
	switch {
	case v.grant.Tenant == "":
	case tenant == "":
		tenant = v.grant.Tenant
	case tenant != v.grant.Tenant:
		return "", notFound
	}
	if tenant != "" && registry.CheckTenantID(tenant) != nil {
		return "", notFound
	}
	return tenant, nil
}

// fanOutsBody is what the page of fan-outs shows.
type fanOutsBody struct {
	Tenant string
	Jobs   []fanout.Job
	More   string
}

func (c *Console) getFanOuts(v *visit) error {
	ctx, cancel := v.timed()
	defer cancel()
	tenant, err := v.chosenTenant()
	if err != nil {
		return err
	}
	jobs, err := c.FanOuts.List(ctx, tenant, v.param("after"), jobsOnPage+1)
	if err != nil {
		return err
	}
	body := fanOutsBody{Tenant: tenant}
	var more bool
	if body.Jobs, more = cut(jobs, jobsOnPage); more {
		body.More = query("/console/fanouts", "tenant", tenant, "after", body.Jobs[jobsOnPage-1].ID)
	}
	slices.SortStableFunc(body.Jobs, func(a, b fanout.Job) int { return b.Requested.Compare(a.Requested) })
	return c.show(v, http.StatusOK, "fanouts", page{Title: "fanouts.title", Nav: "fanouts"}, body)
}

// dirtyBody is what the page of the dirty set shows.
type dirtyBody struct {
	Tenant  string
	Reason  reason.Reason
	Reasons []reason.Reason // to choose from
	Codes   []DirtyCode
	More    string
	All     string // address of the retry of all that are meant; "" for none
}

func (c *Console) getDirty(v *visit) error {
	ctx, cancel := v.timed()
	defer cancel()
	tenant, err := v.chosenTenant()
	if err != nil {
		return err
	}
	body := dirtyBody{Tenant: tenant, Reason: reason.Reason(v.param("reason")), Reasons: dirtyReasons}
	if body.Reason != "" && !known(body.Reason) {
		return notFound
	}
	codes, err := c.Dirty.List(ctx, DirtyFilter{Tenant: tenant, Reason: body.Reason}, refOf(v.param("after")), dirtyOnPage+1)
	if err != nil {
		return err
	}
	var more bool
	if body.Codes, more = cut(codes, dirtyOnPage); more {
		last := body.Codes[dirtyOnPage-1]
		body.More = query("/console/dirty", "tenant", tenant, "reason", body.Reason, "after", last.Tenant+"/"+last.Code)
	}
	if tenant != "" && body.Reason != "" && len(body.Codes) > 1 && v.may(access.Write, tenant) {
		body.All = query("/console/do/dirty-retry-all", "tenant", tenant, "reason", body.Reason)
	}
	return c.show(v, http.StatusOK, "dirty", page{Title: "dirty.title", Nav: "dirty"}, body)
}

func refOf(text string) push.Ref {
	tenant, code, _ := strings.Cut(text, "/")
	return push.Ref{Tenant: tenant, Code: code}
}

// lettersOnPage is how many dead letters are shown.
const lettersOnPage = 100

// lettersBody is what the page of dead letters shows.
type lettersBody struct {
	Letters []letters.Letter
	Full    bool
	Unset   bool
	Away    string
}

// getLetters shows dead letters to whoever reaches all tenants: whose a message
// is that nobody could read, nobody knows.
func (c *Console) getLetters(v *visit) error {
	ctx, cancel := v.timed()
	defer cancel()
	if v.grant.Tenant != "" {
		return notFound
	}
	var body lettersBody
	for letter, err := range c.Letters.Waiting(ctx, lettersOnPage) {
		if errors.Is(err, ErrUnset) {
			body.Unset = true
			break
		}
		if err != nil {
			body.Away = err.Error()
			break
		}
		body.Letters = append(body.Letters, letter)
	}
	body.Full = len(body.Letters) >= lettersOnPage
	return c.show(v, http.StatusOK, "letters", page{Title: "letters.title", Nav: "letters"}, body)
}

// maxShown is how many bytes of a letter are shown.
const maxShown = 8 << 10

// letterBody is what a dead letter's page shows.
type letterBody struct {
	Letter  letters.Letter
	Payload string
	Cut     bool
}

func (c *Console) getLetter(v *visit) error {
	ctx, cancel := v.timed()
	defer cancel()
	if v.grant.Tenant != "" {
		return notFound
	}
	letter, err := c.Letters.Letter(ctx, v.param("id"))
	if err != nil {
		return letterError(err)
	}
	body := letterBody{Letter: letter, Payload: readable(letter.Payload), Cut: letter.Truncated || len(letter.Payload) > maxShown}
	return c.show(v, http.StatusOK, "letter", page{Title: "kind.letter", Named: letter.ID, Nav: "letters"}, body)
}

func letterError(err error) error {
	switch {
	case errors.Is(err, letters.ErrUnknown), errors.Is(err, letters.ErrSettled):
		return notFound
	case errors.Is(err, ErrUnset):
		return refusal{http.StatusServiceUnavailable, "letters.unset", "ROLLCALL_PULSAR_ADMIN_URL"}
	}
	return err
}

// readable is a payload as a person reads it: JSON in lines, else what of it is
// text.
func readable(payload []byte) string {
	var indented strings.Builder
	var value any
	if json.Unmarshal(payload, &value) == nil {
		encoder := json.NewEncoder(&indented)
		encoder.SetIndent("", "  ")
		encoder.SetEscapeHTML(false)
		if encoder.Encode(value) == nil && indented.Len() <= maxShown {
			return indented.String()
		}
	}
	shown := string(payload[:min(len(payload), maxShown)])
	if utf8.ValidString(shown) {
		return shown
	}
	return strings.ToValidUTF8(shown, "\ufffd")
}

// decisionsOnPage is how many decisions are shown.
const decisionsOnPage = 200

// decisionsBody is what the page of decisions shows.
type decisionsBody struct {
	Tenant    string
	Decisions []decision.Decision
}

func (c *Console) getDecisions(v *visit) error {
	ctx, cancel := v.timed()
	defer cancel()
	tenant, err := v.chosenTenant()
	if err != nil {
		return err
	}
	body := decisionsBody{Tenant: tenant}
	if body.Decisions, err = c.Decisions.List(ctx, tenant, decisionsOnPage); err != nil {
		return err
	}
	if v.grant.Tenant != "" {
		for n := range body.Decisions {
			body.Decisions[n].Failure = "" // it may name what is others', see cause
		}
	}
	return c.show(v, http.StatusOK, "decisions", page{Title: "decisions.title", Nav: "decisions"}, body)
}
