package landing

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/ratelimit"
)

func TestLanguages(t *testing.T) {
	for header, want := range map[string]string{
		"":                                   "zh-CN",
		"zh-CN,zh;q=0.9,en;q=0.8":            "zh-CN",
		"en-US,en;q=0.9,zh-CN;q=0.8":         "en",
		"EN":                                 "en",
		"fr-FR, de;q=0.9":                    "zh-CN",
		"fr, en;q=0.3, zh;q=0.2":             "en",
		"zh;q=0.2, en;q=0.7":                 "en",
		"zh;q=0, en;q=0":                     "zh-CN",
		"en;q=0":                             "zh-CN",
		"en;q=x":                             "zh-CN",
		"en;q=NaN, zh;q=0.1":                 "zh-CN",
		"en;q=7, zh;q=0.1":                   "zh-CN",
		"english":                            "zh-CN",
		", ,;q=1":                            "zh-CN",
		"en ; q=0.5 , zh-Hant ; q=0.4":       "en",
		strings.Repeat("fr,", 10_000) + "en": "en",
	} {
		if got := preferred(header).tag; got != want {
			t.Errorf("%.40q: %s, want %s", header, got, want)
		}
	}
}

// Every view says something in every language, and the same things.
func TestNothingIsLeftUnsaid(t *testing.T) {
	for _, name := range []viewName{member, cover, busy, hasty, away, over, nowhere} {
		zh, en := chinese.views[name], english.views[name]
		for _, w := range []words{zh, en} {
			if w.Title == "" || w.Text == "" {
				t.Errorf("%s: %+v", name, w)
			}
		}
		if (zh.Action == "") != (en.Action == "") {
			t.Errorf("%s: an action in one language only", name)
		}
	}
}

func TestThePageSpeaksTheLanguage(t *testing.T) {
	h := newHouse(t)
	for accept, wants := range map[string][]string{
		"":   {`<html lang="zh-CN">`, "添加您的专属顾问", `alt="企业微信二维码`},
		"en": {`<html lang="en">`, "Add your personal contact", `alt="WeCom QR code`},
	} {
		w := h.open("Accept-Language: " + accept)
		for _, want := range wants {
			if !strings.Contains(w.Body.String(), want) {
				t.Errorf("%q: the page lacks %s", accept, want)
			}
		}
		if !strings.Contains(w.Header().Get("Vary"), "Accept-Language") {
			t.Errorf("Vary: %q", w.Header().Get("Vary"))
		}
	}
}

func TestClientAddress(t *testing.T) {
	tests := map[string]struct {
		remote    string
		forwarded []string
		want      string
	}{
		"nobody in between":                       {"203.0.113.7:1", nil, "203.0.113.7"},
		"a stranger claims":                       {"203.0.113.7:1", []string{"198.51.100.1"}, "203.0.113.7"},
		"our proxy says":                          {"10.0.0.1:1", []string{"198.51.100.1"}, "198.51.100.1"},
		"what the client wrote is not believed":   {"10.0.0.1:1", []string{"1.1.1.1, 198.51.100.1"}, "198.51.100.1"},
		"two of our proxies":                      {"10.0.0.1:1", []string{"1.1.1.1, 198.51.100.1, 10.0.0.2"}, "198.51.100.1"},
		"two lines":                               {"10.0.0.1:1", []string{"1.1.1.1, 198.51.100.1", "10.0.0.2"}, "198.51.100.1"},
		"a proxy of our own asks":                 {"10.0.0.1:1", []string{"10.0.0.2"}, "10.0.0.2"},
		"our proxy without a word":                {"10.0.0.1:1", nil, "10.0.0.1"},
		"nonsense stops the search":               {"10.0.0.1:1", []string{"198.51.100.1, unknown"}, "10.0.0.1"},
		"IPv6":                                    {"[2001:db8::7]:1", nil, "2001:db8::7"},
		"IPv6 behind an IPv6 proxy":               {"[fd00::1]:1", []string{"2001:db8::7"}, "2001:db8::7"},
		"IPv4 within IPv6":                        {"[::ffff:203.0.113.7]:1", nil, "203.0.113.7"},
		"IPv4 within IPv6 is one of our proxies":  {"[::ffff:10.0.0.1]:1", []string{"::ffff:198.51.100.1"}, "198.51.100.1"},
		"a link-local address names an interface": {"[fe80::1%eth0]:1", nil, "fe80::1"},
		"not an address":                          {"pipe", []string{"198.51.100.1"}, "invalid IP"},
	}
	proxies := Proxies{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	for name, tt := range tests {
		r := &http.Request{RemoteAddr: tt.remote, Header: http.Header{"X-Forwarded-For": tt.forwarded}}
		if got := proxies.client(r).String(); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}

func TestNetworksInTheLog(t *testing.T) {
	for addr, want := range map[string]string{"203.0.113.7": "203.0.113.0/24", "2001:db8:1:2:3:4:5:6": "2001:db8:1::/48"} {
		if got := network(netip.MustParseAddr(addr)); got != want {
			t.Errorf("%s: %s, want %s", addr, got, want)
		}
	}
	if got := network(netip.Addr{}); got != "unknown" {
		t.Errorf("no address: %s", got)
	}
}

// One line is one client: an IPv4 address, and a whole /64 of IPv6.
func TestPaceByLine(t *testing.T) {
	now := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	for name, tt := range map[string]struct {
		addrs []string
		waits []bool
	}{
		"one address":           {[]string{"203.0.113.7", "203.0.113.7", "203.0.113.7"}, []bool{false, false, true}},
		"neighbours of IPv4":    {[]string{"203.0.113.7", "203.0.113.7", "203.0.113.8"}, []bool{false, false, false}},
		"one /64":               {[]string{"2001:db8::1", "2001:db8::2", "2001:db8::3"}, []bool{false, false, true}},
		"neighbours of IPv6":    {[]string{"2001:db8::1", "2001:db8::2", "2001:db8:0:1::3"}, []bool{false, false, false}},
		"who cannot be read":    {[]string{"", "", ""}, []bool{false, false, true}},
		"a /64 of IPv4 is none": {[]string{"0.0.0.1", "0.0.0.2", "0.0.0.3"}, []bool{false, false, false}},
	} {
		p := ratelimit.NewKeyed[netip.Prefix](ratelimit.Limit{PerSecond: 1, Burst: 2}, maxPaces, func() time.Time { return now })
		var waits []bool
		for _, addr := range tt.addrs {
			parsed, _ := netip.ParseAddr(addr)
			waits = append(waits, p.Wait(subscriber(parsed)) > 0)
		}
		if !slices.Equal(waits, tt.waits) {
			t.Errorf("%s: %v, want %v", name, waits, tt.waits)
		}
	}
}

// A hot code costs one look for each member's QR code a minute; while WeCom or
// MongoDB is away, what was shown before is shown again.
func TestQRCodesAreRemembered(t *testing.T) {
	h := newHouse(t)
	show := func() string {
		t.Helper()
		w := h.open()
		h.now = h.now.Add(time.Second)
		return w.Body.String()
	}
	for range 60 {
		show()
	}
	if h.looks != 1 {
		t.Errorf("%d looks in a minute, want 1", h.looks)
	}
	h.wayErr = errGone
	if body := show(); h.looks != 2 || !strings.Contains(body, "wework.qpic.cn") {
		t.Errorf("%d looks, page\n%s", h.looks, body)
	}
	h.wayErr, h.url = nil, "https://wework.qpic.cn/new"
	if body := show(); h.looks != 3 || !strings.Contains(body, h.url) {
		t.Errorf("%d looks, page\n%s", h.looks, body)
	}
}
