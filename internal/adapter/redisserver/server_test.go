package redisserver

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/preflight"
)

func TestInfo(t *testing.T) {
	got, err := parse("# Server\r\nredis_version:7.0.15\r\nrole:slave\r\n# Memory\r\nmaxmemory:67108864\r\nmaxmemory_policy:allkeys-lru\r\n" +
		"rdb_saves:3\r\naof_enabled:1\r\ncluster_enabled:1\r\n")
	want := preflight.CacheServer{
		Version: "7.0.15", Eviction: "allkeys-lru", Bounded: true, AppendOnly: true, Snapshots: true, Replica: true, Cluster: true,
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	got, err = parse("redis_version:6.2.1\nrole:master\nmaxmemory:0\nmaxmemory_policy:noeviction\nrdb_saves:0\naof_enabled:0\ncluster_enabled:0\n")
	if diff := cmp.Diff(preflight.CacheServer{Version: "6.2.1", Eviction: "noeviction"}, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if _, err := parse("hello"); err == nil {
		t.Error("no error for what is no INFO")
	}
}
