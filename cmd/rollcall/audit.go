package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/backstop/audit"
	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/service"
)

func newAuditCommand() *cobra.Command {
	var estimate bool
	var with audit.Scale
	cmd := &cobra.Command{
		Use:     "audit",
		GroupID: groupOperator,
		Short:   "Show how far the audit is and what it found, or what it costs",
		Long: `The keepers compare all codes with their facts again and again, without a call to
WeCom. This shows the pass under way, and the last one.

With --estimate it computes what looking at every code once takes: by the audit, and
by a sweep that asks WeCom for each. What you do not give is taken from the database
and the configuration.`,
		Example: `  rollcall audit
  rollcall audit --estimate
  rollcall audit --estimate --codes 6000000 --keepers 3 --rate 2000`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := loadConfig(cmd, config.NeedMongoDB)
			if err != nil {
				return err
			}
			if estimate {
				return estimateAudit(cmd, cfg, with)
			}
			state, err := service.AuditStateOf(cmd.Context(), cfg)
			if err != nil {
				return err
			}
			return printAudit(cmd.OutOrStdout(), state, time.Now())
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&estimate, "estimate", false, "compute what it costs to look at every code once")
	flags.Int64Var(&with.Codes, "codes", 0, "with --estimate: as if there were so many codes")
	flags.Int64Var(&with.Largest, "largest", 0, "with --estimate: as if the largest tenant had so many of them")
	flags.Float64Var(&with.WalkRate, "rate", 0, "with --estimate: codes a second that one keeper compares")
	flags.IntVar(&with.Keepers, "keepers", 0, "with --estimate: keepers that walk")
	flags.Float64Var(&with.Share, "share", 0, "with --estimate: the part of the vendor budget that a sweep may take, 0.01 to 1")
	cmd.AddCommand(newAuditFindingsCommand(), newAuditRunCommand())
	return cmd
}

func estimateAudit(cmd *cobra.Command, cfg config.Config, with audit.Scale) error {
	if with.Share < 0 || with.Share > 1 || with.Codes < 0 || with.Largest < 0 || with.WalkRate < 0 || with.Keepers < 0 {
		return errors.New("--codes, --largest, --rate and --keepers are 0 or more, --share is 0.01 to 1")
	}
	scale, err := service.AuditScale(cmd.Context(), cfg)
	if err != nil {
		return err
	}
	scale.Codes, scale.Largest = cmp.Or(with.Codes, scale.Codes), cmp.Or(with.Largest, scale.Largest)
	scale.WalkRate, scale.Keepers, scale.Share = cmp.Or(with.WalkRate, scale.WalkRate), cmp.Or(with.Keepers, scale.Keepers), cmp.Or(with.Share, scale.Share)
	return printEstimate(cmd.OutOrStdout(), scale)
}

func printEstimate(w io.Writer, s audit.Scale) error {
	e := s.Of()
	t := newTable("to look at every code once", "calls to WeCom", "takes")
	t.AppendRow(table.Row{"the audit, " + rateText(s.WalkRate, s.Keepers), 0, e.Audit})
	t.AppendRow(table.Row{fmt.Sprintf("a sweep of WeCom with %.0f %% of the budget", 100*s.Share), e.Calls, e.SweepShared})
	t.AppendRow(table.Row{"a sweep of WeCom with the whole budget, live work standing still", e.Calls, e.SweepAlone})
	return say(w, fmt.Sprintf("%s\n%d codes, at most %d of one tenant; WeCom allows a tenant %.1f calls a second and the address %.1f.",
		t.Render(), s.Codes, s.Largest, s.TenantRate, s.TotalRate))
}

func rateText(rate float64, keepers int) string {
	if keepers == 1 {
		return fmt.Sprintf("one keeper at %.0f codes a second", rate)
	}
	return fmt.Sprintf("%d keepers at %.0f codes a second each", keepers, rate)
}

func printAudit(w io.Writer, s service.AuditState, now time.Time) error {
	p := s.Pass
	if p.Number == 0 {
		return say(w, "No pass has begun yet: no keeper runs, or it cannot reach MongoDB.")
	}
	if p.Ended.IsZero() {
		if err := say(w, underWayText(p, s.Codes, now)); err != nil {
			return err
		}
	}
	if p.Last.Number == 0 {
		return nil
	}
	took := p.Last.Ended.Sub(p.Last.Begun)
	t := newTable("found", "codes")
	for _, word := range wordsOf(p.Last.Tally) {
		t.AppendRow(table.Row{word, p.Last.Tally[word]})
	}
	return say(w, fmt.Sprintf("Pass %d ended %s and took %s (%.0f codes a second).\n%s",
		p.Last.Number, ago(now, p.Last.Ended), took.Round(time.Second), perSecond(p.Last.Tally[audit.TallyLooked], took), t.Render()))
}

