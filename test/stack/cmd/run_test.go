//go:build unix

package main

import (
	"bytes"
	"context"
	"io"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/rollcall-dev/rollcall/test/stack"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var addresses = stack.Addresses{
	PulsarURL: "pulsar://p:1", PulsarAdminURL: "http://p:2", MongoURI: "mongodb://m:3", RedisURL: "redis://r:4/0",
}

func TestTheCommandGetsTheAddressesAndItsStatusComesBack(t *testing.T) {
	for _, test := range []struct {
		name, script, stdout string
		status               int
	}{
		{"success", "exit 0", "", 0},
		{"its own failure", "exit 7", "", 7},
		{"ended by a signal", "kill -KILL $$", "", 128 + int(syscall.SIGKILL)},
		{
			"addresses", "echo $ROLLCALL_PULSAR_URL $ROLLCALL_PULSAR_ADMIN_URL $ROLLCALL_MONGODB_URI $ROLLCALL_REDIS_URL",
			"pulsar://p:1 http://p:2 mongodb://m:3 redis://r:4/0\n", 0,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			var stdout bytes.Buffer
			status, err := child(t, &stdout, test.script)
			if err != nil || status != test.status || stdout.String() != test.stdout {
				t.Errorf("status %d, error %v, output %q; want %d, none, %q",
					status, err, stdout.String(), test.status, test.stdout)
			}
		})
	}
}

func TestSignalsReachTheCommand(t *testing.T) {
	output, ready := io.Pipe()
	type ending struct {
		status int
		err    error
	}
	ended := make(chan ending, 1)
	go func() {
		status, err := child(t, ready, `trap 'exit 42' TERM; echo ready; while :; do sleep 0.02; done`)
		ended <- ending{status, err}
	}()
	if _, err := output.Read(make([]byte, 16)); err != nil {
		t.Fatal(err)
	}
	// The forwarder catches it, so it does not end this test.
	if err := syscall.Kill(syscall.Getpid(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case got := <-ended:
		if got.status != 42 || got.err != nil {
			t.Errorf("status %d, error %v; want 42, none", got.status, got.err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the command did not get the signal")
	}
}

func TestACommandThatCannotStartIsAnError(t *testing.T) {
	c := &command{args: []string{"/no/such/command"}, stdout: io.Discard, stderr: io.Discard}
	if status, err := c.child(t.Context(), &stack.Stack{}); err == nil || status != exitFailed {
		t.Errorf("status %d, error %v; want %d and an error", status, err, exitFailed)
	}
}

func TestWrongUseIsExplained(t *testing.T) {
	for name, args := range map[string][]string{
		"no command":      {},
		"unknown command": {"reboot"},
		"unknown flag":    {"up", "-fast"},
		"run nothing":     {"run", "--"},
	} {
		t.Run(name, func(t *testing.T) {
			var stderr bytes.Buffer
			status := dispatch(t.Context(), args, io.Discard, &stderr)
			if status != exitUsage || !strings.Contains(stderr.String(), "run") {
				t.Errorf("status %d, message %q; want %d and how it is used", status, stderr.String(), exitUsage)
			}
		})
	}
}

func TestStatusOfAStackThatWasNeverStarted(t *testing.T) {
	for _, name := range []string{stack.EnvPulsarURL, stack.EnvPulsarAdminURL, stack.EnvMongoURI, stack.EnvRedisURL} {
		t.Setenv(name, "")
	}
	dir := t.TempDir()
	var stdout bytes.Buffer
	if status := dispatch(t.Context(), []string{"status", "-dir", dir}, &stdout, io.Discard); status != exitFailed {
		t.Errorf("exit status %d, want %d", status, exitFailed)
	}
	if want := "pulsar  stopped\nmongo   stopped\nredis   stopped\n"; stdout.String() != want {
		t.Errorf("printed %q, want %q", stdout.String(), want)
	}
	if status := dispatch(t.Context(), []string{"down", "-dir", dir}, io.Discard, io.Discard); status != 0 {
		t.Errorf("down of a stopped stack: exit status %d, want 0", status)
	}
}

func TestEnvIsReadByAShell(t *testing.T) {
	var script bytes.Buffer
	c := &command{stdout: &script}
	tricky := addresses
	tricky.MongoURI = "mongodb://m:3/?replicaSet=rs0&w=majority"
	c.printEnv(&stack.Stack{Addresses: tricky})
	script.WriteString(`echo "$ROLLCALL_MONGODB_URI"`)
	out, err := exec.CommandContext(t.Context(), "sh", "-c", script.String()).Output()
	if err != nil || string(out) != tricky.MongoURI+"\n" {
		t.Errorf("a shell reads %q (%v), want %q", out, err, tricky.MongoURI)
	}
}

// child runs a shell script as the command.
func child(t *testing.T, stdout io.Writer, script string) (int, error) {
	t.Helper()
	c := &command{args: []string{"sh", "-c", script}, stdout: stdout, stderr: io.Discard}
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // the command outlives the context of the start
	return c.child(ctx, &stack.Stack{Addresses: addresses})
}
