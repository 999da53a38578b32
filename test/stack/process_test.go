package stack

import (
	"context"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
	"time"
)

func TestAProcessThatIgnoresSIGTERMIsKilledAfterItsGrace(t *testing.T) {
	p, port := running(t, stubborn)
	if err := p.stop(t.Context(), 100*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if p.running() || !available(port) {
		t.Error("the process is still there")
	}
}

func TestStopWithAnEndedContextKillsAtOnce(t *testing.T) {
	p, _ := running(t, stubborn)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.stop(ctx, time.Hour); err != nil {
		t.Fatal(err)
	}
	if p.running() {
		t.Error("the process is still there")
	}
}

func TestAReusedPidIsNobodyOfOurs(t *testing.T) {
	stranger, port := running(t, serves)
	former := found(identity{PID: stranger.PID, Started: stranger.Started + "0"})
	if former.alive() {
		t.Error("a process with the pid of a former one counts as the former one")
	}
	if err := former.stop(t.Context(), time.Second); err != nil {
		t.Fatal(err)
	}
	if err := ask(t.Context(), port); err != nil || !stranger.alive() {
		t.Errorf("the stranger was stopped (%v)", err)
	}
}

func TestAnEmptyIdentityNeverRuns(t *testing.T) {
	for _, pid := range []int{-1, 0, 1} {
		started, _ := startOf(pid) // pid 1 is there, and must never be signaled
		if (identity{PID: pid, Started: started}).running() {
			t.Errorf("pid %d counts as a server", pid)
		}
	}
}

func TestAProcessThatCannotStartIsAnError(t *testing.T) {
	if _, err := launch(exec.Command("/no/such/server"), outlivesParent); err == nil {
		t.Error("no error for a missing program")
	}
}

func TestPollAsksAtOnceAndStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := poll(ctx, time.Hour, func() bool { return true }); err != nil {
		t.Errorf("a condition that holds already: %v", err)
	}
	if err := poll(ctx, time.Hour, func() bool { return false }); err == nil {
		t.Error("no error although the context had ended")
	}
}

// running starts a fake server and waits until it answers.
func running(t *testing.T, play behavior) (p *process, port int) {
	t.Helper()
	port, err := freePort(nil)
	if err != nil {
		t.Fatal(err)
	}
	if p, err = launch(fakeCommand(play, strconv.Itoa(port)), diesWithParent); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.signal(syscall.SIGKILL); err != nil {
			t.Errorf("clean up: %v", err)
		}
		<-p.exited
	})
	eventually(t, "an answer of the fake server", func() bool { return ask(t.Context(), port) == nil })
	return p, port
}
