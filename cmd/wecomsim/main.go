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

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	cmd := newCommand()
	cmd.SetArgs(os.Args[1:])
	if err := cmd.ExecuteContext(ctx); err != nil {
		fmt.Fprintf(os.Stderr, "wecomsim: %v\nRun \"wecomsim --help\" for the flags.\n", err)
		stop()
		os.Exit(1)
	}
}
