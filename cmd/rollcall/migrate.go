package main

import (
	"github.com/spf13/cobra"
)

// newMigrateCommand groups what moves a company over, each from a file of its
// own.
func newMigrateCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "migrate",
		GroupID: groupOperator,
		Short:   "Move a company over from another system",
		Long: `Moves a company over from the system that kept its live QR codes until now
(docs/migration.md).`,
		Example: `  rollcall migrate shadow acme
  rollcall migrate import acme
  rollcall migrate report acme
  rollcall migrate live acme --reason "seven clean days"`,
	}
	cmd.AddCommand(
		newMigrateImportCommand(),
		newMigrateReportCommand(),
		newMigrateLiveCommand(),
		newMigrateShadowCommand(),
	)
	return cmd
}
