package service

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/telemetry"
)

// mongoOf asks MongoDB's primary.
func mongoOf(db *mongostore.Database) telemetry.Dependency {
	return telemetry.Dependency{Name: "mongodb", Ask: db.Ping, Every: 5 * time.Second, Timeout: 3 * time.Second}
}

// redisOf asks Redis.
func redisOf(client redis.UniversalClient) telemetry.Dependency {
	return telemetry.Dependency{
		Name: "redis", Ask: func(ctx context.Context) error { return client.Ping(ctx).Err() }, Every: 5 * time.Second, Timeout: 3 * time.Second,
	}
}

// broker says whether the broker has been reached since the start. It has a name of
// its own: that it is there now is what refreshers know.
func (r *loopRole) broker() telemetry.Dependency {
	return telemetry.Dependency{Name: "pulsar_start", Ask: r.reached, Every: time.Second, Timeout: time.Second}
}

// toldOnly makes them dependencies that the role does some of its work without.
func toldOnly(dependencies ...telemetry.Dependency) []telemetry.Dependency {
	for i := range dependencies {
		dependencies[i].Told = true
	}
	return dependencies
}
