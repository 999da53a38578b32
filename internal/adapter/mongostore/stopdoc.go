package mongostore

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/rollcall-dev/rollcall/internal/registry"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// The fields of what operators stop; they are Rollcall's own, and producers leave
// them alone.
const (
	holdField = "hold"      // of a code or a tenant
	offField  = "taken_off" // of a staff member
)

type stopDoc struct {
	Since time.Time `bson:"since"`
	Until time.Time `bson:"until,omitempty"`
	By    string    `bson:"by"`
	Why   string    `bson:"why"`
}

// IsZero has the encoder leave out what is not stopped.
func (d stopDoc) IsZero() bool { return d.Since.IsZero() }

func (d stopDoc) stop() roster.Stop {
	s := roster.Stop(d)
	s.Since, s.Until = utc(s.Since), utc(s.Until)
	return s
}

// stopped adds to an update what an edit says of a stop; the zero Stop removes it.
func stopped(update bson.D, field string, change registry.Change[roster.Stop]) bson.D {
	stop, given := change.Value()
	switch {
	case !given:
		return update
	case stop.Since.IsZero():
		return merge(update, "$unset", bson.D{kv(field, "")})
	}
	return merge(update, "$set", bson.D{kv(field, stopDoc(stop))})
}
