package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/service"
)

func newRefresherCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "refresher",
		GroupID: groupRoles,
		Short:   "Consume refresh events and keep the lists at WeCom true",
		Long: `The refresher consumes refresh events, recomputes each code's list from the facts
and pushes it to WeCom. Run as many as you like: the broker brings each code to
one of them. It stops on SIGTERM after finishing what is in flight.`,
		Example: `  rollcall refresher
  ROLLCALL_REFRESHER_WORKERS=128 rollcall refresher`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := loadConfig(cmd, config.NeedPulsar, config.NeedMongoDB, config.NeedRedis)
			if err != nil {
				return err
			}
			return service.RunRefresher(cmd.Context(), cfg, readBuild().String())
		},
	}
}

// loadConfig reads the environment and tells of variables that look mistyped.
func loadConfig(cmd *cobra.Command, needs ...config.Concern) (config.Config, error) {
	for _, warning := range config.Warnings(os.Environ()) {
		cmd.PrintErrln("rollcall: warning: " + warning)
	}
	return config.Load(needs...)
}
