package console

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/rollcall-dev/rollcall/internal/access"
	"github.com/rollcall-dev/rollcall/internal/board"
	"github.com/rollcall-dev/rollcall/internal/decision"
	"github.com/rollcall-dev/rollcall/internal/dirty"
	"github.com/rollcall-dev/rollcall/internal/explain"
	"github.com/rollcall-dev/rollcall/internal/fanout"
	"github.com/rollcall-dev/rollcall/internal/intervene"
	"github.com/rollcall-dev/rollcall/internal/letters"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/registry"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// Verifier knows tokens. access.ErrUnknown, ErrExpired and ErrRevoked refuse;
// any other error says that nobody could be asked.
type Verifier interface {
	// Verify returns what the bearer of a token may do.
	Verify(ctx context.Context, bearer string) (access.Grant, error)
	// Standing returns what a token that was shown before may do now.
	Standing(ctx context.Context, id string) (access.Grant, error)
}

// SignOuts are the sessions that were signed out, in whatever process.
type SignOuts interface {
	// End notes one, for as long as the session could last.
	End(ctx context.Context, session string, lasting time.Duration) error
	Ended(ctx context.Context, session string) (bool, error)
}

// Board is the whole installation at one look.
type Board interface {
	// View looks once. What could not be read is told in the View.
	View(ctx context.Context) (board.View, error)
	// Use is what a tenant asked of its budget, by minute, oldest first.
	Use(ctx context.Context, tenant string, since time.Time) ([]board.Minute, error)
}

// Explainer says why a list is as it is. A code that is not there, or another
// tenant's, is push.ErrUnknownCode or push.ErrWrongTenant.
type Explainer interface {
	// Explain asks WeCom too when live; that spends a call of the tenant's.
	Explain(ctx context.Context, ref push.Ref, live bool) (explain.Explanation, error)
}

// Facts are read as registry.Facts reads them.
type Facts interface {
	Tenant(ctx context.Context, tenant string) (registry.Tenant, error)
	StaffOf(ctx context.Context, tenant string, ids []string) (map[string]registry.Staff, error)
	ListCodes(ctx context.Context, tenant string, page registry.Page) ([]registry.Code, error)
	ListCodesOf(ctx context.Context, tenant roster.Tenant, staff string, page registry.Page) ([]registry.Code, error)
}

// Directory finds what is named, in order, at most limit of each.
type Directory interface {
	// Tenants are those whose ID begins with a text.
	Tenants(ctx context.Context, prefix string, limit int) ([]string, error)
	// Codes are those whose ID begins with a text, of a tenant or, for "", of all.
	Codes(ctx context.Context, tenant, prefix string, limit int) ([]push.Ref, error)
	// Staff are those of a tenant whose ID begins with a text.
	Staff(ctx context.Context, tenant, prefix string, limit int) ([]string, error)
	// Colleagues are the tenants, among some, that have a staff member of an ID.
	Colleagues(ctx context.Context, tenants []string, staff string) ([]string, error)
}

// DirtyFilter says which dirty codes are meant; the zero value means all.
type DirtyFilter struct {
	Tenant string
	Reason reason.Reason
}

// DirtyCode is an entry of the dirty set.
type DirtyCode struct {
	push.Ref
	Reasons   []reason.Reason
	Detail    string
	State     push.DirtyState
	Due       time.Time // when the keeper publishes it, or looks at it; zero: unknown
	FirstSeen time.Time
	Attempts  int
}

// DirtySet are the codes that could not be finished.
type DirtySet interface {
	List(ctx context.Context, which DirtyFilter, after push.Ref, limit int) ([]DirtyCode, error)
	// Desk is where a person decides about them.
	Desk(by string) dirty.Desk
}

// ErrUnset says that a part needs a setting that is not there.
var ErrUnset = errors.New("it is not configured")

// Letters are the dead letters. Their errors may wrap ErrUnset.
type Letters interface {
	Waiting(ctx context.Context, limit int) iter.Seq2[letters.Letter, error]
	Letter(ctx context.Context, id string) (letters.Letter, error)
	// AtDesk has a person decide about them.
	AtDesk(ctx context.Context, by string, do func(letters.Desk) error) error
}

// FanOuts are the newest fan-outs of each scope, by ID, of a tenant or, for "",
// of all.
type FanOuts interface {
	List(ctx context.Context, tenant, after string, limit int) ([]fanout.Job, error)
}

// Decisions are what people decided, the newest first, of a tenant or, for "",
// of all.
type Decisions interface {
	List(ctx context.Context, tenant string, limit int) ([]decision.Decision, error)
}

// Orders are weighed and carried out. intervene.Desk does.
type Orders interface {
	Weigh(ctx context.Context, o intervene.Order) (intervene.Weighed, error)
	Carry(ctx context.Context, o intervene.Order) (intervene.Done, error)
}

// Ports are what a Console works with. All are required.
type Ports struct {
	Verifier  Verifier
	SignOuts  SignOuts
	Board     Board
	Explainer Explainer
	Facts     Facts
	Directory Directory
	Dirty     DirtySet
	Letters   Letters
	FanOuts   FanOuts
	Decisions Decisions
	Orders    Orders
}
