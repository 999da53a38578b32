package preflight

import (
	"context"
	"errors"
	"time"
)

// Cache is Redis.
type Cache interface {
	Ping(ctx context.Context) error
	Server(ctx context.Context) (CacheServer, error)
	Clock(ctx context.Context) (Reading, error)
	// TryScripts runs the budget's and the rotation sets' scripts under keys of
	// their own, which are removed or expire.
	TryScripts(ctx context.Context) error
}

// CacheServer is what Redis says of itself.
type CacheServer struct {
	Version    string
	Eviction   string // the policy: "noeviction", "allkeys-lru" …
	Bounded    bool   // there is a maximum of memory
	AppendOnly bool
	Snapshots  bool // one was saved, or is due by a rule
	Replica    bool
	Cluster    bool
}

// minRedis replicates the effects of a script, so that it may ask for the time
// and then write.
const minRedis, advisedRedis = "5", "6.2"

type cache struct {
	Cache
	margin time.Duration
}

// RedisChecks are the checks of Redis; margin is the one for clocks.
func RedisChecks(c Cache, margin time.Duration) []Check {
	r := cache{c, margin}
	after := []string{"redis.reach"}
	return []Check{
		{Name: "redis.reach", Look: r.reach},
		{Name: "redis.version", After: after, Look: r.server(cacheVersion)},
		{Name: "redis.topology", After: after, Look: r.server(topology)},
		{Name: "redis.eviction", After: after, Look: r.server(eviction)},
		{Name: "redis.persistence", After: after, Look: r.server(persistence)},
		{Name: "redis.clock", After: after, Look: r.clock},
		{Name: "redis.scripts", After: []string{"redis.reach", "redis.topology"}, Look: r.scripts},
	}
}

const cacheHint = "see ROLLCALL_REDIS_URL, ROLLCALL_REDIS_TLS_* and the network"

func (r cache) reach(ctx context.Context) Finding {
	if err := r.Ping(ctx); err != nil {
		return fail(err.Error(), cacheHint)
	}
	return ok("it answers")
}

func (r cache) server(judge func(CacheServer) Finding) func(context.Context) Finding {
	return func(ctx context.Context) Finding {
		s, err := r.Server(ctx)
		switch {
		case errors.Is(err, ErrForbidden):
			return skip("we may not ask for INFO")
		case err != nil:
			return fail(err.Error(), cacheHint)
		}
		return judge(s)
	}
}

func cacheVersion(s CacheServer) Finding {
	switch {
	case older(s.Version, minRedis):
		return fail(s.Version+": the scripts ask for the time and write, which this version refuses", "upgrade to "+advisedRedis+" or newer")
	case older(s.Version, advisedRedis):
		return warn(s.Version+" is not tested and gets no fixes any more", "upgrade to "+advisedRedis+" or newer")
	}
	return ok(s.Version)
}

func topology(s CacheServer) Finding {
	switch {
	case s.Replica:
		return fail("a replica: it takes no writes", "give ROLLCALL_REDIS_URL the primary's address, or one that follows it")
	case s.Cluster:
		return fail("Redis Cluster: Rollcall connects to one server and follows no redirection", "use a single primary with replicas, or a proxy that speaks for the cluster")
	}
	return ok("a primary, no cluster")
}

func eviction(s CacheServer) Finding {
	const remedy = "CONFIG SET maxmemory-policy noeviction, and the same in its configuration"
	switch {
	case s.Eviction == "noeviction":
		return ok(s.Eviction)
	case s.Bounded:
		return fail(s.Eviction+": when memory is full, budgets and rotation sets are forgotten, so WeCom's limits are broken", remedy)
	}
	return warn(s.Eviction+": nothing is evicted while maxmemory is not set", remedy)
}

func persistence(s CacheServer) Finding {
	switch {
	case s.AppendOnly:
		return ok("append-only file")
	case s.Snapshots:
		return warn("snapshots alone: a restart forgets the budget's last minutes, which can be answered with 45009", "appendonly yes")
	}
	return warn("none: a restart forgets budgets and rotation sets; the audit writes the sets again", "appendonly yes")
}

func (r cache) clock(ctx context.Context) Finding {
	reading, err := r.Clock(ctx)
	if err != nil {
		return fail(err.Error(), cacheHint)
	}
	return clock(reading, r.margin)
}

func (r cache) scripts(ctx context.Context) Finding {
	if err := r.TryScripts(ctx); err != nil {
		return fail(err.Error(), "allow EVAL, EVALSHA and SCRIPT on keys that begin with ROLLCALL_REDIS_KEY_PREFIX; the least version is in redis.version")
	}
	return ok("the budget's and the rotation sets' run")
}
