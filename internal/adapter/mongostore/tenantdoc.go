package mongostore

import (
	"time"

	"github.com/rollcall-dev/rollcall/internal/roster"
)

// tenantDoc is a document of the collection tenants (docs/facts.md).
type tenantDoc struct {
	ID              string   `bson:"_id"`
	TimeZone        string   `bson:"time_zone,omitempty"`
	DailyTotal      int      `bson:"daily_total,omitempty"`
	Fallback        []string `bson:"fallback,omitempty"`
	Tier            string   `bson:"tier,omitempty"`
	Whitelisted     bool     `bson:"whitelisted,omitempty"`
	Lane            string   `bson:"lane,omitempty"`
	MaxRemovalShare float64  `bson:"max_removal_share,omitempty"`
	Mode            string   `bson:"mode,omitempty"`
	Term            int64    `bson:"term,omitempty"`
	// Suspension is Rollcall's own; producers leave it alone.
	Suspension suspensionDoc `bson:"suspension,omitempty"`
	Hold       stopDoc       `bson:"hold,omitempty"` // an operator's
}

type suspensionDoc struct {
	Since     time.Time `bson:"since"`
	NextProbe time.Time `bson:"next_probe"`
	Probes    int       `bson:"probes"`
	Detail    string    `bson:"detail"`
}

// tenantFields are the fields that producers write and a verdict needs;
// producers may keep others.
var tenantFields = []string{
	"time_zone", "daily_total", "fallback", "tier", "whitelisted", "lane", "max_removal_share", "mode", "term",
}

func (d tenantDoc) tenant() roster.Tenant {
	return roster.Tenant{
		ID:              d.ID,
		TimeZone:        d.TimeZone,
		DailyTotal:      d.DailyTotal,
		Fallback:        d.Fallback,
		Tier:            d.Tier,
		Whitelisted:     d.Whitelisted,
		Lane:            roster.LaneSwitch(d.Lane),
		MaxRemovalShare: d.MaxRemovalShare,
		Mode:            roster.Mode(d.Mode),
		Term:            d.Term,
		Suspension:      d.Suspension.suspension(),
		Hold:            d.Hold.stop(),
	}
}

func (d suspensionDoc) suspension() roster.Suspension {
	s := roster.Suspension(d)
	s.Since, s.NextProbe = utc(s.Since), utc(s.NextProbe)
	return s
}

func tenantDocOf(t roster.Tenant) tenantDoc {
	return tenantDoc{
		ID:              t.ID,
		TimeZone:        t.TimeZone,
		DailyTotal:      t.DailyTotal,
		Fallback:        t.Fallback,
		Tier:            t.Tier,
		Whitelisted:     t.Whitelisted,
		Lane:            string(t.Lane),
		MaxRemovalShare: t.MaxRemovalShare,
		Mode:            string(t.Mode),
		Term:            t.Term,
	}
}
