//go:build integration

package quota

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/service"
)

// full asks for the long forms.
var full = flag.Bool("full", false, "the long forms of all tests")

// The environment of a process that is a role, not the test.
const (
	envChild = "QUOTA_CHILD"
	envStep  = "QUOTA_STEP"  // the call to die at; "": none
	envNth   = "QUOTA_NTH"   // at which one
	envAfter = "QUOTA_AFTER" // set: when it has had its effect
)

func TestMain(m *testing.M) {
	if os.Getenv(envChild) != "" {
		os.Exit(beChild(os.Args[1]))
	}
	os.Exit(m.Run())
}

// beChild runs a role as the product's main does, with an executioner if there
// is a step to die at.
func beChild(role string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	cfg, err := config.Load(config.NeedPulsar, config.NeedMongoDB, config.NeedRedis)
	if err == nil {
		switch role {
		case "ingress":
			err = service.RunIngress(ctx, cfg, "quota", executioner()...)
		case "refresher":
			err = service.RunRefresher(ctx, cfg, "quota")
		case "keeper":
			err = service.RunKeeper(ctx, cfg, "quota", executioner()...)
		default:
			err = fmt.Errorf("no role is called %q", role)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
