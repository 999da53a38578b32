package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Not parallel: the environment is one for the whole process.

func TestDefaultsAreWhatTheDesignSays(t *testing.T) {
	setEnv(t, nil)
	cfg, err := Load()
	if err != nil {
		t.Fatalf("defaults alone: %v", err)
	}
	type row struct{ got, want any }
	for name, r := range map[string]row{
		"topic":            {cfg.Pulsar.Topic, "persistent://public/default/rollcall-refresh"},
		"subscription":     {cfg.Pulsar.Subscription, "rollcall"},
		"dead letters":     {cfg.Pulsar.DeadLetterTopic, "persistent://public/default/rollcall-dead-letters"},
		"database":         {cfg.MongoDB.Database, "rollcall"},
		"vendor":           {cfg.WeCom.BaseURL, "https://qyapi.weixin.qq.com"},
		"call timeout":     {cfg.WeCom.CallTimeout, 5 * time.Second},
		"egress":           {cfg.WeCom.Egress, "default"},
		"tenant a minute":  {cfg.Budget.TenantPerMinute, 10000},
		"tenant an hour":   {cfg.Budget.TenantPerHour, 150000},
		"tenant burst":     {cfg.Budget.TenantBurst, 7500},
		"ip a minute":      {cfg.Budget.IPPerMinute, 20000},
		"ip an hour":       {cfg.Budget.IPPerHour, 600000},
		"delay":            {cfg.Budget.Delay, 2 * time.Second},
		"removal share":    {cfg.Budget.RemovalShare, 0.03},
		"ip reserve":       {cfg.Budget.IPReserveShare, 0.1},
		"spare share":      {cfg.Budget.SpareShare, 0.1},
		"instances":        {cfg.Budget.Instances, 3},
		"minute":           {cfg.Budget.Minute, time.Minute},
		"hour":             {cfg.Budget.Hour, time.Hour},
		"workers":          {cfg.Refresher.Workers, 64},
		"tenant in flight": {cfg.Refresher.TenantInFlight, 8},
		"max held":         {cfg.Refresher.MaxHeld, 10000},
		"max hold":         {cfg.Refresher.MaxHold, 15 * time.Second},
		"park after":       {cfg.Refresher.ParkAfter, 2 * time.Minute},
		"recheck":          {cfg.Refresher.Recheck, time.Second},
		"max failures":     {cfg.Refresher.MaxFailures, 8},
		"backoff base":     {cfg.Refresher.BackoffBase, 500 * time.Millisecond},
		"backoff cap":      {cfg.Refresher.BackoffCap, 15 * time.Second},
		"intent margin":    {cfg.Refresher.IntentMargin, 5 * time.Second},
		"drain timeout":    {cfg.Refresher.DrainTimeout, 20 * time.Second},
		"fast for":         {cfg.Lane.FastFor, 720 * time.Hour},
		"fast tiers":       {len(cfg.Lane.FastTiers), 0},
		"slow interval":    {cfg.Lane.SlowInterval, 10 * time.Minute},
		"address":          {cfg.Telemetry.HTTPAddr, ":9090"},
		"log level":        {cfg.Telemetry.LogLevel.String(), "INFO"},
		"log format":       {cfg.Telemetry.LogFormat, "json"},
		"shadow settle":    {cfg.Shadow.Settle, 30 * time.Second},
		"no token key":     {cfg.WeCom.TokenKey.Set(), false},
	} {
		if r.got != r.want {
			t.Errorf("%s: %v, want %v", name, r.got, r.want)
		}
	}
}

