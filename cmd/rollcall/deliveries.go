package main

import (
	"fmt"
	"io"
	"iter"
	"slices"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/notify"
	"github.com/rollcall-dev/rollcall/internal/service"
)

func newDeliveriesCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "deliveries",
		GroupID: groupOperator,
		Short:   "See what the tenants' people were told, and try again what was given up",
		Long: `A delivery is one notice to a tenant's people through one channel: a webhook or a
WeCom group robot. It is pending, in_progress, sending, success, failed, or held
because its tenant's daily pool is used up (docs/notifications.md).`,
		Example: `  rollcall deliveries list --state failed
  rollcall deliveries show acme 9f86d081884c7d659a2feaa0c55ad015
  rollcall deliveries retry acme 9f86d081884c7d659a2feaa0c55ad015`,
		Args: knownSubcommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newDeliveriesListCommand(), newDeliveriesShowCommand(), newDeliveriesRetryCommand())
	return cmd
}

func newDeliveriesListCommand() *cobra.Command {
	var tenant, state string
	limit := 100
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List deliveries, and why they wait or were given up",
		Long: `Lists deliveries with their channel, notice and state, how often each was tried, when it
goes on, and what its receiver answered last. One that is held goes on with its tenant's
next daily pool.`,
		Example: `  rollcall deliveries list
  rollcall deliveries list --tenant acme --state failed`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkLimit(limit); err != nil {
				return err
			}
			which := notify.Selection{Tenant: tenant, State: notify.State(state)}
			if state != "" && !slices.Contains(notify.States(), which.State) {
				return unknownName("state", state, cmd.CommandPath(), stateNames())
			}
			cfg, err := loadConfig(cmd, config.NeedMongoDB)
			if err != nil {
				return err
			}
			return printDeliveries(cmd.OutOrStdout(), service.ListDeliveries(cmd.Context(), cfg, which), limit, time.Now())
		},
	}
	cmd.Flags().StringVar(&tenant, "tenant", "", "list those of one tenant")
	cmd.Flags().StringVar(&state, "state", "", "list those in one state")
	cmd.Flags().IntVar(&limit, "limit", limit, "most deliveries to list")
	return cmd
}

func stateNames() []string {
	names := make([]string, 0, len(notify.States()))
	for _, state := range notify.States() {
		names = append(names, string(state))
	}
	return names
}

func newDeliveriesShowCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "show TENANT DELIVERY",
		Short: "Show one delivery",
		Long: `Shows one delivery: the notice and its idempotency key, the state and since when, how
often it was tried, which day's pool paid for it, and what its receiver answered last. Its
ID is that of "rollcall deliveries list".`,
		Example: `  rollcall deliveries show acme 9f86d081884c7d659a2feaa0c55ad015`,
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := loadConfig(cmd, config.NeedMongoDB)
			if err != nil {
				return err
			}
			row, err := service.ShowDelivery(cmd.Context(), cfg, args[0], args[1])
			if err != nil {
				return err
			}
			return printDelivery(cmd.OutOrStdout(), row, time.Now())
		},
	}
}

func newDeliveriesRetryCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "retry TENANT DELIVERY",
		Short: "Make a delivery that was given up pending again",
		Long: `Makes a failed delivery pending again, with all its tries before it. Its receiver sees
the idempotency key of the earlier tries, and the daily pool is not debited again.`,
		Example: `  rollcall deliveries retry acme 9f86d081884c7d659a2feaa0c55ad015`,
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := loadConfig(cmd, config.NeedMongoDB)
			if err != nil {
				return err
			}
			if err := service.RetryDelivery(cmd.Context(), cfg, args[0], args[1]); err != nil {
				return err
			}
			return say(cmd.OutOrStdout(), "It is pending: the keeper sends it within seconds.")
		},
	}
}

func printDeliveries(w io.Writer, rows iter.Seq2[notify.Delivery, error], limit int, now time.Time) error {
	t := newTable("tenant", "delivery", "via", "kind", "state", "since", "tries", "next", "reason", "detail")
	n := 0
	for row, err := range rows {
		if err != nil {
			return fmt.Errorf("list the deliveries: %w", err)
		}
		if n == limit {
			return say(w, fmt.Sprintf("%s\n%d listed, and there are more: see --limit, --tenant and --state", t.Render(), n))
		}
		n++
		t.AppendRow(table.Row{
			row.Notice.Tenant, row.ID, row.Via, row.Notice.Kind, row.State, ago(now, row.At), row.Tries, next(row, now),
			row.Cause, shortened(row.Detail),
		})
	}
	if n == 0 {
		return say(w, "There are no such deliveries.")
	}
	return say(w, fmt.Sprintf("%s\n%d listed", t.Render(), n))
}

// next is when the row goes on by itself.
func next(row notify.Delivery, now time.Time) string {
	switch row.State {
	case notify.Held:
		return "with the next pool"
	case notify.Success, notify.Failed:
		return "-"
	default:
		return ahead(now, row.Due)
	}
}

func printDelivery(w io.Writer, row notify.Delivery, now time.Time) error {
	t := newTable("", row.ID)
	for _, line := range [][2]string{
		{"tenant", row.Notice.Tenant},
		{"via", string(row.Via)},
		{"notice", row.Notice.Text()},
		{"key", row.Notice.Key},
		{"filed", ago(now, row.FiledAt)},
		{"state", string(row.State)},
		{"since", ago(now, row.At)},
		{"next", next(row, now)},
		{"tries", fmt.Sprintf("%d in %d attempts", row.Tries, row.Attempt)},
		{"owner", row.Owner},
		{"paid by", paidBy(row)},
		{"reason", row.Cause.String()},
		{"detail", row.Detail},
	} {
		if line[1] != "" {
			t.AppendRow(table.Row{line[0], line[1]})
		}
	}
	return say(w, t.Render())
}

func paidBy(row notify.Delivery) string {
	if !row.Paid {
		return "no pool yet"
	}
	return "the pool of " + string(row.PoolDay)
}
