package fleet

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestRetireSaysHowAProcessEnded asks shells to end that do so well, badly, and
// not at all.
func TestRetireSaysHowAProcessEnded(t *testing.T) {
	for _, c := range []struct {
		name, onTerm string
		patience     bool
		want         string // in the error; "" is none
	}{
		{"in good order", "exit 0", true, ""},
		{"badly", "exit 3", true, "did not end in good order"},
		{"not at all", ":", false, "did not drain in time"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := Launching(shell(c.onTerm), nil, t.TempDir())
			m := startShell(t, f)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if !c.patience {
				cancel()
			}
			err := f.Retire(ctx, m)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("Retire() = %v, want %q", err, c.want)
			}
			<-m.Done()
			if left := f.Members(); len(left) > 0 {
				t.Errorf("%d members are left", len(left))
			}
		})
	}
}

// shell is a Launcher of shells that do this on SIGTERM.
type shell string

func (s shell) Command(_, _ string, _ []string) (*exec.Cmd, error) {
	return exec.Command("sh", "-c", "trap '"+string(s)+"' TERM; echo up; while :; do read line; done"), nil
}

func (shell) Kill(_ string, cmd *exec.Cmd) error { return cmd.Process.Kill() }

// startShell is Start without the wait for a page that a shell does not serve;
// it waits for the shell's first line instead.
func startShell(t *testing.T, f *Fleet) *Member {
	t.Helper()
	m := &Member{name: "shell", addr: "127.0.0.1:1", launcher: f.launcher, done: make(chan struct{})}
	var err error
	if m.log, err = os.Create(filepath.Join(f.logDir, "shell.log")); err != nil {
		t.Fatal(err)
	}
	if m.cmd, err = f.launcher.Command(m.name, "", nil); err != nil {
		t.Fatal(err)
	}
	_, err = m.cmd.StdinPipe() // what a shell waits at
	if err != nil {
		t.Fatal(err)
	}
	out, err := m.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := m.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	go func() {
		m.ended = m.cmd.Wait()
		_ = m.log.Close()
		close(m.done)
	}()
	f.members = append(f.members, m)
	return m
}
