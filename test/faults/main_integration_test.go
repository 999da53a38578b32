//go:build integration

package faults

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"

	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/service"
	"github.com/rollcall-dev/rollcall/test/stack"
)

// full asks for all rows in full instead of their short forms.
var full = flag.Bool("full", false, "all rows in full instead of their short forms")

// lanes is how many rows run side by side. They wait more than they work.
const lanes = 8

// The environment of a process that is a refresher or a keeper, not the test.
const (
	envChild = "FAULTS_CHILD"
	envName  = "FAULTS_NAME" // of the instance, unlike that of its siblings
	envStep  = "FAULTS_STEP"
	envFate  = "FAULTS_FATE"
	envNth   = "FAULTS_NTH"
	envDir   = "FAULTS_DIR" // of the files of an executioner
)

// The files of an executioner.
const (
	armedFile = "armed"
	graveFile = "grave"
	freedFile = "freed"
)

// ground is what all rows stand on.
var ground struct {
	*stack.Stack
	detours chan stack.Detour // those that no row uses
	logs    string            // of the processes
}

func TestMain(m *testing.M) {
	if os.Getenv(envChild) != "" {
		os.Exit(beChild(os.Args[1]))
	}
	flag.Parse()
	_ = flag.Set("test.parallel", strconv.Itoa(lanes))
	status, err := onStack(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		status = 1
	}
	os.Exit(status)
}

// beChild runs a role as the product's main does, with an executioner if there
// is a step to die at.
func beChild(role string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	cfg, err := config.Load(config.NeedPulsar, config.NeedMongoDB, config.NeedRedis)
	if err == nil {
		cfg.Refresher.Instance = os.Getenv(envName)
		switch role {
		case "refresher":
			err = service.RunRefresher(ctx, cfg, "faults", seamsOfChild()...)
		case "keeper":
			err = service.RunKeeper(ctx, cfg, "faults")
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

func seamsOfChild() []service.Seams {
	dir := os.Getenv(envDir)
	if dir == "" {
		return nil
	}
	nth, err := strconv.ParseInt(os.Getenv(envNth), 10, 64)
	if err != nil {
		nth = 1
	}
	e := newExecutioner(step(os.Getenv(envStep)), fate(os.Getenv(envFate)), nth, dir)
	return []service.Seams{e.seams()}
}

// onStack runs the tests on a stack of their own: they restart its servers and
// empty Redis, which no other test could bear.
func onStack(m *testing.M) (status int, err error) {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "rollcall-faults-*")
	if err != nil {
		return 1, err
	}
	ways, err := freeDetours(ctx, detours())
	if err != nil {
		return 1, err
	}
	ground.detours = make(chan stack.Detour, len(ways))
	for _, d := range ways {
		ground.detours <- d
	}
	ground.logs = filepath.Join(dir, "processes")
	ground.Stack, err = stack.Start(ctx, stack.Options{Dir: filepath.Join(dir, "stack"), Detours: ways, Getenv: withoutServers})
	if err != nil {
		return 1, err
	}
	status = m.Run()
	err = ground.Stop(ctx)
	if status != 0 || err != nil {
		return max(status, 1), errors.Join(err, fmt.Errorf("the logs are in %s", dir))
	}
	return 0, os.RemoveAll(dir)
}

// withoutServers hides the servers of the environment: they are not ours to
// break.
func withoutServers(string) string { return "" }

// detours is how many rows have a proxy in front of the broker.
func detours() int {
	n := len(stallRows)
	for _, row := range troubles {
		if row.behind == pulsarPart {
			n++
		}
	}
	return n
}

// freeDetours finds ports for so many proxies in front of the broker. All are
// looked for at once, so that none is found twice.
func freeDetours(ctx context.Context, n int) (found []stack.Detour, err error) {
	var open []net.Listener
	for range 2 * n {
		l, failed := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
		if failed != nil {
			err = fmt.Errorf("find a free port: %w", failed)
			break
		}
		open = append(open, l)
	}
	var ports []int
	for _, l := range open {
		_, port, _ := net.SplitHostPort(l.Addr().String())
		number, failed := strconv.Atoi(port)
		err = errors.Join(err, failed, l.Close())
		ports = append(ports, number)
	}
	for pair := range slices.Chunk(ports, 2) {
		found = append(found, stack.Detour{Proxy: pair[0], Broker: pair[len(pair)-1]})
	}
	return found, err
}
