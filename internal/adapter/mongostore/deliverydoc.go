package mongostore

import (
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/rollcall-dev/rollcall/internal/notify"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// deliveryDoc is a document of the collection deliveries. Open and held are
// there only in the states that they are about, so that their indexes hold
// those rows only, however many have come to their end.
type deliveryDoc struct {
	ID      string        `bson:"_id"` // tenant/id
	Tenant  string        `bson:"tenant"`
	Via     notify.Via    `bson:"via"`
	Notice  noticeDoc     `bson:"notice"`
	FiledAt time.Time     `bson:"filed_at"`
	State   notify.State  `bson:"state"`
	Attempt int           `bson:"attempt"`
	Owner   string        `bson:"owner"`
	Tries   int           `bson:"tries"`
	PoolDay roster.Day    `bson:"pool_day"`
	Paid    bool          `bson:"paid"`
	Cause   reason.Reason `bson:"cause"`
	Detail  string        `bson:"detail"`
	At      time.Time     `bson:"at"`
	Open    *openDoc      `bson:"open,omitempty"`
	Held    *heldDoc      `bson:"held,omitempty"`
}

type noticeDoc struct {
	Key   string      `bson:"key"`
	Kind  notify.Kind `bson:"kind"`
	Code  string      `bson:"code,omitempty"`
	Staff string      `bson:"staff,omitempty"`
	Day   roster.Day  `bson:"day,omitempty"`
	Count int         `bson:"count,omitempty"`
	Limit int         `bson:"limit,omitempty"`
	At    time.Time   `bson:"at"`
}

type openDoc struct {
	Lane    string    `bson:"lane"` // tenant/via
	Due     time.Time `bson:"due"`
	FiledAt time.Time `bson:"filed_at"`
}

type heldDoc struct {
	Tenant  string    `bson:"tenant"`
	FiledAt time.Time `bson:"filed_at"`
}

func deliveryRowID(row notify.Delivery) string { return scoped(row.Notice.Tenant, row.ID) }

func laneName(lane notify.Lane) string { return scoped(lane.Tenant, string(lane.Via)) }

func deliveryDocOf(row notify.Delivery) deliveryDoc {
	n, p := row.Notice, row.Progress
	d := deliveryDoc{
		ID: deliveryRowID(row), Tenant: n.Tenant, Via: row.Via, FiledAt: row.FiledAt,
		Notice: noticeDoc{
			Key: n.Key, Kind: n.Kind, Code: n.Code, Staff: n.Staff, Day: n.Day,
			Count: n.Count, Limit: n.Limit, At: n.At,
		},
		State: p.State, Attempt: p.Attempt, Owner: p.Owner, Tries: p.Tries,
		PoolDay: p.PoolDay, Paid: p.Paid, Cause: p.Cause, Detail: p.Detail, At: p.At,
	}
	if !p.Due.IsZero() {
		d.Open = &openDoc{Lane: laneName(row.Lane()), Due: p.Due, FiledAt: row.FiledAt}
	}
	if p.State == notify.Held {
		d.Held = &heldDoc{Tenant: n.Tenant, FiledAt: row.FiledAt}
	}
	return d
}

// update sets all that a move changes.
func (d deliveryDoc) update() bson.D {
	set := bson.D{
		kv("state", d.State), kv("attempt", d.Attempt), kv("owner", d.Owner), kv("tries", d.Tries),
		kv("pool_day", d.PoolDay), kv("paid", d.Paid), kv("cause", d.Cause), kv("detail", d.Detail), kv("at", d.At),
	}
	var unset bson.D
	if d.Open != nil {
		set = append(set, kv("open", d.Open))
	} else {
		unset = append(unset, kv("open", ""))
	}
	if d.Held != nil {
		set = append(set, kv("held", d.Held))
	} else {
		unset = append(unset, kv("held", ""))
	}
	update := bson.D{kv("$set", set)}
	if len(unset) > 0 {
		update = append(update, kv("$unset", unset))
	}
	return update
}

func (d deliveryDoc) delivery() notify.Delivery {
	_, id, _ := strings.Cut(d.ID, "/")
	n := d.Notice
	row := notify.Delivery{
		ID: id, Via: d.Via, FiledAt: utc(d.FiledAt),
		Notice: notify.Notice{
			Key: n.Key, Tenant: d.Tenant, Kind: n.Kind, Code: n.Code, Staff: n.Staff, Day: n.Day,
			Count: n.Count, Limit: n.Limit, At: utc(n.At),
		},
		Progress: notify.Progress{
			State: d.State, Attempt: d.Attempt, Owner: d.Owner, Tries: d.Tries,
			PoolDay: d.PoolDay, Paid: d.Paid, Cause: d.Cause, Detail: d.Detail, At: utc(d.At),
		},
	}
	if d.Open != nil {
		row.Due = utc(d.Open.Due)
	}
	return row
}
