// Command wecomsim runs the simulated WeCom as a process: the vendor's API on
// one address, the control API on another. docs/wecomsim.md describes both.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() { os.Exit(execute(os.Args[1:])) }

// execute runs the command and returns the exit code.
func execute(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	cmd := newCommand()
	cmd.SetArgs(args)
	if err := cmd.ExecuteContext(ctx); err != nil {
		fmt.Fprintf(os.Stderr, "wecomsim: %v\nRun \"wecomsim --help\" for the flags.\n", err)
		return 1
	}
	return 0
}
