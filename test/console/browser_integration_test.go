//go:build integration

package console_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/rollcall-dev/rollcall/tools"
)

// patience is how long one step in the browser may take.
const patience = 20 * time.Second

// browser is a person's browser.
type browser struct {
	t   *testing.T
	ctx context.Context
	url string
}

// newBrowser starts one; ROLLCALL_CHROMIUM names another program.
func newBrowser(t *testing.T, url string) *browser {
	t.Helper()
	program := os.Getenv("ROLLCALL_CHROMIUM")
	if program == "" {
		program = "/usr/bin/chromium"
	}
	if _, err := os.Stat(program); err != nil {
		t.Fatalf("no browser at %s: install chromium, or name one with ROLLCALL_CHROMIUM", program)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.Flag("lang", "en-US"))
	allocated, end := chromedp.NewExecAllocator(context.WithoutCancel(t.Context()), options...)
	t.Cleanup(end)
	ctx, leave := chromedp.NewContext(allocated)
	t.Cleanup(leave)
	b := &browser{t: t, ctx: ctx, url: url}
	if err := chromedp.Run(ctx); err != nil { // the program lives as long as this first context
		t.Fatal(err)
	}
	b.wide(1280)
	return b
}

func (b *browser) do(actions ...chromedp.Action) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Run(ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

func (b *browser) wide(width int64) { b.do(chromedp.EmulateViewport(width, 900)) }

// scheme is how the system's colours are set.
func (b *browser) scheme(name string) {
	b.do(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}))
}

func (b *browser) open(path string) {
	b.t.Helper()
	b.do(chromedp.Navigate(b.url+path), chromedp.WaitReady("main"))
}

// press follows a link, or submits the form of a button, to the page after it.
func (b *browser) press(selector string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if _, err := chromedp.RunResponse(ctx, chromedp.Click(selector, chromedp.NodeVisible)); err != nil {
		b.t.Fatalf("press %s: %v", selector, err)
	}
}

// text is what an element shows, "" while there is none. It is asked in one step: a
// live page replaces its elements.
func (b *browser) text(selector string) string {
	b.t.Helper()
	return b.eval(fmt.Sprintf(`document.querySelector(%q)?.innerText ?? ""`, selector))
}

func (b *browser) path() (path string) {
	b.do(chromedp.Evaluate(`location.pathname + location.search`, &path))
	return path
}

func (b *browser) eval(expression string) (value string) {
	b.t.Helper()
	b.do(chromedp.Evaluate(expression, &value))
	return value
}

// signIn presents a token on the form.
func (b *browser) signIn(token string) {
	b.t.Helper()
	b.open("/console/signin")
	b.do(chromedp.SetValue("#token", token), chromedp.SetValue("#name", "Li Na"))
	b.press(".signin .primary")
	if got := b.text(".notice.bad"); got != "" {
		b.t.Fatalf("the sign-in is refused: %s", got)
	}
	b.do(chromedp.WaitReady("nav.side"))
}

func (b *browser) signOut() {
	b.t.Helper()
	b.do(chromedp.Click(".me button"), chromedp.WaitReady("#token"))
}

// axe is the program that judges pages, from the user's cache; npm fetches it once.
func axe(t *testing.T) string {
	t.Helper()
	version, err := tools.Version("AXE_CORE_VERSION")
	if err != nil {
		t.Fatal(err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(cache, "rollcall", "axe-core-"+version)
	file := filepath.Join(home, "node_modules", "axe-core", "axe.min.js")
	if _, err := os.Stat(file); err != nil {
		if _, err := exec.LookPath("npm"); err != nil {
			t.Fatalf("no %s, and no npm to fetch it with: install npm", file)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		if said, err := exec.CommandContext(ctx, "npm", "install", "--no-save", "--ignore-scripts", "--prefix", home, "axe-core@"+version).CombinedOutput(); err != nil {
			t.Fatalf("fetch axe-core: %v: %s", err, said)
		}
	}
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(source)
}

// findings are what axe says of the page that is serious or critical, a line each.
func (b *browser) findings(axe string) string {
	b.t.Helper()
	var said string
	b.do(chromedp.Evaluate(axe+";0", nil), chromedp.Evaluate(`axe.run(document).then(r => r.violations
		.filter(v => v.impact === "serious" || v.impact === "critical")
		.map(v => v.id + " (" + v.impact + "): " + v.nodes.map(n => n.html.slice(0, 160) + " " + n.any.map(a => a.message).join("; ")).join(" | ")).join("\n"))`,
		&said, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
	return strings.TrimSpace(said)
}
