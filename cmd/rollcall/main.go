// Command rollcall keeps the member list of every live QR code true. Each of
// its roles and each operator's tool is a subcommand; `rollcall --help` lists
// them.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata" // tenants' time zones, where the image brings none

	_ "golang.org/x/crypto/x509roots/fallback" // public certificate authorities, where the image brings none
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// After the first signal we drain; a second one ends the process at once.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}
