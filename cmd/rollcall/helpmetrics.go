package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/rollcall-dev/rollcall/internal/telemetry/metrics"
)

//go:generate sh -c "go run . help metrics --markdown > ../../docs/metrics.md"

func newHelpMetricsCommand() *cobra.Command {
	var markdown bool
	cmd := &cobra.Command{
		Use:   "metrics",
		Short: "Every metric, its labels and what to do about it",
		Long: `Lists every metric that the roles serve at /metrics: its name, unit and labels, what it
says, and what to do when it says something unusual.`,
		Example: `  rollcall help metrics
  rollcall help metrics --markdown > docs/metrics.md`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			render := metricsScreen
			if markdown {
				render = metricsMarkdown
			}
			_, err := io.WriteString(cmd.OutOrStdout(), render(metrics.Catalog()))
			return err
		},
	}
	cmd.Flags().BoolVar(&markdown, "markdown", false, "print docs/metrics.md")
	return cmd
}

// metricsScreen renders the catalog for a terminal: a paragraph each.
func metricsScreen(catalog []metrics.Instrument) string {
	var b strings.Builder
	for i, m := range catalog {
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "%s\n  %s: %s, unit %s, %s\n", m.Name, m.Prometheus, m.Kind, m.Unit, seriesOf(m))
		b.WriteString(paragraph("", m.What))
		for _, label := range m.Labels {
			b.WriteString(paragraph(label.Key+": ", strings.Join(label.Values, ", ")))
		}
		b.WriteString(paragraph("→ ", m.Action))
	}
	return b.String()
}

// paragraph wraps a text that is indented by two columns, and its further
// lines below the text.
func paragraph(mark, body string) string {
	indent := strings.Repeat(" ", 2+utf8.RuneCountInString(mark))
	body = wrapWords(body, screenWidth-len(indent))
	return "  " + mark + strings.ReplaceAll(body, "\n", "\n"+indent) + "\n"
}

func seriesOf(m metrics.Instrument) string {
	if n := m.Series(); n != 1 {
		return fmt.Sprintf("at most %d series", n)
	}
	return "one series"
}

// metricsMarkdown renders docs/metrics.md.
func metricsMarkdown(catalog []metrics.Instrument) string {
	var b strings.Builder
	b.WriteString("# Metrics\n\n<!-- Printed by `rollcall help metrics --markdown`; a test compares. Change internal/telemetry/metrics instead. -->\n\n")
	b.WriteString("Every process serves its metrics to Prometheus at `/metrics` (`ROLLCALL_HTTP_ADDR`), and pushes them over OTLP when `OTEL_METRICS_EXPORTER` or `OTEL_EXPORTER_OTLP_ENDPOINT` says so. " +
		"Every label is a closed set: no tenant, code or staff member makes a series, and a value outside the set is counted as `other`. " +
		"Beside these there are Go's own (`go_*`, `process_*`) and the Pulsar client's (`pulsar_client_*`), except that the latter's `pulsar_client_consumer_processing_time_seconds` is not to be trusted.\n")
	for _, m := range catalog {
		fmt.Fprintf(&b, "\n## %s\n\n`%s`: %s, unit `%s`, %s", m.Name, m.Prometheus, m.Kind, m.Unit, seriesOf(m))
		if len(m.Buckets) > 0 {
			fmt.Fprintf(&b, " of %d buckets each (%s)", len(m.Buckets)+1, bucketsOf(m))
		}
		fmt.Fprintf(&b, ".\n\n%s\n", m.What)
		for i, label := range m.Labels {
			if i == 0 {
				b.WriteString("\n")
			}
			fmt.Fprintf(&b, "- label `%s`: `%s`\n", label.Key, strings.Join(label.Values, "`, `"))
		}
		fmt.Fprintf(&b, "\n**What to do:** %s\n", m.Action)
	}
	return b.String()
}

func bucketsOf(m metrics.Instrument) string {
	bounds := make([]string, len(m.Buckets))
	for i, bound := range m.Buckets {
		bounds[i] = strconv.FormatFloat(bound, 'f', -1, 64)
	}
	return strings.Join(bounds, ", ")
}
