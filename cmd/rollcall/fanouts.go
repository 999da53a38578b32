package main

import (
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/fanout"
	"github.com/rollcall-dev/rollcall/internal/service"
)

func newFanOutsCommand() *cobra.Command {
	var tenant string
	var all bool
	cmd := &cobra.Command{
		Use:     "fanouts",
		GroupID: groupOperator,
		Short:   "List the fan-outs under way, how far they are and how long they take",
		Long: `Lists the fan-outs: a change of a staff member or of a tenant that has many codes
recomputed. Each releases its codes at the tenant's rate of WeCom calls. With --all
it lists those that are done as well: the newest of each staff member and tenant.`,
		Example: `  rollcall fanouts
  rollcall fanouts --tenant acme --all`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := loadConfig(cmd, config.NeedMongoDB)
			if err != nil {
				return err
			}
			jobs := service.ListFanOuts(cmd.Context(), cfg, tenant)
			if !all {
				jobs = underWay(jobs)
			}
			return printFanOuts(cmd.OutOrStdout(), jobs, time.Now())
		},
	}
	cmd.Flags().StringVar(&tenant, "tenant", "", "list those of one tenant")
	cmd.Flags().BoolVar(&all, "all", false, "list those that are done as well")
	return cmd
}

func underWay(jobs iter.Seq2[fanout.Job, error]) iter.Seq2[fanout.Job, error] {
	return func(yield func(fanout.Job, error) bool) {
		for job, err := range jobs {
			if (err != nil || job.State != fanout.Done) && !yield(job, err) {
				return
			}
		}
	}
}

func printFanOuts(w io.Writer, jobs iter.Seq2[fanout.Job, error], now time.Time) error {
	t := newTable("fan-out", "epoch", "why", "requested", "state", "released", "codes/s", "left", "by")
	n := 0
	for job, err := range jobs {
		if err != nil {
			return fmt.Errorf("list the fan-outs: %w", err)
		}
		n++
		rate := job.Rate(now)
		t.AppendRow(table.Row{
			job.ID, job.Epoch, job.Why, ago(now, job.Requested), job.State,
			fmt.Sprintf("%d of %d", job.Released, job.Total), fmt.Sprintf("%.1f", rate), leftOf(job, rate), job.Claim.Owner,
		})
	}
	if n == 0 {
		return say(w, "No fan-out is under way.")
	}
	return say(w, fmt.Sprintf("%s\n%d fan-outs", t.Render(), n))
}

func leftOf(job fanout.Job, rate float64) string {
	left, known := job.Left(rate)
	if !known {
		return "not known yet"
	}
	return left.Round(time.Second).String()
}
