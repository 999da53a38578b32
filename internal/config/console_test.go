package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/seal"
)

func proxied() map[string]string {
	return map[string]string{
		"ROLLCALL_CONSOLE_KEYS":         seal.Generate("k1"),
		"ROLLCALL_CONSOLE_PROXY_HEADER": "X-Forwarded-Email",
		"ROLLCALL_CONSOLE_PROXY_SECRET": "sixteen letters!",
		"ROLLCALL_CONSOLE_PROXY_ROLES":  "li.na@example.com=read+write,group:sre=read+write+admin,*=read@acme",
	}
}

func TestTheConsoleBehindAProxy(t *testing.T) {
	setEnv(t, proxied())
	cfg, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	want := Roles{
		{Who: "li.na@example.com", Scopes: []string{"read", "write"}},
		{Who: "group:sre", Scopes: []string{"read", "write", "admin"}},
		{Who: "*", Scopes: []string{"read"}, Tenant: "acme"},
	}
	if diff := cmp.Diff(want, cfg.Console.ProxyRoles); diff != "" {
		t.Error(diff)
	}
}

// Half a proxy would let in nobody, or anybody.
func TestHalfAProxyIsRefused(t *testing.T) {
	for without, because := range map[string]string{
		"ROLLCALL_CONSOLE_PROXY_HEADER": "a proxy that signs people in needs both",
		"ROLLCALL_CONSOLE_PROXY_SECRET": "a proxy that signs people in needs both",
		"ROLLCALL_CONSOLE_PROXY_ROLES":  "a proxy that signs people in needs both",
		"ROLLCALL_CONSOLE_KEYS":         "without a key there is no console",
	} {
		env := proxied()
		delete(env, without)
		setEnv(t, env)
		if _, err := Load(); err == nil || !strings.Contains(err.Error(), because) {
			t.Errorf("without %s: %v, want %q", without, err, because)
		}
	}
	env := proxied()
	env["ROLLCALL_CONSOLE_PROXY_SECRET"] = "short"
	setEnv(t, env)
	if _, err := Load(); err == nil || !strings.Contains(err.Error(), "at least 16 characters") || strings.Contains(err.Error(), "short") {
		t.Errorf("a short secret: %v", err)
	}
}

func TestRolesThatAreNone(t *testing.T) {
	for _, text := range []string{"li.na", "=read", "li.na=root", "li.na=read@", "li.na=", "a=read,,b=read"} {
		var roles Roles
		if err := roles.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is read as %v", text, roles)
		}
	}
}
