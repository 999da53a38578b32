package main

import (
	"github.com/spf13/cobra"

	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/service"
)

func newKeeperCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "keeper",
		GroupID: groupRoles,
		Short:   "Bring back codes that could not be finished",
		Long: `The keeper releases the codes of the dirty set when they are due, at the pace of
their tenant's budget, and makes codes dirty whose announced push was left
without an outcome. Run two: one works, the other stands by (and is ready). The
second takes over at once when the first is stopped with SIGTERM, and within
ROLLCALL_KEEPER_LEASE_TTL and a second when it dies.`,
		Example: `  rollcall keeper`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := loadConfig(cmd, config.NeedPulsar, config.NeedMongoDB, config.NeedRedis)
			if err != nil {
				return err
			}
			return service.RunKeeper(cmd.Context(), cfg, readBuild().String())
		},
	}
}
