package console

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/rollcall-dev/rollcall/internal/fanout"
	"github.com/rollcall-dev/rollcall/internal/ident"
	"github.com/rollcall-dev/rollcall/internal/push"
)

// Bounds of a search.
const (
	maxFound    = 20  // of each kind
	maxSearched = 200 // tenants in which a staff member is looked for by his whole ID
)

// searchBody is what a search has found.
type searchBody struct {
	Query   string
	Wrong   bool // no ID begins like that
	Tenants []string
	Codes   []push.Ref
	Staff   []fanout.Scope // a tenant's staff member each
	Full    bool           // of some kind there are more
	Most    int
	Among   int // tenants in which staff were looked for; 0: in all that there are
}

// getSearch finds tenants, codes and staff by the beginning of their IDs. What is
// found alone is shown at once.
func (c *Console) getSearch(v *visit) error {
	ctx, cancel := v.timed()
	defer cancel()
	body := searchBody{Query: strings.TrimSpace(v.param("q")), Most: maxFound}
	if body.Query != "" {
		if err := c.search(ctx, v, &body); err != nil {
			return err
		}
	}
	if to := body.only(); to != "" {
		return v.redirect(to)
	}
	return c.show(v, http.StatusOK, "search", page{Title: "search.title", Query: body.Query}, body)
}

func (c *Console) search(ctx context.Context, v *visit, body *searchBody) error {
	tenant, text := v.grant.Tenant, body.Query
	if named, rest, both := strings.Cut(text, "/"); both && ident.Tenant(named) && v.grant.Reaches(named) {
		tenant, text = named, rest
	}
	if len(text) > ident.MaxCode || strings.ContainsRune(text, 0) {
		body.Wrong = true
		return nil
	}
	return errors.Join(c.searchCodes(ctx, tenant, text, body), c.searchStaff(ctx, tenant, text, body), c.searchTenants(ctx, v, tenant, text, body))
}

func (c *Console) searchCodes(ctx context.Context, tenant, text string, body *searchBody) (err error) {
	if !ident.Plain(text) {
		return nil
	}
	body.Codes, err = c.Directory.Codes(ctx, tenant, text, maxFound+1)
	body.Codes = atMost(body, body.Codes)
	return err
}

// searchStaff looks among a tenant's staff by the beginning of an ID, and among
// all tenants' by the whole ID: their own order is by tenant.
func (c *Console) searchStaff(ctx context.Context, tenant, text string, body *searchBody) error {
	if len(text) > ident.MaxStaff || text == "" {
		return nil
	}
	if tenant != "" {
		ids, err := c.Directory.Staff(ctx, tenant, text, maxFound+1)
		for _, id := range atMost(body, ids) {
			body.Staff = append(body.Staff, fanout.Scope{Tenant: tenant, Staff: id})
		}
		return err
	}
	tenants, err := c.Directory.Tenants(ctx, "", maxSearched+1)
	if err != nil {
		return err
	}
	tenants, more := cut(tenants, maxSearched)
	if more {
		body.Among = maxSearched
	}
	found, err := c.Directory.Colleagues(ctx, tenants, text)
	for _, of := range atMost(body, found) {
		body.Staff = append(body.Staff, fanout.Scope{Tenant: of, Staff: text})
	}
	return err
}

func (c *Console) searchTenants(ctx context.Context, v *visit, tenant, text string, body *searchBody) error {
	if v.grant.Tenant != "" || tenant != "" || !ident.Plain(text) {
		return nil
	}
	found, err := c.Directory.Tenants(ctx, text, maxFound+1)
	body.Tenants = atMost(body, found)
	return err
}

func atMost[T any](body *searchBody, all []T) []T {
	all, more := cut(all, maxFound)
	body.Full = body.Full || more
	return all
}

// only is the address of the only thing found, if it is named in full; "" else.
func (b searchBody) only() string {
	_, text, both := strings.Cut(b.Query, "/")
	if !both {
		text = b.Query
	}
	if len(b.Tenants)+len(b.Codes)+len(b.Staff) != 1 || len(b.Staff) == 1 && b.Among > 0 {
		return ""
	}
	switch {
	case len(b.Codes) == 1 && b.Codes[0].Code == text:
		return codeURL(b.Codes[0].Tenant, b.Codes[0].Code)
	case len(b.Staff) == 1 && b.Staff[0].Staff == text:
		return staffURL(b.Staff[0].Tenant, b.Staff[0].Staff)
	case len(b.Tenants) == 1 && b.Tenants[0] == text:
		return tenantURL(text)
	}
	return ""
}
