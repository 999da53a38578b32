package preflight

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// Store is MongoDB.
type Store interface {
	Ping(ctx context.Context) error
	// Server returns what the server says of itself.
	Server(ctx context.Context) (StoreServer, error)
	// TryWrite writes one small document with majority, and removes it.
	TryWrite(ctx context.Context) error
	// MissingIndexes names the indexes that are not there, or are others.
	MissingIndexes(ctx context.Context) ([]string, error)
	EnsureIndexes(ctx context.Context) error
	// Unopened counts the tenants' secrets, those that no key of ours opens, and
	// those in clear.
	Unopened(ctx context.Context) (all, unopened, inClear int, err error)
}

// StoreServer is what MongoDB says of itself.
type StoreServer struct {
	Version string
	Set     string // the replica set; "" for a single server
	Members int    // that hold data
	Sharded bool
	Clock   Reading
}

// store looks at MongoDB.
type store struct {
	Store
	margin time.Duration
}

// MongoDBChecks are the checks of MongoDB; margin is the one for clocks.
func MongoDBChecks(s Store, margin time.Duration) []Check {
	m := store{s, margin}
	after := []string{"mongodb.reach"}
	return []Check{
		{Name: "mongodb.reach", Look: m.reach},
		{Name: "mongodb.version", After: after, Look: m.server(storeVersion)},
		{Name: "mongodb.replica_set", After: after, Look: m.server(replicaSet)},
		{Name: "mongodb.clock", After: after, Look: m.server(func(s StoreServer) Finding { return clock(s.Clock, margin) })},
		{Name: "mongodb.write", After: after, Look: m.write},
		{Name: "mongodb.indexes", After: after, Look: m.indexes, Mend: m.makeIndexes},
		{Name: "mongodb.secrets", After: after, Look: m.secrets},
	}
}

const storeHint = "see ROLLCALL_MONGODB_URI, ROLLCALL_MONGODB_TLS_* and the network"

func (m store) reach(ctx context.Context) Finding {
	if err := m.Ping(ctx); err != nil {
		return fail(err.Error(), storeHint)
	}
	return ok("the primary answers")
}

func (m store) server(judge func(StoreServer) Finding) func(context.Context) Finding {
	return func(ctx context.Context) Finding {
		s, err := m.Server(ctx)
		if err != nil {
			return fail(err.Error(), storeHint)
		}
		return judge(s)
	}
}

func storeVersion(s StoreServer) Finding {
	if older(s.Version, "4.4") {
		return fail(s.Version+" is older than what the driver and the queries need", "upgrade to 6.0 or newer")
	}
	if older(s.Version, "6") {
		return warn(s.Version+" gets no security fixes any more", "upgrade to 6.0 or newer")
	}
	return ok(s.Version)
}

func replicaSet(s StoreServer) Finding {
	switch {
	case s.Sharded:
		return ok("a sharded cluster")
	case s.Set == "":
		return warn("a single server, for development only: its loss is the loss of all records, and nothing takes over",
			"run a replica set of three members that hold data")
	case s.Members < 3:
		return warn(fmt.Sprintf("replica set %s with %d members that hold data: writes with majority stop, or are on one copy, when one is lost", s.Set, s.Members),
			"add members until three hold data")
	}
	return ok(fmt.Sprintf("replica set %s, %d members that hold data", s.Set, s.Members))
}

func (m store) write(ctx context.Context) Finding {
	if err := m.TryWrite(ctx); err != nil {
		return fail("a write with majority: "+err.Error(), "give the user readWrite on the database, and see that a majority of the members is up")
	}
	return ok("a majority confirms")
}

// namedIndexes is how many missing indexes are named.
const namedIndexes = 5

func (m store) indexes(ctx context.Context) Finding {
	missing, err := m.MissingIndexes(ctx)
	if err != nil {
		return fail(err.Error(), storeHint)
	}
	if len(missing) == 0 {
		return ok("all there")
	}
	named := strings.Join(missing[:min(len(missing), namedIndexes)], ", ")
	if more := len(missing) - namedIndexes; more > 0 {
		named += fmt.Sprintf(" and %d more", more)
	}
	return warn(fmt.Sprintf("%d missing (%s): the keeper is slow, and nothing is removed when its time is over", len(missing), named),
		"--fix, or let a keeper make them: it needs the right to")
}

func (m store) makeIndexes(ctx context.Context) (string, error) {
	missing, err := m.MissingIndexes(ctx)
	if err != nil || len(missing) == 0 {
		return "", err
	}
	if err := m.EnsureIndexes(ctx); err != nil {
		return "", err
	}
	return fmt.Sprintf("made %d indexes", len(missing)), nil
}

func (m store) secrets(ctx context.Context) Finding {
	all, unopened, inClear, err := m.Unopened(ctx)
	switch {
	case err != nil:
		return fail(err.Error(), storeHint)
	case unopened > 0:
		return fail(fmt.Sprintf("%d of %d do not open with ROLLCALL_SEAL_KEYS", unopened, all), "docs/secrets.md, \"When a secret does not open\"; rollcall secrets status")
	case inClear > 0:
		return warn(fmt.Sprintf("%d of %d are in clear", inClear, all), "rollcall secrets reseal")
	}
	return ok(fmt.Sprintf("%d, all open", all))
}
