package adoption

import (
	"context"
	"time"

	"github.com/rollcall-dev/rollcall/internal/contactway"
	"github.com/rollcall-dev/rollcall/internal/fanout"
	"github.com/rollcall-dev/rollcall/internal/publish"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// Vendor is what this package asks of WeCom. Each is one call; its error is, or
// wraps, a *push.CallError.
type Vendor interface {
	// WayIDs returns a page of the config IDs of the contact ways made within a
	// window, and the cursor of the next page: "" for the first, and after the
	// last.
	WayIDs(ctx context.Context, tenant string, made contactway.Window, cursor string) (ids []string, next string, err error)
	// ContactWay returns a contact way; false when WeCom has none of that ID.
	ContactWay(ctx context.Context, tenant, configID string) (contactway.Way, bool, error)
}

// Jobs keeps imports and their rows. A write is durable when it returns nil;
// after an error its outcome is unknown, and it may be repeated.
type Jobs interface {
	// Job returns the newest import of a tenant; false when there is none.
	Job(ctx context.Context, tenant string) (Job, bool, error)
	// Take stores a job whole, its claim included, if the tenant's is still the
	// one seen, by its token, and nobody works on it at an instant. A zero seen
	// stands for none.
	Take(ctx context.Context, seen, job Job, now time.Time) (bool, error)
	// Save stores a job whole if its claim's token is still the stored one.
	Save(ctx context.Context, job Job) (bool, error)
	// Release ends the job's claim, if its token is still the stored one.
	Release(ctx context.Context, job Job) error
	// PutRow writes a row of the job's run. It reports false, having changed
	// nothing, when a later claim has written it.
	PutRow(ctx context.Context, job Job, row Row) (bool, error)
	// Row returns a row of the job's run; false when there is none.
	Row(ctx context.Context, job Job, seq int) (Row, bool, error)
	// Clear removes the rows of the tenant's other runs.
	Clear(ctx context.Context, job Job) error
}

// Tenant is what an import has to know of a tenant; the zero Tenant is one that
// is not there.
type Tenant struct {
	Shadow bool // its lists are decided, and not pushed
	Codes  bool // it has codes, deleted ones included
}

// Holder is a code that has a contact way; the zero Holder is none.
type Holder struct {
	Code string
	Run  string // of the import that made it; "" for every other
}

// NewCode is a code to be made of a contact way.
type NewCode struct {
	roster.Code
	QRCode string
	Run    string
}

// Facts is what this package reads and writes of facts. Writes are as those of
// Jobs.
type Facts interface {
	// Tenant returns what there is to know of a tenant.
	Tenant(ctx context.Context, tenant string) (Tenant, error)
	// Shadow has a tenant decided and not pushed, and makes one that is not
	// there.
	Shadow(ctx context.Context, tenant string) error
	// Holders returns the codes of a tenant, deleted ones included, that have
	// the contact ways named, by config ID. Of several that have the same one it
	// is any.
	Holders(ctx context.Context, tenant string, configIDs []string) (map[string]Holder, error)
	// AddStaff makes those of the staff members named that are not there.
	AddStaff(ctx context.Context, tenant string, staff []string) error
	// AddCode makes a code of revision 1. It reports false, having changed
	// nothing, when its ID is in use, whoever's the code is.
	AddCode(ctx context.Context, code NewCode) (bool, error)
}

// Announcer stores the reason to recompute a code (publish.Publisher).
type Announcer interface {
	Refresh(ctx context.Context, ref push.Ref, why string) (publish.Place, error)
}

// Observer watches an import, from its own goroutine: it must not wait.
type Observer interface {
	// Progressed tells of a step.
	Progressed(job Job)
	// Waits tells that nothing is asked of WeCom until an instant, and why.
	Waits(job Job, until time.Time, cause error)
}

// Ports are what an Importer needs. All are required.
type Ports struct {
	Vendor    Vendor
	Jobs      Jobs
	Facts     Facts
	Announcer Announcer
	FanOuts   fanout.Requester
	Observer  Observer
}
