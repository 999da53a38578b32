package config

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestTrustedProxies(t *testing.T) {
	setEnv(t, map[string]string{"ROLLCALL_DRAW_TRUSTED_PROXIES": "10.1.2.3/8,fd00::/8,192.0.2.1/32"})
	cfg, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	want := Networks{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8"), netip.MustParsePrefix("192.0.2.1/32")}
	if diff := cmp.Diff(want, cfg.Draw.Proxies, cmpopts.EquateComparable(netip.Prefix{})); diff != "" {
		t.Errorf("proxies (-want +got):\n%s", diff)
	}
	setEnv(t, nil)
	if cfg, err = Load(); err != nil || cfg.Draw.Proxies != nil {
		t.Errorf("unset: %v, %v; want nobody trusted", cfg.Draw.Proxies, err)
	}
}

func TestMistakesAboutTheDraw(t *testing.T) {
	for line, value := range map[string]string{
		`ROLLCALL_DRAW_TRUSTED_PROXIES="10.0.0.0/8,10.0.0.1" holds something that is no network in CIDR notation (accepted: networks such as 10.0.0.0/8,fd00::/8)`:                                    "10.0.0.0/8,10.0.0.1",
		`ROLLCALL_DRAW_IMAGE_SOURCES="https:; script-src *" holds an empty source, a space, a semicolon or a quote (accepted: sources such as https: or https://wework.qpic.cn, separated by commas)`: "https:; script-src *",
		`ROLLCALL_DRAW_PAGE_RATE="0" is too small (accepted: 0.01 to 10000)`:  "0",
		`ROLLCALL_DRAW_REPEAT_WITHIN="1h" is too large (accepted: 1s to 10m)`: "1h",
	} {
		name, _, _ := strings.Cut(line, "=")
		setEnv(t, map[string]string{name: value})
		wantMistakes(t, []string{line})
	}
}
