package stack

import (
	"context"
	"errors"
	"net"
	"os/exec"
	"strings"
	"testing"
	"time"
)

func TestStartReturnsWhenTheServerAnswers(t *testing.T) {
	p := fakePart(t, serves)
	mustStart(t, p)
	if err := p.probe(t.Context()); err != nil {
		t.Errorf("after Start: %v", err)
	}
	if id, recorded := p.states.process(p.name); !recorded || id != p.proc.identity {
		t.Errorf("recorded %v, want the process %v", id, p.proc.identity)
	}
}

func TestASecondStartLeavesTheServerAlone(t *testing.T) {
	p := fakePart(t, serves)
	mustStart(t, p)
	first := p.proc.identity
	mustStart(t, p)
	if p.proc.identity != first {
		t.Errorf("process %v after the second Start, want still %v", p.proc.identity, first)
	}
}

func TestStartReplacesAServerThatDoesNotAnswer(t *testing.T) {
	p := fakePart(t, serves)
	mustStart(t, p)
	first := p.proc
	if err := p.Pause(t.Context()); err != nil {
		t.Fatal(err)
	}
	mustStart(t, p)
	if p.proc == first || first.running() {
		t.Error("the server that hung is still there")
	}
}

func TestStopLeavesNoProcessAndNoRecord(t *testing.T) {
	p := fakePart(t, serves)
	mustStart(t, p)
	id := p.proc.identity
	for range 2 { // the second has nothing to do
		if err := p.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if id.running() {
		t.Errorf("process %d still runs", id.PID)
	}
	if _, recorded := p.states.process(p.name); recorded {
		t.Error("the process is still recorded")
	}
	if !available(p.ports[0]) {
		t.Error("the port is still taken")
	}
}

func TestRestartIsAnotherProcessOnTheSamePort(t *testing.T) {
	p := fakePart(t, serves)
	mustStart(t, p)
	first := p.proc.identity
	if err := p.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if p.proc.identity == first || first.running() {
		t.Error("the first process is still there")
	}
	if err := p.probe(t.Context()); err != nil {
		t.Errorf("on the same port: %v", err)
	}
}

func TestAPausedServerHangsUntilItResumes(t *testing.T) {
	p := fakePart(t, serves)
	mustStart(t, p)
	if err := p.Pause(t.Context()); err != nil {
		t.Fatal(err)
	}
	var timeout net.Error
	if err := p.probe(t.Context()); !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Errorf("a paused server: %v, want a timeout", err)
	}
	if err := p.Resume(); err != nil {
		t.Fatal(err)
	}
	if err := p.probe(t.Context()); err != nil {
		t.Errorf("after Resume: %v", err)
	}
}

func TestAPausedServerCanBeStopped(t *testing.T) {
	p := fakePart(t, serves)
	mustStart(t, p)
	if err := p.Pause(t.Context()); err != nil {
		t.Fatal(err)
	}
	since := time.Now()
	if err := p.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(since); took >= stopGrace {
		t.Errorf("it took %s: the server was killed, not asked to end", took)
	}
	if err := p.Pause(t.Context()); !errors.Is(err, errNoProcess) {
		t.Errorf("Pause of a stopped server: %v, want %v", err, errNoProcess)
	}
}

func TestAServerThatDiesFailsTheStartWithItsLastWords(t *testing.T) {
	p := fakePart(t, dies)
	err := p.Start(t.Context())
	if err == nil || !strings.Contains(err.Error(), "no such luck") {
		t.Errorf("error %v, want the server's last lines", err)
	}
	if _, recorded := p.states.process(p.name); recorded {
		t.Error("a dead process is recorded")
	}
}

func TestACanceledStartLeavesNothingRunning(t *testing.T) {
	p := fakePart(t, deaf)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	var id identity
	answer := p.probe
	p.probe = func(ctx context.Context) error {
		id = p.proc.identity
		return answer(ctx)
	}
	if err := p.Start(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v, want the end of the context", err)
	}
	if id.PID == 0 || id.running() {
		t.Errorf("process %v: want one that ran and is gone", id)
	}
}

func TestATakenPortFailsTheStartBeforeAnythingRuns(t *testing.T) {
	p := fakePart(t, serves)
	listener, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.ParseIP(loopback), Port: p.ports[0]})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	err = p.Start(t.Context())
	if err == nil || !strings.Contains(err.Error(), "is taken") {
		t.Errorf("error %v, want one about the port", err)
	}
	if p.proc != nil {
		t.Error("a process was started all the same")
	}
}

func TestAnotherProcessFindsAndStopsTheServer(t *testing.T) {
	dir := t.TempDir()
	p := fakePartOf(t, open(t, dir), partRedis, serves)
	mustStart(t, p)
	other := &servers{dir: dir, states: open(t, dir), report: p.report}
	adopted := other.part(partRedis)
	adopted.command, adopted.probe = p.command, p.probe
	mustStart(t, adopted)
	if adopted.proc.identity != p.proc.identity {
		t.Fatalf("found %v, want %v", adopted.proc.identity, p.proc.identity)
	}
	if err := adopted.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the end of the server", func() bool { return !p.proc.alive() })
}

func TestAnExternalServerIsNeverTouched(t *testing.T) {
	p := fakePart(t, serves)
	p.command = nil
	p.probe = func(context.Context) error { return nil }
	mustStart(t, p)
	for name, touch := range map[string]func() error{
		"Stop":    func() error { return p.Stop(t.Context()) },
		"Restart": func() error { return p.Restart(t.Context()) },
		"Pause":   func() error { return p.Pause(t.Context()) },
		"Resume":  p.Resume,
	} {
		if err := touch(); !errors.Is(err, ErrExternal) {
			t.Errorf("%s: %v, want %v", name, err, ErrExternal)
		}
	}
}

func TestAnExternalServerThatDoesNotAnswerFailsTheStart(t *testing.T) {
	p := fakePart(t, serves)
	p.command = nil
	ctx, cancel := context.WithTimeout(t.Context(), 150*time.Millisecond)
	defer cancel()
	err := p.Start(ctx)
	if err == nil || !strings.Contains(err.Error(), "named by the environment") {
		t.Errorf("error %v, want one that says whose server it is", err)
	}
}

func TestAFailedInstallFailsTheStart(t *testing.T) {
	p := fakePart(t, serves)
	failure := errors.New("no Maven")
	p.command = func(context.Context) (*exec.Cmd, error) { return nil, failure }
	if err := p.Start(t.Context()); !errors.Is(err, failure) {
		t.Errorf("error %v, want %v", err, failure)
	}
}

func mustStart(t *testing.T, p *Part) {
	t.Helper()
	if err := p.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
}