func TestLoadTakesWhatIsSet(t *testing.T) {
	setEnv(t, map[string]string{
		"ROLLCALL_PULSAR_URL":               "pulsar://a:6650,b:6650",
		"ROLLCALL_MONGODB_URI":              "mongodb://u:p@a:27017,b:27017/?replicaSet=rs0",
		"ROLLCALL_REDIS_URL":                "rediss://:pw@redis:6379/3",
		"ROLLCALL_LANE_FAST_TIERS":          "premium,gold",
		"ROLLCALL_LOG_LEVEL":                "debug",
		"ROLLCALL_REFRESHER_INSTANCE":       "refresher-0",
		"ROLLCALL_WECOM_TOKEN_KEY":          "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
		"ROLLCALL_REFRESHER_WORKERS":        "", // empty counts as not set
		"ROLLCALL_BUDGET_IP_RESERVE_SHARE":  "0",
		"ROLLCALL_BUDGET_TENANT_PER_MINUTE": "10001",
	})
	cfg, err := Load(NeedPulsar, NeedMongoDB, NeedRedis)
	if err != nil {
		t.Fatal(err)
	}
	got := []string{
		cfg.Pulsar.URL, cfg.MongoDB.URI.Reveal(), cfg.Redis.URL.Reveal(), strings.Join(cfg.Lane.FastTiers, "+"),
		cfg.Telemetry.LogLevel.String(), cfg.Refresher.Instance,
		fmt.Sprint(len(cfg.WeCom.TokenKey.Reveal()), cfg.Refresher.Workers, cfg.Budget.IPReserveShare, cfg.Budget.TenantPerMinute),
	}
	want := []string{
		"pulsar://a:6650,b:6650", "mongodb://u:p@a:27017,b:27017/?replicaSet=rs0", "rediss://:pw@redis:6379/3", "premium+gold",
		"DEBUG", "refresher-0", "32 64 0 10001",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestInstanceIsHostAndProcess(t *testing.T) {
	setEnv(t, nil)
	cfg, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("%s-%d", host, os.Getpid()); cfg.Refresher.Instance != want {
		t.Errorf("instance %q, want %q", cfg.Refresher.Instance, want)
	}
}

// Every kind of mistake by itself: the line an operator reads.
func TestOneMistake(t *testing.T) {
	folder := t.TempDir()
	missing := filepath.Join(folder, "none.pem")
	for _, tc := range []struct{ name, value, want string }{
		{"ROLLCALL_WECOM_CALL_TIMEOUT", "abc", `ROLLCALL_WECOM_CALL_TIMEOUT="abc" is not a duration such as 500ms, 15s or 2m (accepted: 100ms to 1m)`},
		{"ROLLCALL_WECOM_CALL_TIMEOUT", "5", `ROLLCALL_WECOM_CALL_TIMEOUT="5" is not a duration such as 500ms, 15s or 2m (accepted: 100ms to 1m)`},
		{"ROLLCALL_WECOM_CALL_TIMEOUT", "10h", `ROLLCALL_WECOM_CALL_TIMEOUT="10h" is too large (accepted: 100ms to 1m)`},
		{"ROLLCALL_WECOM_CALL_TIMEOUT", "-1s", `ROLLCALL_WECOM_CALL_TIMEOUT="-1s" is too small (accepted: 100ms to 1m)`},
		{"ROLLCALL_REFRESHER_MAX_FAILURES", "many", `ROLLCALL_REFRESHER_MAX_FAILURES="many" is not a whole number (accepted: 1 to 100)`},
		{"ROLLCALL_REFRESHER_MAX_FAILURES", "0", `ROLLCALL_REFRESHER_MAX_FAILURES="0" is too small (accepted: 1 to 100)`},
		{"ROLLCALL_BUDGET_REMOVAL_SHARE", "NaN", `ROLLCALL_BUDGET_REMOVAL_SHARE="NaN" is not a number (accepted: 0 to 0.5)`},
		{"ROLLCALL_BUDGET_REMOVAL_SHARE", "3%", `ROLLCALL_BUDGET_REMOVAL_SHARE="3%" is not a number such as 0.1 (accepted: 0 to 0.5)`},
		{"ROLLCALL_LOG_LEVEL", "wran", `ROLLCALL_LOG_LEVEL="wran" is not accepted; did you mean warn? (accepted: debug, info, warn, error)`},
		{"ROLLCALL_LOG_FORMAT", "jason", `ROLLCALL_LOG_FORMAT="jason" is not accepted; did you mean json? (accepted: json, text)`},
		{"ROLLCALL_LOG_FORMAT", "xml", `ROLLCALL_LOG_FORMAT="xml" is not accepted (accepted: json, text)`},
		{"ROLLCALL_HTTP_ADDR", "8080", `ROLLCALL_HTTP_ADDR="8080" is not host:port (accepted: host:port or :port)`},
		{"ROLLCALL_HTTP_ADDR", ":http", `ROLLCALL_HTTP_ADDR=":http" has no port number from 0 to 65535 (accepted: host:port or :port)`},
		{"ROLLCALL_PULSAR_URL", "localhost", `ROLLCALL_PULSAR_URL="[redacted]" is not a URL (accepted: pulsar://, pulsar+ssl://)`},
		{"ROLLCALL_PULSAR_URL", "http://x", `ROLLCALL_PULSAR_URL="http://x" has another scheme (accepted: pulsar://, pulsar+ssl://)`},
		{"ROLLCALL_PULSAR_URL", "pulsar://", `ROLLCALL_PULSAR_URL="pulsar://" names no host (accepted: pulsar://, pulsar+ssl://)`},
		{"ROLLCALL_PULSAR_URL", "pulsar://u:hunter2@x", `ROLLCALL_PULSAR_URL="pulsar://[redacted]@x" must not hold a user or a password (accepted: pulsar://, pulsar+ssl://)`},
		{"ROLLCALL_WECOM_BASE_URL", "https://x/?token=hunter2", `ROLLCALL_WECOM_BASE_URL="https://x/?[redacted]" must not hold a query (accepted: http://, https://)`},
		{"ROLLCALL_MONGODB_URI", "mongo://u:hunter2@x", `ROLLCALL_MONGODB_URI="mongo://[redacted]@x" has another scheme (accepted: mongodb://, mongodb+srv://)`},
		{"ROLLCALL_MONGODB_URI", "u:hunter2@x", `ROLLCALL_MONGODB_URI="[redacted]" is not a URL (accepted: mongodb://, mongodb+srv://)`},
		{"ROLLCALL_WECOM_TOKEN_KEY", "hunter2", `ROLLCALL_WECOM_TOKEN_KEY="[redacted]" is not base64 (accepted: 32 bytes in base64 (openssl rand -base64 32))`},
		{"ROLLCALL_WECOM_TOKEN_KEY", "aHVudGVyMg==", `ROLLCALL_WECOM_TOKEN_KEY="[redacted]" does not hold 32 bytes (accepted: 32 bytes in base64 (openssl rand -base64 32))`},
		{"ROLLCALL_PULSAR_TOPIC", "rollcall", `ROLLCALL_PULSAR_TOPIC="rollcall" is not a full topic name (accepted: persistent://tenant/namespace/topic)`},
		{"ROLLCALL_MONGODB_DATABASE", "a b", `ROLLCALL_MONGODB_DATABASE="a b" holds other characters or is too long (accepted: letters, digits, '.', '_', '-'; at most 100)`},
		{"ROLLCALL_REDIS_KEY_PREFIX", "{x}", `ROLLCALL_REDIS_KEY_PREFIX="{x}" holds other characters or is too long (accepted: letters, digits, '.', '_', '-', ':'; at most 50)`},
		{"ROLLCALL_LANE_FAST_TIERS", "a,,b", `ROLLCALL_LANE_FAST_TIERS="a,,b" holds an empty word or a space (accepted: words separated by commas)`},
		{"ROLLCALL_PULSAR_TOKEN_FILE", missing, `ROLLCALL_PULSAR_TOKEN_FILE="` + missing + `" cannot be read (accepted: a file that can be read)`},
		{"ROLLCALL_PULSAR_TOKEN_FILE", folder, `ROLLCALL_PULSAR_TOKEN_FILE="` + folder + `" is not a file (accepted: a file that can be read)`},
	} {
		t.Run(tc.name+"="+tc.value, func(t *testing.T) {
			setEnv(t, map[string]string{tc.name: tc.value})
			wantMistakes(t, []string{tc.want})
		})
	}
}

// Rules between variables: broken by the least change to the defaults.
func TestOneContradiction(t *testing.T) {
	cert := filepath.Join(t.TempDir(), "cert.pem")
	if err := os.WriteFile(cert, []byte("pem"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		env  map[string]string
		want string
	}{
		{map[string]string{"ROLLCALL_BUDGET_TENANT_BURST": "10000"}, `ROLLCALL_BUDGET_TENANT_BURST="10000" and ROLLCALL_BUDGET_TENANT_PER_MINUTE="10000": a whole burst must leave room in the window, so the first has to be smaller`},
		{map[string]string{"ROLLCALL_BUDGET_IP_BURST": "20000"}, `ROLLCALL_BUDGET_IP_BURST="20000" and ROLLCALL_BUDGET_IP_PER_MINUTE="20000": a whole burst must leave room in the window, so the first has to be smaller`},
		{map[string]string{"ROLLCALL_BUDGET_TENANT_PER_HOUR": "9999"}, `ROLLCALL_BUDGET_TENANT_PER_HOUR="9999" and ROLLCALL_BUDGET_TENANT_PER_MINUTE="10000": the long window must allow at least as much as the short one`},
		{map[string]string{"ROLLCALL_BUDGET_IP_PER_HOUR": "19999"}, `ROLLCALL_BUDGET_IP_PER_HOUR="19999" and ROLLCALL_BUDGET_IP_PER_MINUTE="20000": the long window must allow at least as much as the short one`},
		{map[string]string{"ROLLCALL_BUDGET_HOUR": "1m"}, `ROLLCALL_BUDGET_MINUTE="1m0s" and ROLLCALL_BUDGET_HOUR="1m0s": the first is the short window`},
		{map[string]string{"ROLLCALL_REFRESHER_PARK_AFTER": "15s"}, `ROLLCALL_REFRESHER_MAX_HOLD="15s" and ROLLCALL_REFRESHER_PARK_AFTER="15s": no wait would ever be held again, so the first has to be shorter`},
		{map[string]string{"ROLLCALL_REFRESHER_RECHECK": "16s"}, `ROLLCALL_REFRESHER_RECHECK="16s" and ROLLCALL_REFRESHER_MAX_HOLD="15s": the first must not be longer`},
		{map[string]string{"ROLLCALL_REFRESHER_BACKOFF_CAP": "400ms"}, `ROLLCALL_REFRESHER_BACKOFF_BASE="500ms" and ROLLCALL_REFRESHER_BACKOFF_CAP="400ms": the first must not be longer`},
		{map[string]string{"ROLLCALL_REFRESHER_WORKERS": "7"}, `ROLLCALL_REFRESHER_TENANT_IN_FLIGHT="8" and ROLLCALL_REFRESHER_WORKERS="7": the first can never be reached, so it must not be larger`},
		{map[string]string{"ROLLCALL_REFRESHER_DRAIN_TIMEOUT": "5s"}, `ROLLCALL_REFRESHER_DRAIN_TIMEOUT="5s" and ROLLCALL_WECOM_CALL_TIMEOUT="5s": a call begun before the stop must be able to end while draining, so the first has to be longer`},
		{map[string]string{"ROLLCALL_REFRESHER_WORKERS": "129"}, `ROLLCALL_MONGODB_MAX_POOL="128" and ROLLCALL_REFRESHER_WORKERS="129": workers would wait for each other's connections, so the first must not be smaller`},
		{map[string]string{"ROLLCALL_MONGODB_MIN_POOL": "129"}, `ROLLCALL_MONGODB_MIN_POOL="129" and ROLLCALL_MONGODB_MAX_POOL="128": the first must not be larger`},
		{map[string]string{"ROLLCALL_BUDGET_DELAY": "20s", "ROLLCALL_REFRESHER_PARK_AFTER": "18s"}, `ROLLCALL_BUDGET_DELAY="20s" and ROLLCALL_REFRESHER_PARK_AFTER="18s": an admission would outlive the longest wait for it, so the first has to be shorter`},
		{map[string]string{"ROLLCALL_PULSAR_DEAD_LETTER_TOPIC": "persistent://public/default/rollcall-refresh"}, `ROLLCALL_PULSAR_DEAD_LETTER_TOPIC="persistent://public/default/rollcall-refresh" and ROLLCALL_PULSAR_TOPIC="persistent://public/default/rollcall-refresh": dead letters would be consumed again, so the topics must differ`},
		{map[string]string{"ROLLCALL_PULSAR_TOKEN": "hunter2", "ROLLCALL_PULSAR_TOKEN_FILE": cert}, `ROLLCALL_PULSAR_TOKEN_FILE="` + cert + `" and ROLLCALL_PULSAR_TOKEN="[redacted]": only one of them may be set`},
		{map[string]string{"ROLLCALL_PULSAR_TLS_CERT_FILE": cert}, `ROLLCALL_PULSAR_TLS_CERT_FILE="` + cert + `" and ROLLCALL_PULSAR_TLS_KEY_FILE="": mutual TLS needs both`},
		{map[string]string{"ROLLCALL_PULSAR_TLS_CA_FILE": cert, "ROLLCALL_PULSAR_URL": "pulsar://x"}, `ROLLCALL_PULSAR_URL="pulsar://x" and ROLLCALL_PULSAR_TLS_CA_FILE="` + cert + `" and ROLLCALL_PULSAR_TLS_CERT_FILE="": a pulsar:// connection is not encrypted; TLS needs pulsar+ssl://`},
		{map[string]string{"ROLLCALL_PULSAR_OAUTH2_ISSUER_URL": "https://id", "ROLLCALL_PULSAR_OAUTH2_KEY_FILE": cert, "ROLLCALL_PULSAR_TOKEN": "hunter2"}, `ROLLCALL_PULSAR_OAUTH2_ISSUER_URL="https://id" and ROLLCALL_PULSAR_TOKEN="[redacted]" and ROLLCALL_PULSAR_TOKEN_FILE="": a token is given or issued, not both`},
		{map[string]string{"ROLLCALL_PULSAR_OAUTH2_ISSUER_URL": "https://id", "ROLLCALL_PULSAR_OAUTH2_KEY_FILE": cert, "ROLLCALL_PULSAR_TOKEN_FILE": cert}, `ROLLCALL_PULSAR_OAUTH2_ISSUER_URL="https://id" and ROLLCALL_PULSAR_TOKEN="" and ROLLCALL_PULSAR_TOKEN_FILE="` + cert + `": a token is given or issued, not both`},
		{map[string]string{"ROLLCALL_PULSAR_OAUTH2_ISSUER_URL": "https://id"}, `ROLLCALL_PULSAR_OAUTH2_ISSUER_URL="https://id" and ROLLCALL_PULSAR_OAUTH2_KEY_FILE="": OAuth 2.0 needs both`},
		{map[string]string{"ROLLCALL_PULSAR_OAUTH2_AUDIENCE": "broker"}, `ROLLCALL_PULSAR_OAUTH2_ISSUER_URL="" and ROLLCALL_PULSAR_OAUTH2_AUDIENCE="broker" and ROLLCALL_PULSAR_OAUTH2_SCOPE="" and ROLLCALL_PULSAR_OAUTH2_CLIENT_ID="": the others mean nothing without the issuer`},
		{map[string]string{"ROLLCALL_REDIS_TLS_KEY_FILE": cert}, `ROLLCALL_REDIS_TLS_CERT_FILE="" and ROLLCALL_REDIS_TLS_KEY_FILE="` + cert + `": mutual TLS needs both`},
		{map[string]string{"ROLLCALL_REDIS_TLS_CA_FILE": cert, "ROLLCALL_REDIS_URL": "redis://u:hunter2@x"}, `ROLLCALL_REDIS_URL="redis://[redacted]@x" and ROLLCALL_REDIS_TLS_CA_FILE="` + cert + `" and ROLLCALL_REDIS_TLS_CERT_FILE="": the connection is not encrypted; TLS needs rediss://`},
		{map[string]string{"ROLLCALL_MONGODB_TLS_CERT_FILE": cert}, `ROLLCALL_MONGODB_TLS_CERT_FILE="` + cert + `" and ROLLCALL_MONGODB_TLS_KEY_FILE="": mutual TLS needs both`},
		{map[string]string{"ROLLCALL_MONGODB_TLS_CA_FILE": cert, "ROLLCALL_MONGODB_URI": "mongodb://u:hunter2@x/?w=1&tls=false"}, `ROLLCALL_MONGODB_URI="mongodb://[redacted]@x/?[redacted]" and ROLLCALL_MONGODB_TLS_CA_FILE="` + cert + `" and ROLLCALL_MONGODB_TLS_CERT_FILE="": the connection string turns TLS off, and the files are for TLS`},
		{map[string]string{"ROLLCALL_MONGODB_TLS_CA_FILE": cert, "ROLLCALL_MONGODB_URI": "mongodb://x/?tlsCAFile=/etc/ca.pem"}, `ROLLCALL_MONGODB_URI="mongodb://x/?[redacted]" and ROLLCALL_MONGODB_TLS_CA_FILE="` + cert + `" and ROLLCALL_MONGODB_TLS_CERT_FILE="": the connection string has TLS options of its own; say it in one place`},
	} {
		t.Run(tc.want[:40], func(t *testing.T) {
			setEnv(t, tc.env)
			wantMistakes(t, []string{tc.want})
		})
	}
}

// What belongs together is taken together.
func TestCertificatesAndCredentialsFromFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, env := range map[string]map[string]string{
		"OAuth 2.0, the least": {"ROLLCALL_PULSAR_OAUTH2_ISSUER_URL": "https://id/realm", "ROLLCALL_PULSAR_OAUTH2_KEY_FILE": file},
		"OAuth 2.0, all": {
			"ROLLCALL_PULSAR_OAUTH2_ISSUER_URL": "https://id/realm", "ROLLCALL_PULSAR_OAUTH2_KEY_FILE": file,
			"ROLLCALL_PULSAR_OAUTH2_AUDIENCE": "urn:broker", "ROLLCALL_PULSAR_OAUTH2_SCOPE": "a b", "ROLLCALL_PULSAR_OAUTH2_CLIENT_ID": "rollcall",
		},
		"Redis, a CA alone": {"ROLLCALL_REDIS_URL": "rediss://x", "ROLLCALL_REDIS_TLS_CA_FILE": file},
		"Redis, mutual":     {"ROLLCALL_REDIS_URL": "rediss://x", "ROLLCALL_REDIS_TLS_CERT_FILE": file, "ROLLCALL_REDIS_TLS_KEY_FILE": file},
		"MongoDB, a CA":     {"ROLLCALL_MONGODB_URI": "mongodb://x/?tls=true&w=1", "ROLLCALL_MONGODB_TLS_CA_FILE": file},
		"MongoDB, options of TLS without files of ours": {"ROLLCALL_MONGODB_URI": "mongodb://x/?tlsCAFile=/etc/ca.pem"},
	} {
		t.Run(name, func(t *testing.T) {
			setEnv(t, env)
			if _, err := Load(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestAllMistakesAtOnce(t *testing.T) {
	setEnv(t, map[string]string{
		"ROLLCALL_PULSAR_URL":               "pulsar://broker",
		"ROLLCALL_REDIS_URL":                "redis://:hunter2@",
		"ROLLCALL_BUDGET_TENANT_BURST":      "20000",
		"ROLLCALL_REFRESHER_WORKERS":        "lots", // its contradictions are not repeated
		"ROLLCALL_REFRESHER_MAX_HOLD":       "1m",
		"ROLLCALL_REFRESHER_PARK_AFTER":     "30s",
		"ROLLCALL_BUDGET_TENANT_PER_MINUTE": "10000",
	})
	wantMistakes(t, []string{
		`ROLLCALL_MONGODB_URI is not set and has no default (accepted: mongodb://, mongodb+srv://)`,
		`ROLLCALL_REDIS_URL="redis://[redacted]@" names no host (accepted: redis://, rediss://, unix://)`,
		`ROLLCALL_REFRESHER_WORKERS="lots" is not a whole number (accepted: 1 to 2048)`,
		`ROLLCALL_BUDGET_TENANT_BURST="20000" and ROLLCALL_BUDGET_TENANT_PER_MINUTE="10000": a whole burst must leave room in the window, so the first has to be smaller`,
		`ROLLCALL_REFRESHER_MAX_HOLD="1m0s" and ROLLCALL_REFRESHER_PARK_AFTER="30s": no wait would ever be held again, so the first has to be shorter`,
	}, NeedPulsar, NeedMongoDB, NeedRedis)
}

func TestTheErrorIsAScreen(t *testing.T) {
	list := []Mistake{{Name: "A", Problem: "is not set and has no default"}, {Problem: "B and C: no"}}
	want := "the configuration has 2 mistakes:\n  A is not set and has no default\n  B and C: no\n`rollcall help env` explains every variable."
	if diff := cmp.Diff(want, (&Mistakes{list}).Error()); diff != "" {
		t.Error(diff)
	}
	want = "the configuration has a mistake:\n  A is not set and has no default\n`rollcall help env` explains every variable."
	if diff := cmp.Diff(want, (&Mistakes{list[:1]}).Error()); diff != "" {
		t.Error(diff)
	}
}

func TestOnlyWhatIsNeededIsMissed(t *testing.T) {
	setEnv(t, nil)
	wantMistakes(t, []string{`ROLLCALL_REDIS_URL is not set and has no default (accepted: redis://, rediss://, unix://)`}, NeedRedis)
}

// wantMistakes loads and compares the lines of the error, in order.
func wantMistakes(t *testing.T, want []string, needs ...Concern) {
	t.Helper()
	_, err := Load(needs...)
	var mistakes *Mistakes
	if !errors.As(err, &mistakes) {
		t.Fatalf("Load: %v, want *Mistakes", err)
	}
	got := make([]string, len(mistakes.List))
	for i, m := range mistakes.List {
		got[i] = m.String()
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if strings.Contains(err.Error(), "hunter2") {
		t.Errorf("a secret in the error: %v", err)
	}
}

// setEnv gives the test an environment whose only ROLLCALL_ variables are
// those of env. OpenTelemetry's and others stay.
func setEnv(t *testing.T, env map[string]string) {
	t.Helper()
	for _, entry := range os.Environ() {
		if name, _, _ := strings.Cut(entry, "="); strings.HasPrefix(name, prefix) {
			t.Setenv(name, "")
		}
	}
	for name, value := range env {
		t.Setenv(name, value)
	}
}
