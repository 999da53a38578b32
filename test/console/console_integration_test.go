//go:build integration

package console_test

import (
	"flag"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/rollcall-dev/rollcall/internal/decision"
)

var images = flag.Bool("images", false, "write the pictures of docs/images")

// pages are all that an operator sees, by a name for a person.
func pages() map[string]string {
	return map[string]string{
		"overview": "/console/", "tenant": "/console/tenants/acme", "a day of a tenant": "/console/tenants/acme?span=24h",
		"code": "/console/tenants/acme/codes/spring-fair", "a code's past": "/console/tenants/acme/codes/spring-fair?at=2026-01-01T00:00:00&staff=li.na",
		"staff": "/console/tenants/acme/staff?id=li.na", "an evil name": "/console/tenants/acme/staff?id=" + url.QueryEscape(evil),
		"dirty": "/console/dirty", "fan-outs": "/console/fanouts", "dead letters": "/console/letters", "decisions": "/console/decisions",
		"search": "/console/search?q=a", "an action": "/console/do/hold?tenant=acme&code=spring-fair", "nothing": "/console/nothing",
	}
}

func TestTheConsoleInABrowser(t *testing.T) {
	w := newWorld(t)
	b := newBrowser(t, w.url)
	t.Run("whoever has not signed in sees the form", func(t *testing.T) {
		b.t = t
		b.open("/console/dirty")
		if got := b.path(); got != "/console/signin?next=%2Fconsole%2Fdirty" {
			t.Errorf("at %s", got)
		}
		b.do(chromedp.SendKeys("#token", "rc_nonsense"), chromedp.Click(".signin .primary"), chromedp.WaitReady(".notice.bad"))
	})
	t.Run("a reader is offered no action and does none", func(t *testing.T) { b.t = t; reads(t, w, b) })
	b.t = t
	b.signOut()
	b.signIn(w.tokens["chief"])
	t.Run("each page, wide and narrow, light and dark, in both languages", func(t *testing.T) { b.t = t; everyPage(t, b, axe(t)) })
	t.Run("a name is text, whatever is in it", func(t *testing.T) {
		b.t = t
		for _, path := range []string{"/console/tenants/acme/codes/spring-fair", "/console/tenants/acme/staff?id=" + url.QueryEscape(evil), "/console/dirty", "/console/tenants/acme"} {
			b.open(path)
			if got := b.eval(`(document.title === "owned") + " " + document.querySelectorAll("main img, main b, main i").length`); got != "false 0" {
				t.Errorf("%s: %s", path, got)
			}
		}
		b.open("/console/tenants/acme/codes/spring-fair")
		if !strings.Contains(b.text("main"), evil) {
			t.Error("the name is not shown")
		}
	})
	t.Run("an action is asked, done and in the book", func(t *testing.T) { b.t = t; acts(t, w, b) })
	t.Run("the trail leads back", func(t *testing.T) { b.t = t; looksBack(t, b) })
	t.Run("with the keyboard alone", func(t *testing.T) { b.t = t; byKeyboard(t, b) })
	t.Run("figures are live", func(t *testing.T) { b.t = t; isLive(t, w, b) })
	if *images {
		b.t = t
		pictures(t, b)
	}
	t.Run("a revoked token opens nothing", func(t *testing.T) {
		b.t = t
		id := strings.Split(w.tokens["chief"], "_")[1]
		w.must(w.db.Tokens().Revoke(t.Context(), id))
		w.until("the form is shown", func() bool {
			b.open("/console/dirty")
			return strings.HasPrefix(b.path(), "/console/signin")
		})
	})
}

