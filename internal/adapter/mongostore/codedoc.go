package mongostore

import (
	"slices"
	"time"

	"github.com/rollcall-dev/rollcall/internal/roster"
)

// codeDoc is a document of the collection codes (docs/facts.md).
type codeDoc struct {
	ID         string      `bson:"_id"`
	Tenant     string      `bson:"tenant"`
	ConfigID   string      `bson:"config_id"`
	Family     string      `bson:"family"`
	Members    []memberDoc `bson:"members"`
	Backups    []string    `bson:"backups,omitempty"`
	Switches   switchesDoc `bson:"switches"`
	OnEmpty    string      `bson:"on_empty,omitempty"`
	Revision   int64       `bson:"revision"`
	CreatedAt  time.Time   `bson:"created_at,omitempty"`
	UpdatedAt  time.Time   `bson:"updated_at,omitempty"`
	Lane       string      `bson:"lane,omitempty"`
	Mode       string      `bson:"mode,omitempty"`
	Term       int64       `bson:"term,omitempty"`
	Deleted    bool        `bson:"deleted,omitempty"`
	Remark     string      `bson:"remark,omitempty"`
	State      string      `bson:"state,omitempty"`
	SkipVerify bool        `bson:"skip_verify,omitempty"`
	Hold       stopDoc     `bson:"hold,omitempty"` // an operator's
}

type memberDoc struct {
	Staff      string `bson:"staff"`
	AddLimit   int    `bson:"add_limit,omitempty"`
	DailyLimit int    `bson:"daily_limit,omitempty"`
	RoundLimit int    `bson:"round_limit,omitempty"`
}

type switchesDoc struct {
	OfflineCheck bool `bson:"offline_check,omitempty"`
	AddLimit     bool `bson:"add_limit,omitempty"`
	DailyLimit   bool `bson:"daily_limit,omitempty"`
	RoundLimit   bool `bson:"round_limit,omitempty"`
}

// codeFields are the fields that a verdict needs; producers may keep others.
var codeFields = []string{
	"tenant", "config_id", "family", "members", "backups", "switches", "on_empty", "revision",
	"created_at", "updated_at", "lane", "mode", "term", "deleted", "remark", "state", "skip_verify",
}

func (d codeDoc) code() roster.Code {
	return roster.Code{
		ID:         d.ID,
		Tenant:     d.Tenant,
		ConfigID:   d.ConfigID,
		Family:     roster.Family(d.Family),
		Members:    membersOf(d.Members),
		Backups:    d.Backups,
		Switches:   roster.Switches(d.Switches),
		OnEmpty:    roster.EmptyPolicy(d.OnEmpty),
		Revision:   d.Revision,
		CreatedAt:  utc(d.CreatedAt),
		UpdatedAt:  utc(d.UpdatedAt),
		Lane:       roster.LaneSwitch(d.Lane),
		Mode:       roster.Mode(d.Mode),
		Term:       d.Term,
		Deleted:    d.Deleted,
		Remark:     d.Remark,
		State:      d.State,
		SkipVerify: d.SkipVerify,
		Hold:       d.Hold.stop(),
	}
}

func codeDocOf(c roster.Code) codeDoc {
	return codeDoc{
		ID:         c.ID,
		Tenant:     c.Tenant,
		ConfigID:   c.ConfigID,
		Family:     string(c.Family),
		Members:    memberDocsOf(c.Members),
		Backups:    slices.Clone(c.Backups),
		Switches:   switchesDoc(c.Switches),
		OnEmpty:    string(c.OnEmpty),
		Revision:   c.Revision,
		CreatedAt:  c.CreatedAt,
		UpdatedAt:  c.UpdatedAt,
		Lane:       string(c.Lane),
		Mode:       string(c.Mode),
		Term:       c.Term,
		Deleted:    c.Deleted,
		Remark:     c.Remark,
		State:      c.State,
		SkipVerify: c.SkipVerify,
	}
}

func membersOf(docs []memberDoc) []roster.Member {
	var members []roster.Member
	for _, d := range docs {
		members = append(members, roster.Member(d))
	}
	return members
}

// memberDocsOf never returns nil: a code without members has an empty array.
func memberDocsOf(members []roster.Member) []memberDoc {
	docs := make([]memberDoc, 0, len(members))
	for _, m := range members {
		docs = append(docs, memberDoc(m))
	}
	return docs
}
