package registry

import (
	"context"
	"errors"
	"time"

	"github.com/rollcall-dev/rollcall/internal/fanout"
	"github.com/rollcall-dev/rollcall/internal/publish"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// Errors of writes and reads. Another tenant's staff and codes are unknown.
var (
	ErrUnknownTenant = errors.New("no such tenant")
	ErrUnknownStaff  = errors.New("no such staff member")
	ErrUnknownCode   = errors.New("no such code")
	// ErrTaken says that a new code's ID is in use, be it by another tenant.
	ErrTaken = errors.New("the code's ID is in use")
)

// Tenant is a tenant as stored.
type Tenant struct {
	roster.Tenant
	// Unannounced names the write that nobody was told of yet; "" is none.
	Unannounced string
}

// Staff is a staff member as stored. His additions are not read.
type Staff struct {
	roster.Staff
	QuarantinedWhy string // for a person
	Unannounced    string // as of a Tenant
}

// Code is a code as stored.
type Code struct {
	roster.Code
	QRCode    string // the address of its image at WeCom; "" while there is none
	DeletedAt time.Time
}

// LeftBehind is a staff member, or a tenant, that was written and of which
// nobody was told: who wrote it has died, or could not reach anybody.
type LeftBehind struct {
	fanout.Scope
	Stamp string
}

// Page asks for a part of a list in the order of its IDs.
type Page struct {
	After string // the last ID of the page before; "" begins
	Limit int    // at least 1
}

// Facts is where facts are kept. A write is durable when it returns nil; after
// an error its outcome is unknown, and it may be repeated. Every read and write
// goes by the tenant: what another tenant has is not there.
type Facts interface {
	// Tenant returns a tenant; ErrUnknownTenant.
	Tenant(ctx context.Context, tenant string) (Tenant, error)
	// EditTenant changes a tenant and makes one that is not there. stamp
	// becomes its Unannounced, in the same write.
	EditTenant(ctx context.Context, edit TenantEdit, stamp string) error
	// StaffOf returns those of the staff members named that there are.
	StaffOf(ctx context.Context, tenant string, ids []string) (map[string]Staff, error)
	// EditStaff changes staff members, each named once, and makes those that are
	// not there.
	// stamp becomes their Unannounced, in the same write.
	EditStaff(ctx context.Context, tenant string, edits []StaffEdit, stamp string) error
	// ChangeStaff is EditStaff of one who is there; ErrUnknownStaff.
	ChangeStaff(ctx context.Context, tenant string, edit StaffEdit, stamp string) error
	// TenantAnnounced and StaffAnnounced clear Unannounced where it is still
	// the stamp.
	TenantAnnounced(ctx context.Context, tenant, stamp string) error
	StaffAnnounced(ctx context.Context, tenant string, ids []string, stamp string) error
	// LeftBehind returns what carries a stamp that sorts before one, at most
	// limit of each collection.
	LeftBehind(ctx context.Context, before string, limit int) ([]LeftBehind, error)
	// CodesOf returns those of the codes named that the tenant has.
	CodesOf(ctx context.Context, tenant string, ids []string) (map[string]Code, error)
	// PutCodes changes codes, each named once, and makes those that are not
	// there. Each edit
	// raises the code's revision, in the same write. It returns the IDs that
	// another tenant uses: those are not written.
	PutCodes(ctx context.Context, tenant string, edits []CodeEdit) (taken []string, err error)
	// ChangeCode is PutCodes of one that is there; ErrUnknownCode.
	ChangeCode(ctx context.Context, tenant string, edit CodeEdit) error
	// HoldCode writes an operator's hold on a code, which is no edit: the revision
	// stays. The zero Stop ends it. ErrUnknownCode.
	HoldCode(ctx context.Context, tenant, code string, hold roster.Stop) error

	// ListStaff, ListCodes and ListCodesOf return a page each. The last one is
	// of the codes on which a staff member may be listed: as a member, a
	// backup, or by the tenant's fallback.
	ListStaff(ctx context.Context, tenant string, page Page) ([]Staff, error)
	ListCodes(ctx context.Context, tenant string, page Page) ([]Code, error)
	ListCodesOf(ctx context.Context, tenant roster.Tenant, staff string, page Page) ([]Code, error)
}

// Publisher stores the reason to recompute a code and says where.
type Publisher interface {
	Refresh(ctx context.Context, ref push.Ref, why string) (publish.Place, error)
}

// Ways makes the contact ways of codes at WeCom.
type Ways interface {
	// Create makes the contact way of a code whose facts are stored, once,
	// however often it is asked for. After ErrWayPending it will be made
	// without being asked again.
	Create(ctx context.Context, ref push.Ref) error
	// Adopt gives the code a contact way that is at WeCom already.
	Adopt(ctx context.Context, ref push.Ref, configID string) error
}

// ErrWayPending says that a contact way is not made yet and will be.
var ErrWayPending = errors.New("the contact way is being made")

// WayError says that WeCom refuses a contact way, for a reason in the request.
type WayError struct {
	Field  string // what of the request WeCom refuses
	Detail string // WeCom's answer, for a person; holds no secret
}

// Error repeats the detail.
func (e *WayError) Error() string { return "WeCom refuses the contact way: " + e.Detail }

// Requester takes requests for fan-outs.
type Requester = fanout.Requester
