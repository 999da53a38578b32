package shadowtest_test

import (
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/shadow"
	"github.com/rollcall-dev/rollcall/internal/shadow/shadowtest"
)

func TestMemoryConforms(t *testing.T) {
	shadowtest.TestStore(t, func(*testing.T) shadowtest.StoreBench {
		clock := shadowtest.NewClock()
		return shadowtest.StoreBench{Store: shadowtest.NewMemory(clock.Now), Clock: clock}
	})
}

func TestMemoryDirectoryConforms(t *testing.T) {
	newYork, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	shadowtest.TestDirectory(t, func(*testing.T) shadowtest.DirectoryBench {
		m := shadowtest.NewMemory(time.Now)
		for tenant, zone := range map[string]*time.Location{"mixed": time.UTC, "moving": newYork, "empty": time.UTC} {
			m.PutTenant(tenant, zone)
		}
		for code, is := range map[string]bool{"follows": false, "live": false, "shadow": true, "retired": false} {
			m.PutCode(push.Ref{Tenant: "mixed", Code: code}, shadow.Mode{Shadow: is})
		}
		m.Retire(push.Ref{Tenant: "mixed", Code: "retired"})
		for code, mode := range map[string]shadow.Mode{
			"moving-follows": {Shadow: true, Term: 1}, "moving-live": {Term: 1}, "moving-shadow": {Shadow: true, Term: 3},
		} {
			m.PutCode(push.Ref{Tenant: "moving", Code: code}, mode)
		}
		return shadowtest.DirectoryBench{Directory: m}
	})
}
