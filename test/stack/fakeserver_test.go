package stack

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// The test binary plays the servers: with fakeServer set it is one.
const fakeServer = "STACK_TEST_FAKE_SERVER"

// behavior is how the fake server acts.
type behavior string

const (
	serves   behavior = "serves"   // echoes lines, ends at SIGTERM
	stubborn behavior = "stubborn" // the same, but ignores SIGTERM
	dies     behavior = "dies"     // says why and exits
	deaf     behavior = "deaf"     // runs and listens to nothing
	parent   behavior = "parent"   // starts one that serves, in its own care
)

func TestMain(m *testing.M) {
	if play := behavior(os.Getenv(fakeServer)); play != "" {
		os.Exit(play.main(os.Args[1]))
	}
	goleak.VerifyTestMain(m)
}

// main is the fake server's main function.
func (b behavior) main(port string) int {
	switch b {
	case dies:
		fmt.Println("fake server: no such luck")
		return 3
	case deaf:
		signal.Reset(syscall.SIGTERM)
		select {}
	case parent:
		if _, err := launch(fakeCommand(serves, port), diesWithParent); err != nil {
			fmt.Println(err)
			return 1
		}
		select {}
	case stubborn:
		signal.Ignore(syscall.SIGTERM)
	case serves:
	}
	if err := echo(port); err != nil {
		fmt.Println(err)
	}
	return 1
}

// echo sends every line back, for ever.
func echo(port string) error {
	listener, err := net.Listen("tcp", net.JoinHostPort(loopback, port))
	if err != nil {
		return err
	}
	for {
		conn, err := listener.Accept()
		if err != nil {
			return err
		}
		go func() {
			_, _ = io.Copy(conn, conn)
			_ = conn.Close()
		}()
	}
}

func fakeCommand(play behavior, port string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], port)
	cmd.Env = append(os.Environ(), fakeServer+"="+string(play))
	return cmd
}

// fakePart is a part whose server acts as told, on a free port.
func fakePart(t *testing.T, play behavior) *Part {
	t.Helper()
	return fakePartOf(t, open(t, t.TempDir()), "fake", play)
}

// fakePartOf is a part of the stack with the state.
func fakePartOf(t *testing.T, states *stateFile, name string, play behavior) *Part {
	t.Helper()
	port, err := freePort(nil)
	if err != nil {
		t.Fatal(err)
	}
	p := &Part{
		name: name, logs: filepath.Join(filepath.Dir(states.path), "logs"), ports: []int{port},
		states: states, report: func(part, message string) { t.Log(part, message) },
		command: func(context.Context) (*exec.Cmd, error) { return fakeCommand(play, strconv.Itoa(port)), nil },
		probe:   func(ctx context.Context) error { return ask(ctx, port) },
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := p.stopIfOwn(ctx); err != nil {
			t.Errorf("clean up: %v", err)
		}
	})
	return p
}

// ask sends a line to the fake server and waits a little for its echo.
func ask(ctx context.Context, port int) error {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", net.JoinHostPort(loopback, strconv.Itoa(port)))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(300 * time.Millisecond)); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(conn, "hello"); err != nil {
		return err
	}
	_, err = bufio.NewReader(conn).ReadString('\n')
	return err
}

// eventually waits up to half a minute for a condition.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if poll(ctx, 10*time.Millisecond, condition) != nil {
		t.Fatalf("%s did not come true in time", what)
	}
}
