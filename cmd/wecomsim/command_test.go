package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestWrongFlagsAreNamed(t *testing.T) {
	world := filepath.Join(t.TempDir(), "world.json")
	if err := os.WriteFile(world, []byte(`{"corps":[{"name":"x"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		args string
		env  string
		want string
	}{
		"unknown flag":         {"--adr x", "", "unknown flag: --adr"},
		"an argument":          {"serve", "", `unknown command "serve"`},
		"not a duration":       {"--latency-p50 fast", "", "--latency-p50"},
		"p99 below p50":        {"--latency-p50 2s --latency-p99 1s", "", "--latency-p99 1s"},
		"negative propagation": {"--propagation -1s", "", "--propagation -1s"},
		"negative keep":        {"--keep -1", "", "--keep -1"},
		"two kinds of limits":  {"--provider --unlimited", "", "provider unlimited"},
		"unknown level":        {"--log-level loud", "", `--log-level "loud"`},
		"bad address":          {"--addr nowhere:x", "", "--addr nowhere:x"},
		"bad control address":  {"--addr 127.0.0.1:0 --control-addr nowhere:x", "", "--control-addr nowhere:x"},
		"no such file":         {"--load " + world + ".not", "", "--load"},
		"bad file":             {"--load " + world, "", `unknown field "name"`},
		"bad environment":      {"", "WECOMSIM_KEEP=many", "WECOMSIM_KEEP"},
	} {
		t.Run(name, func(t *testing.T) {
			if key, value, ok := strings.Cut(tc.env, "="); ok {
				t.Setenv(key, value)
			}
			cmd := newCommand()
			cmd.SetArgs(strings.Fields(tc.args))
			cmd.SetErr(io.Discard)
			err := cmd.ExecuteContext(t.Context())
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want one that names %s", err, tc.want)
			}
		})
	}
}

func TestHelpNamesEveryFlag(t *testing.T) {
	var out bytes.Buffer
	cmd := newCommand()
	cmd.SetArgs([]string{"--help"})
	cmd.SetOut(&out)
	if err := cmd.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"--addr", "--control-addr", "--load", "127.0.0.1:8090", "WECOMSIM_", "curl"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("help lacks %s", want)
		}
	}
}

func TestServesBothAddressesAndStops(t *testing.T) {
	world := filepath.Join(t.TempDir(), "world.json")
	if err := os.WriteFile(world, []byte(`{"corps":[{"id":"c1","apps":[{"secret":"s"}]}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("WECOMSIM_CONTROL_ADDR", "127.0.0.1:0")
	t.Setenv("WECOMSIM_ADDR", "nowhere:x") // the flag wins
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	logs := newLogWatch(regexp.MustCompile(`wecom=(\S+) control=(\S+)/control/v1/ corps=1`))
	cmd := newCommand()
	cmd.SetArgs([]string{"--addr", "127.0.0.1:0", "--load", world, "--unlimited"})
	cmd.SetErr(logs)
	ended := make(chan error, 1)
	go func() { ended <- cmd.ExecuteContext(ctx) }()

	addresses := within(t, logs.found, "both addresses")
	for url, want := range map[string]string{
		addresses[1] + "/cgi-bin/gettoken?corpid=c1&corpsecret=s": `"errcode":0`,
		addresses[1] + "/control/v1/corps":                        "",
		addresses[2] + "/control/v1/corps":                        `"id":"c1"`,
		addresses[2] + "/cgi-bin/gettoken":                        "404",
	} {
		if got := fetch(t, url); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", url, got, want)
		}
	}
	stop()
	if err := within(t, ended, "the end"); err != nil {
		t.Errorf("stopped with %v", err)
	}
}

func fetch(tb testing.TB, url string) string {
	tb.Helper()
	req, err := http.NewRequestWithContext(tb.Context(), http.MethodGet, url, nil)
	if err != nil {
		tb.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		tb.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		tb.Fatal(err)
	}
	return string(body)
}

// logWatch is a log that tells when a line matches.
type logWatch struct {
	mu      sync.Mutex
	text    bytes.Buffer
	pattern *regexp.Regexp
	found   chan []string
}

func newLogWatch(pattern *regexp.Regexp) *logWatch {
	return &logWatch{pattern: pattern, found: make(chan []string, 1)}
}

func (l *logWatch) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text.Write(p)
	if match := l.pattern.FindStringSubmatch(l.text.String()); match != nil {
		select {
		case l.found <- match:
		default:
		}
	}
	return len(p), nil
}

func within[T any](tb testing.TB, ch <-chan T, what string) T {
	tb.Helper()
	var v T
	select {
	case v = <-ch:
	case <-time.After(10 * time.Second):
		tb.Fatalf("waited in vain for %s", what)
	}
	return v
}