func reads(t *testing.T, w *world, b *browser) {
	b.signIn(w.tokens["reader"])
	b.open("/console/tenants/acme/codes/spring-fair")
	if got := b.eval(`String(document.querySelectorAll('a[href*="/console/do/"], main form[method=post]').length)`); got != "0" {
		t.Errorf("%s actions are offered", got)
	}
	b.open("/console/do/refresh?tenant=acme&code=spring-fair")
	if got := b.text("main"); !strings.Contains(got, "Not allowed") || !strings.Contains(got, "write") {
		t.Errorf("the refusal says %q", got)
	}
	for name, path := range pages() {
		if b.open(path); name != "nothing" && name != "an action" && strings.Contains(b.text("main"), "Not allowed") {
			t.Errorf("%s is refused", name)
		}
	}
}

// everyPage is judged by axe, and fits a narrow screen.
func everyPage(t *testing.T, b *browser, axe string) {
	names := pages()
	var letter string
	b.open("/console/letters")
	b.do(chromedp.AttributeValue(`tbody a`, "href", &letter, nil))
	names["a dead letter"] = letter
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for n := range names {
			if !yield(n) {
				return
			}
		}
	}) {
		for _, scheme := range []string{"light", "dark"} {
			b.scheme(scheme)
			b.wide(1280)
			b.open(names[name])
			if found := b.findings(axe); found != "" {
				t.Errorf("%s, %s: %s", name, scheme, found)
			}
		}
		b.wide(400)
		b.open(names[name])
		if got := b.eval(`String(document.documentElement.scrollWidth)`); got != "400" {
			t.Errorf("%s is %s wide on a screen of 400", name, got)
		}
		if found := b.findings(axe); found != "" {
			t.Errorf("%s, narrow: %s", name, found)
		}
	}
	b.wide(1280)
	b.scheme("light")
	b.open("/console/")
	light := b.eval(`getComputedStyle(document.body).backgroundColor`)
	b.press(`button[value="dark"]`)
	if dark := b.eval(`getComputedStyle(document.body).backgroundColor`); dark == light {
		t.Errorf("dark is %s too", light)
	}
	b.press(`button[value="zh"]`)
	if got := b.text("h1") + b.eval(`document.documentElement.lang`); got != "总览zh-CN" {
		t.Errorf("in Chinese: %q", got)
	}
	b.press(`button[value="en"]`)
	b.press(`button[value="auto"]`)
}

func acts(t *testing.T, w *world, b *browser) {
	b.open("/console/tenants/acme/codes/spring-fair")
	b.press(`a[href^="/console/do/refresh"]`)
	b.do(chromedp.SendKeys("#why", "a customer complains"), chromedp.Click(`main form button.primary`), chromedp.WaitReady(".notice.good"))
	b.open("/console/decisions")
	if got := b.text("main table"); !strings.Contains(got, "a customer complains") || !strings.Contains(got, "Li Na (token ") || !strings.Contains(got, "done") {
		t.Errorf("the book says %q", got)
	}
	taken, err := w.db.Decisions().ListOf(t.Context(), "acme", 10)
	w.must(err)
	if len(taken) != 1 || taken[0].Action != decision.Refresh || taken[0].Code != "spring-fair" {
		t.Errorf("%+v", taken)
	}
	// A hold that keeps somebody on a list who should leave it is asked twice.
	b.open("/console/do/hold?tenant=acme")
	if got := b.text("main"); !strings.Contains(got, "What speaks against it") {
		t.Errorf("the question says %q", got)
	}
	b.open("/console/dirty")
	b.press(`a[href^="/console/do/dirty-retry"]`)
	b.do(chromedp.SendKeys("#why", "the block is over"), chromedp.Click(`main form button.primary`), chromedp.WaitReady(".notice.good"))
	b.open("/console/tenants/acme/codes/spring-fair")
	b.press(`.head form button`)
	if got := b.text("main"); !strings.Contains(got, "WeCom was asked just now") {
		t.Errorf("asking WeCom: %q", got)
	}
}

