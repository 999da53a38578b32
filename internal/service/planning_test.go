package service

import (
	"math"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/rollcall-dev/rollcall/internal/adapter/redisbudget"
	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/telemetry"
)

// A plan reckons with the rates that the vendor budget derives.
func TestAPlanHasTheBudgetsRates(t *testing.T) {
	for name, env := range map[string]map[string]string{
		"as it ships": {},
		"smaller":     {"ROLLCALL_BUDGET_TENANT_BURST": "100", "ROLLCALL_BUDGET_TENANT_PER_MINUTE": "900", "ROLLCALL_BUDGET_INSTANCES": "40", "ROLLCALL_BUDGET_DELAY": "5s"},
		"a provider":  {"ROLLCALL_BUDGET_IP_PER_MINUTE": "40000", "ROLLCALL_BUDGET_IP_PER_HOUR": "1200000"},
	} {
		t.Run(name, func(t *testing.T) {
			for variable, value := range env {
				t.Setenv(variable, value)
			}
			cfg, err := config.Load()
			if err != nil {
				t.Fatal(err)
			}
			budget, err := redisbudget.New(redis.NewClient(&redis.Options{}), budgetOptions(cfg, telemetry.Silent()))
			if err != nil {
				t.Fatal(err)
			}
			tenant, address := budget.Rate()
			planTenant, planAddress := planBudget(cfg.Budget).Rates()
			if math.Abs(tenant-planTenant) > 1e-9 || math.Abs(address-planAddress) > 1e-9 {
				t.Errorf("%v and %v; the budget has %v and %v", planTenant, planAddress, tenant, address)
			}
		})
	}
}
