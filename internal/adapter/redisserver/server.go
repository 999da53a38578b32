// Package redisserver asks a Redis server about itself, for preflight.
//
// It owns the reading of INFO and TIME. It refuses to own what the answers mean,
// which is package preflight's, and any key.
package redisserver

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/rollcall-dev/rollcall/internal/preflight"
)

// Instance is one Redis server.
type Instance struct{ client redis.UniversalClient }

// New returns an Instance on client, which stays the caller's to close.
func New(client redis.UniversalClient) *Instance { return &Instance{client} }

// Ping asks whether it is there.
func (s *Instance) Ping(ctx context.Context) error {
	if err := s.client.Ping(ctx).Err(); err != nil {
		return fmt.Errorf("ping Redis: %w", err)
	}
	return nil
}

// Server returns what INFO says.
func (s *Instance) Server(ctx context.Context) (preflight.CacheServer, error) {
	text, err := s.client.Info(ctx).Result()
	if err != nil {
		err = fmt.Errorf("ask Redis for INFO: %w", err)
		if redis.IsPermissionError(err) || strings.Contains(err.Error(), "unknown command") {
			err = fmt.Errorf("%w: %w", preflight.ErrForbidden, err)
		}
		return preflight.CacheServer{}, err
	}
	server, err := parse(text)
	if err == nil && !server.Snapshots {
		server.Snapshots = s.scheduled(ctx)
	}
	return server, err
}

// scheduled reports whether a rule asks for snapshots, as far as we may ask: INFO
// counts those since the start alone, and from Redis 7 on.
func (s *Instance) scheduled(ctx context.Context) bool {
	rules, err := s.client.ConfigGet(ctx, "save").Result()
	return err == nil && rules["save"] != ""
}

var errNoInfo = errors.New("the answer to INFO holds no version")

func parse(info string) (preflight.CacheServer, error) {
	fields := map[string]string{}
	for line := range strings.Lines(info) {
		if name, value, found := strings.Cut(strings.TrimSpace(line), ":"); found {
			fields[name] = value
		}
	}
	if fields["redis_version"] == "" {
		return preflight.CacheServer{}, errNoInfo
	}
	return preflight.CacheServer{
		Version:    fields["redis_version"],
		Eviction:   fields["maxmemory_policy"],
		Bounded:    fields["maxmemory"] != "" && fields["maxmemory"] != "0",
		AppendOnly: fields["aof_enabled"] == "1",
		Snapshots:  fields["rdb_saves"] != "" && fields["rdb_saves"] != "0",
		Replica:    fields["role"] == "slave",
		Cluster:    fields["cluster_enabled"] == "1",
	}, nil
}

// Clock reads its clock.
func (s *Instance) Clock(ctx context.Context) (preflight.Reading, error) {
	begun := time.Now()
	at, err := s.client.Time(ctx).Result()
	if err != nil {
		return preflight.Reading{}, fmt.Errorf("ask Redis for the time: %w", err)
	}
	trip := time.Since(begun)
	return preflight.Reading{Ahead: at.Sub(begun.Add(trip / 2)), Within: trip / 2}, nil
}
