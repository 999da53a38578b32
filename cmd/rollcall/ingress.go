package main

import (
	"github.com/spf13/cobra"

	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/service"
)

func newIngressCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "ingress",
		GroupID: groupRoles,
		Short:   "Take WeCom's callbacks, facts and draws over HTTP",
		Long: `The ingress is Rollcall's HTTP side: WeCom's callbacks at /callback/TENANT, the
API for facts and draws at /v1, and the landing pages at /c/CODE. Run as many as
the load asks for, behind anything that ends TLS; each answer is given only when
everything that follows from the request is durable.`,
		Example: `  rollcall ingress`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := loadConfig(cmd, config.NeedPulsar, config.NeedMongoDB, config.NeedRedis)
			if err != nil {
				return err
			}
			return service.RunIngress(cmd.Context(), cfg, readBuild().String())
		},
	}
}