func looksBack(t *testing.T, b *browser) {
	b.open("/console/tenants/acme/codes/spring-fair")
	b.press(`.trail li:nth-last-child(1 of .pushed) .at`)
	if got := b.text(".answer"); !strings.Contains(got, "The list at") || !strings.Contains(got, "wang.wei") {
		t.Errorf("the first list: %q", got)
	}
}

// byKeyboard signs in anew and gets to a code without a mouse.
func byKeyboard(t *testing.T, b *browser) {
	b.open("/console/")
	b.do(chromedp.KeyEvent(kb.Tab))
	if got := b.eval(`document.activeElement.className`); got != "skip" {
		t.Errorf("the first stop is %q", got)
	}
	// The key alone: with its character, which a browser leaves out when a page has
	// taken the key, the driver would write into the field.
	b.do(chromedp.KeyEvent(kb.Enter), input.DispatchKeyEvent(input.KeyRawDown).WithKey("/"))
	if got := b.eval(`document.activeElement.id`); got != "q" {
		t.Fatalf("/ leads to %q", got)
	}
	b.do(chromedp.KeyEvent("spring-fair"), chromedp.KeyEvent(kb.Enter), chromedp.WaitReady(".verdict"))
	if got := b.path(); got != "/console/tenants/acme/codes/spring-fair" {
		t.Errorf("at %s", got)
	}
	stops := map[string]bool{}
	for range 80 {
		b.do(chromedp.KeyEvent(kb.Tab))
		stops[b.eval(`document.activeElement.outerHTML.slice(0, 200)`)] = true
		if outline := b.eval(`(e => e === document.body || e.closest("svg") ? "solid" : getComputedStyle(e).outlineStyle)(document.activeElement)`); outline == "none" {
			t.Errorf("the focus does not show on %s", b.eval(`document.activeElement.outerHTML.slice(0, 200)`))
		}
	}
	if len(stops) < 20 {
		t.Errorf("%d stops: the focus is trapped", len(stops))
	}
}

func isLive(t *testing.T, w *world, b *browser) {
	b.open("/console/tenants/acme/codes/autumn-fair")
	b.do(chromedp.WaitReady(`[data-live-state][data-kind="on"]`))
	before := b.text(".verdict")
	w.publish("acme", "autumn-fair") // its member went off line meanwhile
	w.until("the page shows another push by itself", func() bool { return b.text(".verdict") != before || strings.Contains(b.text(".trail"), "wang.wei") })
	b.open("/console/")
	if got := b.text("#instances"); !strings.Contains(got, "3") {
		t.Errorf("instances: %q", got)
	}
}

// pictures are those of docs/console.md.
func pictures(t *testing.T, b *browser) {
	folder := filepath.Join("..", "..", "docs", "images")
	for _, one := range []struct {
		name, path, scheme, language string
		width                        int64
		whole                        bool // not only what fits the screen
	}{
		{"overview", "/console/", "light", "en", 1280, true},
		{"code", "/console/tenants/acme/codes/spring-fair", "light", "en", 1280, true},
		{"tenant-dark", "/console/tenants/acme", "dark", "en", 1280, false},
		{"action", "/console/do/hold?tenant=acme", "light", "en", 1280, false},
		{"code-narrow-zh", "/console/tenants/acme/codes/spring-fair", "light", "zh", 400, true},
	} {
		b.scheme(one.scheme)
		b.wide(one.width)
		b.open("/console/")
		b.press(fmt.Sprintf(`button[value=%q]`, one.language))
		b.open(one.path)
		var screen, whole []byte
		b.do(chromedp.WaitReady(`[data-live-state][data-kind="on"], form.stack, .plot`), chromedp.CaptureScreenshot(&screen), chromedp.FullScreenshot(&whole, 100))
		png := screen
		if one.whole {
			png = whole
		}
		if err := os.WriteFile(filepath.Join(folder, "console-"+one.name+".png"), png, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b.press(`button[value="en"]`)
	b.scheme("light")
	b.wide(1280)
}
