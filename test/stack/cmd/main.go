//go:build unix

// Command cmd starts and stops the servers that Rollcall works with.
//
//	go run ./test/stack/cmd up              start them and leave them running
//	go run ./test/stack/cmd status          say how they are
//	go run ./test/stack/cmd env             print the variables with their addresses
//	go run ./test/stack/cmd down            stop them
//	go run ./test/stack/cmd run -- CMD…     run CMD on a stack of its own
//	go run ./test/stack/cmd install         only download what is needed
//
// `go run` itself turns every failure into exit status 1; build the command
// where CMD's own status matters.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/rollcall-dev/rollcall/test/stack"
)

// Exit statuses of our own failures; CMD's go unchanged.
const (
	exitFailed = 1
	exitUsage  = 2
)

const usage = `usage: go run ./test/stack/cmd COMMAND [flags]

  up               start the servers and leave them running
  status           say how they are; exit status 1 when one does not answer
  env              print the variables with their addresses
  down             stop them
  run -- CMD...    run CMD on a stack of its own: free ports, temporary folder
  install          only download what is needed

flags of up, status, env and down:
  -dir DIR         folder of data, logs and state (default .run/stack)
flag of up:
  -free            free ports instead of the fixed ones

A server named by ROLLCALL_PULSAR_URL and ROLLCALL_PULSAR_ADMIN_URL,
ROLLCALL_MONGODB_URI or ROLLCALL_REDIS_URL is used as it is. Ports are chosen
with ROLLCALL_STACK_PULSAR_PORT, _PULSAR_ADMIN_PORT, _BOOKIE_PORT, _MONGO_PORT
and _REDIS_PORT.
`

// command is one invocation.
type command struct {
	options stack.Options
	args    []string // what follows the flags
	stdout  io.Writer
	stderr  io.Writer
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	status := dispatch(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

// dispatch runs one invocation and returns its exit status.
func dispatch(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	commands := map[string]func(*command, context.Context) (int, error){
		"up": (*command).up, "down": (*command).down, "status": (*command).status,
		"env": (*command).env, "run": (*command).run, "install": (*command).install,
	}
	name := ""
	if len(args) > 0 {
		name = args[0]
	}
	do, known := commands[name]
	c, err := parse(args[min(1, len(args)):], stdout, stderr)
	if !known || err != nil {
		_, _ = io.WriteString(stderr, usage)
		return exitUsage
	}
	status, err := do(c, ctx)
	if err != nil {
		_, _ = fmt.Fprintln(stderr, "stack:", err)
	}
	return status
}

// parse reads the flags.
func parse(args []string, stdout, stderr io.Writer) (*command, error) {
	c := &command{stdout: stdout, stderr: stderr}
	flags := flag.NewFlagSet("stack", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&c.options.Dir, "dir", ".run/stack", "")
	free := flags.Bool("free", false, "")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if !*free {
		c.options.Ports = stack.FixedPorts()
	}
	c.options.Progress = func(part, message string) {
		_, _ = fmt.Fprintf(stderr, "%-7s %s\n", part, message)
	}
	c.args = flags.Args()
	return c, nil
}

func (c *command) up(ctx context.Context) (int, error) {
	c.options.Detached = true
	s, err := stack.Start(ctx, c.options)
	if err != nil {
		return exitFailed, err
	}
	c.printEnv(s)
	return 0, nil
}

func (c *command) down(ctx context.Context) (int, error) {
	s, err := c.open()
	if err == nil {
		err = s.Stop(ctx)
	}
	if err != nil {
		return exitFailed, err
	}
	return 0, nil
}

func (c *command) status(ctx context.Context) (int, error) {
	s, err := c.open()
	if err != nil {
		return exitFailed, err
	}
	exit := 0
	for _, status := range s.Status(ctx) {
		if status.Answer != nil || (status.PID == 0 && !status.External) {
			exit = exitFailed
		}
		_, _ = fmt.Fprintf(c.stdout, "%-7s %s\n", status.Part, status)
	}
	return exit, nil
}

func (c *command) env(context.Context) (int, error) {
	s, err := c.open()
	if err != nil {
		return exitFailed, err
	}
	c.printEnv(s)
	return 0, nil
}

func (c *command) install(ctx context.Context) (int, error) {
	s, err := c.open()
	if err == nil {
		err = s.Install(ctx)
	}
	if err != nil {
		return exitFailed, err
	}
	return 0, nil
}

// open opens the stack on the ports of its last start, whatever they were.
func (c *command) open() (*stack.Stack, error) {
	c.options.Ports = stack.Ports{}
	return stack.Open(c.options)
}

// printEnv prints the addresses for a shell to read.
func (c *command) printEnv(s *stack.Stack) {
	for _, variable := range s.Env() {
		name, value, _ := strings.Cut(variable, "=")
		_, _ = fmt.Fprintf(c.stdout, "export %s='%s'\n", name, value)
	}
}

var errNoCommand = errors.New("run needs a command after --")
