package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/dirty"
	"github.com/rollcall-dev/rollcall/internal/ident"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/service"
)

// retryOrder is which codes are to be tried again.
type retryOrder struct {
	cause  string // of all that have it
	tenant string
	limit  int
	why    string
}

func newDirtyRetryCommand() *cobra.Command {
	var by string
	o := retryOrder{limit: dirty.MostAtOnce}
	cmd := &cobra.Command{
		Use:   "retry CODE...",
		Short: "Make dirty codes due now",
		Long: `Makes dirty codes due now: the keeper publishes them at the tenant's pace, and a
refresher looks at them once more. With --all-of-reason it takes the tenant's codes
that have a reason among theirs, at most --limit of them; run it again for more.`,
		Example: `  rollcall dirty retry acme/code-1 code-2
  rollcall dirty retry --all-of-reason bad_member --tenant acme --reason "the app sees them again"`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(args); err != nil {
				return err
			}
			return atDirtyDesk(cmd, by, func(ctx context.Context, desk dirty.Desk) error {
				if o.cause != "" {
					done, err := desk.RetryAll(ctx, o.tenant, reason.Reason(o.cause), o.limit, o.why)
					return errors.Join(err, printRetried(cmd.OutOrStdout(), done, o))
				}
				return each(args, func(name string) error {
					ref, err := desk.Retry(ctx, name, o.why)
					if err != nil {
						return err
					}
					return say(cmd.OutOrStdout(), fmt.Sprintf("%s/%s is due now", ref.Tenant, ref.Code))
				})
			})
		},
	}
	cmd.Flags().StringVar(&o.cause, "all-of-reason", "", "try all codes of --tenant again that have this reason")
	cmd.Flags().StringVar(&o.tenant, "tenant", "", "the tenant of --all-of-reason")
	cmd.Flags().IntVar(&o.limit, "limit", o.limit, "most codes of --all-of-reason")
	cmd.Flags().StringVar(&o.why, "reason", "", "why, for the record")
	addByFlag(cmd, &by)
	return cmd
}

// check refuses a command line that could mean two things, or none.
func (o retryOrder) check(codes []string) error {
	switch {
	case o.cause == "" && len(codes) == 0:
		return errors.New("which codes? Name them, or give --all-of-reason and --tenant")
	case o.cause == "" && o.tenant != "":
		return errors.New("--tenant belongs to --all-of-reason; one code of a tenant is TENANT/CODE")
	case o.cause != "" && len(codes) > 0:
		return errors.New("name codes or give --all-of-reason, not both")
	case o.cause != "" && !ident.Tenant(o.tenant):
		return errors.New("--all-of-reason is for one tenant: give --tenant")
	case o.limit < 1 || o.limit > dirty.MostAtOnce:
		return fmt.Errorf("--limit is %d; want 1 to %d", o.limit, dirty.MostAtOnce)
	}
	return nil
}

func printRetried(w io.Writer, done dirty.Retried, o retryOrder) error {
	text := fmt.Sprintf("%d codes are due now", done.Due)
	if done.Due+done.Changed == 0 {
		text = fmt.Sprintf("No code of %s has the reason %s.", o.tenant, o.cause)
	}
	if done.Changed > 0 {
		text += fmt.Sprintf(", %d had changed meanwhile", done.Changed)
	}
	if done.Due+done.Changed == o.limit {
		text += "; there may be more: run it again"
	}
	return say(w, text)
}

func newDirtyDropCommand() *cobra.Command {
	var by, why string
	cmd := &cobra.Command{
		Use:   "drop CODE... --reason TEXT",
		Short: "Give dirty codes up, until their next event",
		Long: `Takes codes out of the dirty set. Nothing looks at them again until their next event
or the next instant at which time changes their list. The reason is recorded.`,
		Example: `  rollcall dirty drop acme/code-1 --reason "printed by mistake, never used"`,
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if why == "" {
				return dirty.ErrNoReason
			}
			return atDirtyDesk(cmd, by, func(ctx context.Context, desk dirty.Desk) error {
				return each(args, func(name string) error {
					ref, err := desk.Drop(ctx, name, why)
					if err != nil {
						return err
					}
					return say(cmd.OutOrStdout(), fmt.Sprintf("%s/%s is out of the dirty set", ref.Tenant, ref.Code))
				})
			})
		},
	}
	cmd.Flags().StringVar(&why, "reason", "", "why, for the record; required")
	addByFlag(cmd, &by)
	return cmd
}

// atDirtyDesk finds out who decides and has him decide.
func atDirtyDesk(cmd *cobra.Command, flag string, do func(context.Context, dirty.Desk) error) error {
	by, err := decider(flag)
	if err != nil {
		return err
	}
	cfg, err := loadConfig(cmd, config.NeedMongoDB)
	if err != nil {
		return err
	}
	return service.AtDirtyDesk(cmd.Context(), cfg, by, func(desk dirty.Desk) error { return do(cmd.Context(), desk) })
}

// each does something for each name; what fails for one keeps the others from
// nothing, and is told at the end.
func each(names []string, do func(name string) error) error {
	var failed []error
	for _, name := range names {
		if err := do(name); err != nil {
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}