// underWayText says how far a pass is. How many codes there are is about right,
// so the time that is left is too.
func underWayText(p audit.Pass, codes int64, now time.Time) string {
	took := now.Sub(p.Begun)
	looked := p.Tally[audit.TallyLooked]
	text := fmt.Sprintf("Pass %d began %s: over %s, %d of about %d codes, %d differ", p.Number, ago(now, p.Begun), p.Stage, looked, codes, differing(p.Tally))
	if rate := perSecond(looked, took); rate > 0 && looked < codes {
		left := time.Duration(float64(codes-looked) / rate * float64(time.Second))
		text += fmt.Sprintf("; %.0f a second, about %s left", rate, left.Round(time.Second))
	}
	return text + "."
}

func perSecond(n int64, in time.Duration) float64 { return float64(n) / max(in.Seconds(), 0.001) }

func differing(t audit.Tally) int64 {
	var n int64
	for word, count := range t {
		switch word {
		case audit.TallyLooked, audit.TallyAgrees, audit.TallyShadowed, audit.TallyWaits:
		default:
			n += count
		}
	}
	return n
}

// wordsOf are the words of a tally: what is usual first, then the differences.
func wordsOf(t audit.Tally) []string {
	usual := []string{audit.TallyLooked, audit.TallyAgrees, audit.TallyWaits, audit.TallyShadowed}
	var rest []string
	for word := range t {
		if !slices.Contains(usual, word) {
			rest = append(rest, word)
		}
	}
	slices.Sort(rest)
	return slices.Concat(usual, rest)
}

func newAuditFindingsCommand() *cobra.Command {
	since, limit := 25*time.Hour, 100
	cmd := &cobra.Command{
		Use:   "findings",
		Short: "List what the audit found and no refresh can mend",
		Long: `Lists staff that codes name and nobody knows, facts that contradict themselves,
records and rotation sets without a code. Codes that merely differ from their facts
are in the dirty set instead: "rollcall dirty".`,
		Example: `  rollcall audit findings --since 1h`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkLimit(limit); err != nil {
				return err
			}
			cfg, err := loadConfig(cmd, config.NeedMongoDB)
			if err != nil {
				return err
			}
			now := time.Now()
			found, err := service.FindingsSeen(cmd.Context(), cfg, now.Add(-since), limit)
			if err != nil {
				return err
			}
			return printFindings(cmd.OutOrStdout(), found, now)
		},
	}
	cmd.Flags().DurationVar(&since, "since", since, "list what was found within this time")
	cmd.Flags().IntVar(&limit, "limit", limit, "most findings to list")
	return cmd
}

func printFindings(w io.Writer, found []mongostore.Found, now time.Time) error {
	if len(found) == 0 {
		return say(w, "The audit found nothing that a refresh cannot mend.")
	}
	t := newTable("found", "tenant", "code", "first", "last", "detail")
	for _, f := range found {
		t.AppendRow(table.Row{f.Kind, f.Tenant, f.Code, ago(now, f.FirstSeen), ago(now, f.LastSeen), shortened(f.Detail)})
	}
	return say(w, fmt.Sprintf("%s\n%d findings", t.Render(), len(found)))
}

func newAuditRunCommand() *cobra.Command {
	rate, asJSON := -1.0, false
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Walk one pass now, beside the keepers",
		Long: `Walks what is left of the pass under way, or a whole one, as fast as it goes or at
--rate, and prints what was found. Codes that differ become dirty, as they would if a
keeper had found them. The spot check draws its sample from the keepers' own walk: what
is walked here is asked about by nobody.`,
		Example: `  rollcall audit run --rate 500`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if rate == 0 {
				return errors.New("--rate is 0; want codes a second, or less than 0 for no limit")
			}
			cfg, err := loadConfig(cmd, config.NeedMongoDB, config.NeedRedis)
			if err != nil {
				return err
			}
			summary, err := service.RunAudit(cmd.Context(), cfg, rate, func(audit.Pass) {})
			if err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(summary)
			}
			return printAudit(cmd.OutOrStdout(), service.AuditState{Pass: audit.Pass{Number: summary.Number, Ended: summary.Ended, Last: summary}}, time.Now())
		},
	}
	cmd.Flags().Float64Var(&rate, "rate", rate, "codes a second; less than 0: as fast as it goes")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print what was found as JSON")
	return cmd
}
