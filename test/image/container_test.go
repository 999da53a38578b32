//go:build image

package image_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/seal"
	"github.com/rollcall-dev/rollcall/test/await"
	"github.com/rollcall-dev/rollcall/test/fleet"
	"github.com/rollcall-dev/rollcall/test/stack"
	"github.com/rollcall-dev/rollcall/test/stack/stacktest"
)

func TestVersionInAContainer(t *testing.T) {
	out, err := podman.answer(t, nil, []string{"version"})
	if want := buildOf(t, openImage(t), "rollcall").Main.Version; err != nil || !strings.HasPrefix(out, "rollcall "+want+" (commit ") {
		t.Fatalf("%q, %v; want the version of the label, %s", out, err, want)
	}
	t.Logf("says: %s", strings.TrimSpace(out))
}

func TestThereIsNoShell(t *testing.T) {
	for _, shell := range []string{"/bin/sh", "/bin/bash", "/busybox/sh"} {
		if out, err := podman.answer(t, []string{"--entrypoint", shell}, []string{"-c", "true"}); err == nil {
			t.Errorf("%s ran: %s", shell, out)
		}
	}
	out, err := podman.answer(t, nil, []string{"sh"})
	if err == nil || !strings.Contains(out, `unknown command "sh"`) {
		t.Errorf("rollcall sh: %v, %q", err, out)
	}
	t.Log("no shell, and the entry point takes roles only")
}

// TestZonesAndCertificatesInAContainer runs a test of the program's package in
// the image: what it finds there, the program finds.
func TestZonesAndCertificatesInAContainer(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "scratch.test")
	build := exec.CommandContext(t.Context(), "go", "test", "-c", "-trimpath", "-o", binary, "../../cmd/rollcall")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the tests of cmd/rollcall: %v\n%s", err, out)
	}
	out, err := podman.answer(t,
		[]string{"--volume", binary + ":/scratch.test:ro", "--entrypoint", "/scratch.test", "--env", "ROLLCALL_TEST_SCRATCH=1"},
		[]string{"-test.run=^TestInScratch$", "-test.v"})
	if err != nil || !strings.Contains(out, "--- PASS: TestInScratch") {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Log("zones and certificates: Asia/Shanghai and the public authorities are known without a file")
}

// drainWithin is the grace period that Kubernetes gives by itself.
const drainWithin = 30 * time.Second

// TestEachRoleIsHealthyLockedAndDrains looks at the roles' processes from the
// outside while they run, and how they end.
func TestEachRoleIsHealthyLockedAndDrains(t *testing.T) {
	podman.load(t)
	name := fmt.Sprintf("image-%d", time.Now().UnixNano())
	f := fleet.Launching(podman, append(servers(t).Env(),
		"ROLLCALL_PULSAR_TOPIC=persistent://public/default/"+name, "ROLLCALL_MONGODB_DATABASE="+name,
		"ROLLCALL_PULSAR_DEAD_LETTER_TOPIC=persistent://public/default/"+name+"-dead",
		"ROLLCALL_REDIS_KEY_PREFIX="+name+":", "ROLLCALL_SEAL_KEYS="+seal.Generate("test"),
	), t.TempDir())
	for _, role := range []string{"refresher", "ingress", "keeper"} {
		t.Run(role, func(t *testing.T) {
			m, err := f.Start(t.Context(), role)
			if err != nil {
				t.Fatal(err)
			}
			if status := statusOf(t, m.OpsURL()+"/livez"); status != http.StatusOK {
				t.Errorf("/livez answers %d", status)
			}
			wantLocked(t, m.Name())
			asked := time.Now()
			draining, stop := context.WithTimeout(t.Context(), drainWithin)
			defer stop()
			if err := f.Retire(draining, m); err != nil {
				t.Fatal(err)
			}
			t.Logf("%s: /livez 200; user 65532, root read-only, no capabilities, no new privileges; drained %.1fs after SIGTERM, status 0",
				role, time.Since(asked).Seconds())
		})
	}
	if left, err := podman.containers(); err != nil || len(left) > 0 {
		t.Errorf("containers %v are left, %v", left, err)
	}
}

// wantLocked asks the kernel what a container's process may do.
func wantLocked(t *testing.T, container string) {
	t.Helper()
	pid, err := podman.inspect(container, "{{.State.Pid}}")
	if err != nil {
		t.Fatal(err)
	}
	status, err := os.ReadFile("/proc/" + pid + "/status")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Uid:\t65532\t65532\t65532\t65532", "Gid:\t65532\t65532\t65532\t65532",
		"CapEff:\t0000000000000000", "CapBnd:\t0000000000000000", "NoNewPrivs:\t1",
	} {
		if !strings.Contains(string(status), want+"\n") {
			t.Errorf("its status has no %q:\n%s", want, status)
		}
	}
	mounts, err := os.ReadFile("/proc/" + pid + "/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	root := ""
	for line := range strings.Lines(string(mounts)) {
		if words := strings.Fields(line); words[4] == "/" {
			root = words[5]
		}
	}
	if !strings.HasPrefix(root, "ro") {
		t.Errorf("its root is mounted %q, want read-only", root)
	}
}

// TestSimulatorInAContainer starts the image's other program.
func TestSimulatorInAContainer(t *testing.T) {
	podman.load(t)
	ports, err := stack.FreePorts(2)
	if err != nil {
		t.Fatal(err)
	}
	cmd := podman.command(append(locked("--entrypoint", "/wecomsim"), podman.image,
		"--addr", stack.Loopback(ports[0]), "--control-addr", stack.Loopback(ports[1]))...)
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	await.Until(t, 20*time.Second, 50*time.Millisecond, "the simulator serves", func() bool {
		return statusOf(t, "http://"+stack.Loopback(ports[1])+"/control/v1/corps") == http.StatusOK
	})
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, said.String())
	}
	t.Log("wecomsim: serves, and ends on SIGTERM with status 0")
}

// statusOf asks for a page; 0 is that nobody answers.
func statusOf(t *testing.T, url string) int {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

func servers(t *testing.T) stack.Addresses {
	t.Helper()
	return stack.Addresses{
		PulsarURL: stacktest.PulsarURL(t), PulsarAdminURL: stacktest.PulsarAdminURL(t),
		MongoURI: stacktest.MongoURI(t), RedisURL: stacktest.RedisURL(t),
	}
}
