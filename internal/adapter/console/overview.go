package console

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/rollcall-dev/rollcall/internal/board"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

// overview is what the first page shows.
type overview struct{ View board.View }

// counted is how often a reason is there.
type counted struct {
	Reason reason.Reason
	N      int
}

// Counts are those of a map, most first.
func (overview) Counts(by map[reason.Reason]int) []counted {
	all := make([]counted, 0, len(by))
	for why, n := range by {
		all = append(all, counted{why, n})
	}
	slices.SortFunc(all, func(a, b counted) int { return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(a.Reason, b.Reason)) })
	return all
}

// Partly reports a part that could not be read: what is wrong there nobody knows.
func (o overview) Partly() bool {
	return slices.ContainsFunc(o.View.Unread, func(u board.Unread) bool { return !u.Unset })
}

// MostWaiting is the most codes that wait of one tenant.
func (o overview) MostWaiting() int {
	most := 1
	for _, tenant := range o.View.Work.Top {
		most = max(most, tenant.Waiting())
	}
	return most
}

// aged is one row of the table of ages.
type aged struct {
	Words string
	board.Quantiles
}

// Ages are the rows of the table of ages.
func (o overview) Ages() []aged {
	f := o.View.Freshness
	return []aged{
		{"freshness.promised5", f.LastFive.Quantiles},
		{"freshness.promised", f.LastHour.Quantiles},
		{"freshness.throttled", f.Throttled},
		{"freshness.slow", f.Slow},
	}
}

// Grade says how a share within the objective looks.
func (overview) Grade(share float64) string {
	switch {
	case share >= board.Objective:
		return "good"
	case share >= 1-2*(1-board.Objective):
		return "warn"
	}
	return "bad"
}

// Left says how what is left of the budget for late pushes looks.
func (overview) Left(share float64) string {
	switch {
	case share <= 0:
		return "bad"
	case share < 0.25:
		return "warn"
	}
	return ""
}

// Hot says how a part of a limit looks.
func (overview) Hot(n, limit int) string {
	switch {
	case n >= limit:
		return "bad"
	case n*10 >= limit*8:
		return "warn"
	}
	return ""
}

// getOverview shows all tenants to whoever reaches all, and his own to others.
func (c *Console) getOverview(v *visit) error {
	if v.grant.Tenant != "" {
		return v.redirect(tenantURL(v.grant.Tenant))
	}
	ctx, cancel := v.timed()
	defer cancel()
	view, err := c.looked.Get(ctx)
	if err != nil {
		return err
	}
	return c.show(v, http.StatusOK, "overview", overviewPage, overview{view})
}

var overviewPage = page{Title: "overview.title", Nav: "overview", Live: "/console/live?page=overview"}

// viewFor is how long a look at the board is shown to all.
const viewFor = time.Second

// lookAtBoard looks once for all who wait, and so goes on when whoever asked is
// gone.
func lookAtBoard(at Board) func(context.Context) (board.View, error) {
	return func(ctx context.Context) (board.View, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), pageTime)
		defer cancel()
		view, _ := at.View(ctx) // it says itself what could not be read
		return view, nil
	}
}
