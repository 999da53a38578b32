package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/fanout"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/internal/service"
)

func newMigrateLiveCommand() *cobra.Command {
	order := service.SwitchOrder{Mode: roster.Live}
	cmd := &cobra.Command{
		Use:   "live TENANT",
		Short: "Have Rollcall write a tenant's lists from now on",
		Long: `Ends the shadow mode of a tenant: Rollcall writes its lists at WeCom from now on. Stop
the other system's pushes first. Every code is recomputed, and pushed once whatever is
known of it. No process restarts and no event is lost: the mode is a fact, and whoever
refreshes a code reads it.

A tenant that the report does not call ready is refused; --yes insists.`,
		Example: `  rollcall migrate report acme
  rollcall migrate live acme --reason "seven clean days"`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return switchMode(cmd, args[0], order, "Rollcall writes the lists of tenant %s now.")
		},
	}
	cmd.Flags().BoolVar(&order.Insist, "yes", false, "go live although the report says not to")
	addSwitchFlags(cmd, &order)
	return cmd
}

func newMigrateShadowCommand() *cobra.Command {
	order := service.SwitchOrder{Mode: roster.Shadow}
	cmd := &cobra.Command{
		Use:   "shadow TENANT",
		Short: "Have another system write a tenant's lists from now on",
		Long: `Puts a tenant into shadow mode: Rollcall goes on deciding and pushes nothing. This is
the way in, before anything is moved over, and the way back. It waits until no call of
Rollcall's can land any more: let the other system push after that. How long that is
follows from ROLLCALL_WECOM_CALL_TIMEOUT and ROLLCALL_REFRESHER_INTENT_MARGIN: set them
here as they are set for the refreshers.`,
		Example: `  rollcall migrate shadow acme --reason "back to the old system: incident 42"`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return switchMode(cmd, args[0], order, "Rollcall pushes nothing for tenant %s any more; the other system may.")
		},
	}
	addSwitchFlags(cmd, &order)
	return cmd
}

func addSwitchFlags(cmd *cobra.Command, order *service.SwitchOrder) {
	cmd.Flags().StringVar(&order.Why, "reason", "", "why, for the record")
	addByFlag(cmd, &order.By)
}

func switchMode(cmd *cobra.Command, tenant string, order service.SwitchOrder, done string) error {
	cfg, err := loadConfig(cmd, config.NeedMongoDB)
	if err != nil {
		return err
	}
	if order.By, err = decider(order.By); err != nil {
		return err
	}
	order.Tenant = tenant
	order.Progress = progressTo(cmd.ErrOrStderr())
	switched, err := service.SwitchMode(cmd.Context(), cfg, order)
	if err != nil {
		return fmt.Errorf("switch tenant %s to %s: %w", tenant, order.Mode, err)
	}
	if order.Mode == roster.Shadow { // also of a switch whose command was interrupted
		if err := landed(cmd, cfg, time.Now()); err != nil {
			return err
		}
	}
	if !switched {
		done = "Tenant %s is in mode " + string(order.Mode) + " already."
	}
	others, total, err := service.CodesInAnotherMode(cmd.Context(), cfg, tenant, order.Mode, maxOthers)
	if err != nil {
		return err
	}
	return say(cmd.OutOrStdout(), fmt.Sprintf(done, tenant)+exceptions(others, total))
}

// maxOthers is how many codes with a mode of their own are named.
const maxOthers = 10

// exceptions names the codes that did not follow their tenant.
func exceptions(names []string, total int) string {
	if total == 0 {
		return ""
	}
	text := fmt.Sprintf("\nExcept for %d codes that have a mode of their own: %s", total, strings.Join(names, ", "))
	if total > len(names) {
		text += ", …"
	}
	return text + ".\nPUT /v1/tenants/{tenant}/codes/{code}/mode with {\"mode\":\"auto\"} has a code follow its tenant."
}

// landed waits until every call that was announced before the switch has landed,
// or never will. It counts from when all codes have been given to the refreshers:
// a refresh that read the facts right before the switch announces its call after.
func landed(cmd *cobra.Command, cfg config.Config, switched time.Time) error {
	left := time.Until(switched.Add(cfg.WeCom.CallTimeout + cfg.Refresher.IntentMargin))
	if left <= 0 {
		return nil
	}
	if err := say(cmd.ErrOrStderr(), fmt.Sprintf("waiting %s for calls that may be under way", left.Round(100*time.Millisecond))); err != nil {
		return err
	}
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-cmd.Context().Done():
		return cmd.Context().Err()
	}
}

// progressTo tells how far a fan-out is, whenever that has changed. While its codes
// are being listed there is nothing to tell yet.
func progressTo(w io.Writer) func(fanout.Job) {
	told := -1
	return func(job fanout.Job) {
		if job.State == fanout.Pending || job.Released == told {
			return
		}
		told = job.Released
		_, _ = fmt.Fprintf(w, "codes given to the refreshers: %d of %d\n", job.Released, job.Total)
	}
}
