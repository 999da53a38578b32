package mongostore

import (
	"time"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

// recordDoc is a document of the collection records. It is Rollcall's own:
// nobody else writes it.
type recordDoc struct {
	ID        string       `bson:"_id"` // tenant/code
	Tenant    string       `bson:"tenant"`
	Code      string       `bson:"code"`
	Epoch     int64        `bson:"epoch"`
	Committed committedDoc `bson:"committed"`
	Intents   []intentDoc  `bson:"intents"`
	Failure   failureDoc   `bson:"failure"`
	Search    searchDoc    `bson:"search,omitempty"`
	// NextChange is there only while there is one, for its index; so is the
	// change that the keeper took, which is the keeper's alone (changes.go).
	NextChange time.Time `bson:"next_change,omitempty"`
}

type searchDoc struct {
	List     string   `bson:"list"`
	Suspects []string `bson:"suspects"`
}

// committedDoc leaves its notes out when there are none, so that their index
// holds the noted records only.
type committedDoc struct {
	Members  []string        `bson:"members"`
	Hash     string          `bson:"hash"`
	Epoch    int64           `bson:"epoch"`
	At       time.Time       `bson:"at"`
	Revision int64           `bson:"revision"`
	Notes    []reason.Reason `bson:"notes,omitempty"`
	Rotates  bool            `bson:"rotates,omitempty"`
}

type intentDoc struct {
	Epoch    int64     `bson:"epoch"`
	Hash     string    `bson:"hash"`
	Owner    string    `bson:"owner"`
	Deadline time.Time `bson:"deadline"`
}

type failureDoc struct {
	Streak    int           `bson:"streak"`
	Class     reason.Reason `bson:"class"`
	ErrCode   int           `bson:"err_code"`
	Message   string        `bson:"message"`
	NotBefore time.Time     `bson:"not_before"`
}

func (d recordDoc) record() push.Record {
	r := push.Record{Code: d.Code, Epoch: d.Epoch, Committed: push.Committed(d.Committed), Failure: push.Failure(d.Failure), Search: push.Search(d.Search)}
	r.Committed.At = utc(d.Committed.At)
	r.Failure.NotBefore = utc(d.Failure.NotBefore)
	r.NextChange = utc(d.NextChange)
	for _, i := range d.Intents {
		i.Deadline = utc(i.Deadline)
		r.Intents = append(r.Intents, push.Intent(i))
	}
	return r
}
