package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/rollcall-dev/rollcall/internal/adoption"
	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/service"
)

// maxImportRate is far below what WeCom lets a company ask an API: 41 a second
// for as long as an hour (page 90312).
const maxImportRate = 20

// importFlags are what the command is told.
type importFlags struct {
	rate     float64
	intoLive bool
	status   bool
	output   string
}

func newMigrateImportCommand() *cobra.Command {
	flags := importFlags{rate: 5}
	cmd := &cobra.Command{
		Use:   "import TENANT",
		Short: "Make codes of the contact ways that a tenant has at WeCom",
		Long: `Lists the contact ways that WeCom has of a tenant and makes a code of each that no
code has yet, with the members, the remark, the state and the verification that it
has at WeCom. The code's ID is the contact way's state, or "wx-" and its config_id
when that cannot be one or is in use. Contact ways of a single member, of a
mini-program, with departments, and temporary ones are skipped and told.

A tenant without a code begins in shadow mode: its lists are decided and nothing is
pushed. Into a tenant that has codes and is live an import is made only when
--into-live asks for it: WeCom is then pushed to.

An import that was stopped, or whose process died, is gone on with by the same
command. WeCom's answer that there are too many calls is waited out.`,
		Example: `  rollcall migrate import acme
  rollcall migrate import acme --status -o json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := flags.check(cmd); err != nil {
				return err
			}
			if flags.status {
				return runImportStatus(cmd, args[0], flags)
			}
			return runImport(cmd, args[0], flags)
		},
	}
	f := cmd.Flags()
	f.Float64Var(&flags.rate, "rate", flags.rate, "calls a second at WeCom, at most 20")
	f.BoolVar(&flags.intoLive, "into-live", false, "import into a tenant that has codes and is live, and push")
	f.BoolVar(&flags.status, "status", false, "tell how far the newest import is, and import nothing")
	addOutput(cmd, &flags.output)
	return cmd
}

func (f importFlags) check(cmd *cobra.Command) error {
	if !(f.rate > 0 && f.rate <= maxImportRate) { // NaN is neither
		return fmt.Errorf("--rate is %v; want more than 0 and at most %d calls a second", f.rate, maxImportRate)
	}
	return checkOutput(cmd, f.output)
}

func runImport(cmd *cobra.Command, tenant string, flags importFlags) error {
	cfg, err := loadConfig(cmd, config.NeedMongoDB, config.NeedPulsar, config.NeedRedis)
	if err != nil {
		return err
	}
	progress := newImportProgress(cmd.ErrOrStderr())
	order := service.ImportOrder{Tenant: tenant, Rate: flags.rate, Observer: progress}
	if flags.intoLive {
		order.Target = adoption.IntoLive
	}
	job, cause := service.ImportWays(cmd.Context(), cfg, order)
	progress.end()
	cause = explainImport(cause, job, tenant)
	if !progress.begun() {
		return cause // it was refused: what is stored is of another process, or of another time
	}
	return errors.Join(cause, summarizeImport(cmd, cfg, tenant, flags))
}

func runImportStatus(cmd *cobra.Command, tenant string, flags importFlags) error {
	cfg, err := loadConfig(cmd, config.NeedMongoDB)
	if err != nil {
		return err
	}
	return summarizeImport(cmd, cfg, tenant, flags)
}

// summarizeImport prints what is stored of an import, also when the command was
// interrupted.
func summarizeImport(cmd *cobra.Command, cfg config.Config, tenant string, flags importFlags) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(cmd.Context()), time.Minute)
	defer cancel()
	job, left, found, err := service.ImportStatus(ctx, cfg, tenant)
	if err != nil {
		return fmt.Errorf("read the import of %s: %w", tenant, err)
	}
	if !found {
		return fmt.Errorf("there was no import of tenant %q", tenant)
	}
	return printImport(cmd.OutOrStdout(), flags.output, job, left, time.Now())
}

// explainImport says what a person can do about the end of an import.
func explainImport(cause error, job adoption.Job, tenant string) error {
	again := "rollcall migrate import " + tenant
	switch {
	case cause == nil:
		return nil
	case errors.Is(cause, context.Canceled):
		return fmt.Errorf("stopped after %d of %d; go on with: %s", job.Done, job.Listed, again)
	case errors.Is(cause, adoption.ErrTenantLive):
		return fmt.Errorf("%w: --into-live imports all the same, and what is imported is pushed", cause)
	case errors.Is(cause, adoption.ErrCredentials):
		return fmt.Errorf("%w\nput the right ones (PUT /v1/tenants/%s/credentials), or see to it that the app may use customer contact from this address; then go on with: %s",
			cause, tenant, again)
	case errors.Is(cause, adoption.ErrUnreachable):
		return fmt.Errorf("%w\nthe import is kept; go on with: %s", cause, again)
	}
	return cause
}
