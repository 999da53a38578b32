package config

import "testing"

func TestARenewalMayFailWithoutCostingTheRole(t *testing.T) {
	setEnv(t, map[string]string{"ROLLCALL_KEEPER_LEASE_TTL": "6s", "ROLLCALL_KEEPER_LEASE_RENEW": "2001ms"})
	wantMistakes(t, []string{
		`ROLLCALL_KEEPER_LEASE_RENEW="2.001s" and ROLLCALL_KEEPER_LEASE_TTL="6s": one renewal that fails would cost the role, so the first must be a third of the second at most`,
	})
	setEnv(t, map[string]string{"ROLLCALL_KEEPER_LEASE_TTL": "6s", "ROLLCALL_KEEPER_LEASE_RENEW": "2s"})
	if _, err := Load(); err != nil {
		t.Errorf("a third of the TTL: %v", err)
	}
}
