package preflight

import (
	"context"
	"fmt"
	"strings"
)

// Settings are what can be said of the configuration alone.
type Settings struct {
	Unknown  []string // warnings about variables that are none of ours
	SealKey  string   // the ID of the key that seals; "" without one
	TokenKey bool     // access tokens are shared between instances
}

// SettingsChecks are the checks of the configuration.
func SettingsChecks(s Settings) []Check {
	return []Check{
		{Name: "config.variables", Look: func(context.Context) Finding { return s.variables() }},
		{Name: "config.seal_keys", Look: func(context.Context) Finding { return s.sealKeys() }},
		{Name: "config.token_key", Look: func(context.Context) Finding { return s.tokenKey() }},
	}
}

func (s Settings) variables() Finding {
	if len(s.Unknown) > 0 {
		return warn(strings.Join(s.Unknown, "; "), "correct or remove them")
	}
	return ok("valid, and no variable is unknown")
}

func (s Settings) sealKeys() Finding {
	if s.SealKey == "" {
		return warn("ROLLCALL_SEAL_KEYS is not set: secrets are read in clear and none can be stored",
			"make a key (openssl rand -base64 32) and give it to every process: docs/secrets.md")
	}
	return ok(fmt.Sprintf("key %q seals", s.SealKey))
}

func (s Settings) tokenKey() Finding {
	if !s.TokenKey {
		return warn("ROLLCALL_WECOM_TOKEN_KEY is not set: each instance fetches access tokens of its own",
			"set the same key (openssl rand -base64 32) for all instances")
	}
	return ok("access tokens are shared, sealed")
}
