package redisrotation

import (
	"slices"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/rollcall-dev/rollcall/internal/backstop/audit"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

func TestStandingReadsWhatReplaceWrote(t *testing.T) {
	client := redis.NewClient(&redis.Options{Addr: miniredis.RunT(t).Addr()})
	t.Cleanup(func() { _ = client.Close() })
	opts := Options{Prefix: "r[1]*:"}
	rotation, err := New(client, opts)
	if err != nil {
		t.Fatal(err)
	}
	standing, err := NewStanding(client, opts)
	if err != nil {
		t.Fatal(err)
	}
	full, empty, none := push.Ref{Tenant: "a:{b}%", Code: "c:1"}, push.Ref{Tenant: "a", Code: "empty"}, push.Ref{Tenant: "a", Code: "none"}
	var versions []int64
	for ref, set := range map[push.Ref]push.Set{
		full:  {Round: 3, Seats: []roster.Seat{{Staff: "li", Headroom: -1}, {Staff: "ann", Headroom: 4}}},
		empty: {},
	} {
		version, ok, err := rotation.Replace(t.Context(), ref, 0, set)
		if !ok || err != nil {
			t.Fatalf("Replace = %v, %v", ok, err)
		}
		if ref == full {
			versions = append(versions, version)
		}
	}
	broken := push.Ref{Tenant: "a", Code: "broken"}
	if err := client.HSet(t.Context(), rotation.keysOf(broken).meta, "version", "x", "round", "0").Err(); err != nil {
		t.Fatal(err)
	}
	got, err := standing.Standing(t.Context(), []push.Ref{none, full, empty, broken})
	if err != nil {
		t.Fatal(err)
	}
	if got[3].Version != 0 {
		t.Errorf("a set that cannot be read reads %+v; want none", got[3])
	}
	if got[2].Version == 0 || len(got[2].Staff) != 0 {
		t.Errorf("a set without seats reads %+v", got[2])
	}
	if diff := cmp.Diff([]audit.Set{{}, {Version: versions[0], Round: 3, Staff: []string{"li", "ann"}}}, got[:2]); diff != "" {
		t.Errorf("sets (-want +got):\n%s", diff)
	}
	var all []string
	for ref, err := range standing.All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, ref.Tenant+" "+ref.Code)
	}
	slices.Sort(all)
	if diff := cmp.Diff([]string{"a broken", "a empty", "a:{b}% c:1"}, all); diff != "" {
		t.Errorf("all (-want +got):\n%s", diff)
	}
}
