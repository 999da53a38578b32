package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/letters"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/service"
)

// republishOrder is what is to be published in place of letters.
type republishOrder struct {
	key    string
	tenant string
	asCode string
	why    string
	reason string
}

func newRepublishCommand() *cobra.Command {
	var by string
	var o republishOrder
	cmd := &cobra.Command{
		Use:   "republish ID...",
		Short: "Publish dead letters again, if they can be read now",
		Long: `Publishes the event of each letter again, under the key of its code, and then counts
the letter as dealt with. A letter is refused when a refresher would bury it again.
With --key or --tenant it is refused as well when its event is about another code or
tenant than you take it to be.

With --as-code a fresh event for that code is published in the letter's place, and what
the letter holds is not looked at.`,
		Example: `  rollcall deadletters republish 12:3:0 --reason "their producer sets the key now"
  rollcall deadletters republish 12:5:0 --as-code code-1 --tenant acme --why importer_mended`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(args); err != nil {
				return err
			}
			return atLettersDesk(cmd, by, func(ctx context.Context, desk letters.Desk) error {
				return each(args, func(id string) error {
					event, err := o.publish(ctx, desk, id)
					if err != nil {
						return err
					}
					return say(cmd.OutOrStdout(), fmt.Sprintf("%s: an event of code %s of tenant %s is published", id, event.Code, event.Tenant))
				})
			})
		},
	}
	cmd.Flags().StringVar(&o.key, "key", "", "the code that the letter's event has to be about")
	cmd.Flags().StringVar(&o.tenant, "tenant", "", "the tenant that it has to be about; with --as-code, whose code it is")
	cmd.Flags().StringVar(&o.asCode, "as-code", "", "publish a fresh event for this code instead")
	cmd.Flags().StringVar(&o.why, "why", "", "the reason in the fresh event, at most 64 bytes")
	cmd.Flags().StringVar(&o.reason, "reason", "", "why you decide so, for the record")
	addByFlag(cmd, &by)
	return cmd
}

// check refuses a command line that could mean two things, or none.
func (o republishOrder) check(ids []string) error {
	switch {
	case o.asCode == "" && o.why != "":
		return errors.New("--why belongs to --as-code; the record's reason is --reason")
	case o.asCode == "":
		return nil
	case o.key != "" || o.reason != "":
		return errors.New("--as-code takes neither --key nor --reason: its reason is --why")
	case o.tenant == "" || o.why == "":
		return errors.New("--as-code needs --tenant and --why")
	case len(ids) > 1:
		return errors.New("--as-code is for one letter: one event in the place of one")
	}
	return nil
}

func (o republishOrder) publish(ctx context.Context, desk letters.Desk, id string) (letters.Event, error) {
	if o.asCode != "" {
		return desk.Replace(ctx, id, push.Ref{Tenant: o.tenant, Code: o.asCode}, o.why)
	}
	event, err := desk.Republish(ctx, id, letters.Expect{Tenant: o.tenant, Code: o.key}, o.reason)
	if errors.Is(err, letters.ErrUnreadable) {
		err = fmt.Errorf("%w (see --as-code, or discard it)", err)
	}
	return event, err
}

func newDiscardCommand() *cobra.Command {
	var by, why string
	cmd := &cobra.Command{
		Use:     "discard ID... --reason TEXT",
		Short:   "Count dead letters as dealt with and publish nothing",
		Long:    `Counts letters as dealt with. The broker removes them in time. The reason is recorded.`,
		Example: `  rollcall deadletters discard 12:6:0 --reason "a test of theirs"`,
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if why == "" {
				return letters.ErrNoReason
			}
			return atLettersDesk(cmd, by, func(ctx context.Context, desk letters.Desk) error {
				return each(args, func(id string) error {
					if err := desk.Discard(ctx, id, why); err != nil {
						return err
					}
					return say(cmd.OutOrStdout(), id+" is discarded")
				})
			})
		},
	}
	cmd.Flags().StringVar(&why, "reason", "", "why, for the record; required")
	addByFlag(cmd, &by)
	return cmd
}

// atLettersDesk finds out who decides and has him decide.
func atLettersDesk(cmd *cobra.Command, flag string, do func(context.Context, letters.Desk) error) error {
	by, err := decider(flag)
	if err != nil {
		return err
	}
	cfg, err := loadConfig(cmd, config.NeedPulsar, config.NeedMongoDB)
	if err != nil {
		return err
	}
	return service.AtLettersDesk(cmd.Context(), cfg, by, func(desk letters.Desk) error { return do(cmd.Context(), desk) })
}
