// Command pictures draws the dashboards for the docs from what a demo really
// measured: it plays one under a Prometheus, asks the dashboards' queries, and
// has Chromium print the pages.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/rollcall-dev/rollcall/test/observability"
	"github.com/rollcall-dev/rollcall/test/observability/picture"
)

// shot is one picture: the part of a dashboard from one row to another.
type shot struct {
	file, board string
	first       string // title of the row that it begins with; "" is the first
	until       string // title of the row that it ends before; "" is the end
}

var shots = []shot{
	{"dashboard-fresh-and-stuck", "rollcall", "", "Whose is it?"},
	{"dashboard-whose-and-why", "rollcall", "Whose is it?", "Refreshers and the broker"},
	{"dashboard-keeper-and-stores", "rollcall", "Refreshers and the broker", "Callbacks, landing pages, API, notices"},
	{"dashboard-edges", "rollcall", "Callbacks, landing pages, API, notices", ""},
	{"dashboard-budget", "rollcall-budget", "", ""},
}

func main() {
	var o options
	flag.StringVar(&o.dashboards, "dashboards", "charts/rollcall/files/dashboards", "folder of the dashboards")
	flag.StringVar(&o.rules, "rules", "charts/rollcall/files/rules", "folder of the rule files")
	flag.StringVar(&o.out, "out", "docs/images", "folder for the pictures")
	flag.StringVar(&o.data, "data", "", "a file of measurements: drawn from if it is there, written if not")
	flag.DurationVar(&o.length, "length", observed, "how long the demo is played")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := o.run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func (o options) run(ctx context.Context) error {
	boards, err := observability.ReadDashboards(o.dashboards)
	if err != nil {
		return err
	}
	measured, err := o.measured(ctx, boards)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return err
	}
	for _, s := range shots {
		board, ok := boards[s.board]
		if !ok {
			return fmt.Errorf("no dashboard is called %q", s.board)
		}
		page := picture.Page{Title: board.Title, From: measured.From, To: measured.To, Results: measured.of(s.board)}
		if page.Panels, err = s.panels(board); err != nil {
			return err
		}
		if err := o.print(ctx, s.file, page); err != nil {
			return err
		}
	}
	return nil
}

// panels are those of the shot's rows.
func (s shot) panels(board observability.Dashboard) ([]observability.Panel, error) {
	row := func(title string, none int) (int, error) {
		if title == "" {
			return none, nil
		}
		at := slices.IndexFunc(board.Panels, func(p observability.Panel) bool { return p.Type == "row" && p.Title == title })
		if at < 0 {
			return 0, fmt.Errorf("%s: the dashboard %s has no row %q", s.file, s.board, title)
		}
		return at, nil
	}
	from, err := row(s.first, 0)
	if err != nil {
		return nil, err
	}
	to, err := row(s.until, len(board.Panels))
	if err != nil {
		return nil, err
	}
	if to <= from {
		return nil, fmt.Errorf("%s: from %q until %q there is nothing", s.file, s.first, s.until)
	}
	return board.Panels[from:to], nil
}

// print writes a page as PNG. Chromium runs without a sandbox of its own: it
// loads one file that we wrote, and in a container it has no other choice.
func (o options) print(ctx context.Context, name string, page picture.Page) error {
	dir, err := os.MkdirTemp("", "rollcall-picture-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	source := filepath.Join(dir, "page.html")
	f, err := os.Create(source)
	if err != nil {
		return err
	}
	if _, err := page.WriteTo(f); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	target, err := filepath.Abs(filepath.Join(o.out, name+".png"))
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
		"--user-data-dir="+filepath.Join(dir, "profile"), "--screenshot="+target,
		fmt.Sprintf("--window-size=%d,%d", picture.Width, page.Height()), "file://"+source)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("print %s: %w\n%s", name, err, out)
	}
	if err := shrink(target); err != nil {
		return err
	}
	info, err := os.Stat(target)
	if err != nil {
		return err
	}
	fmt.Printf("%s: %d KiB\n", target, info.Size()>>10)
	return nil
}

// measured reads the file of measurements, or makes it.
func (o options) measured(ctx context.Context, boards map[string]observability.Dashboard) (m measurements, err error) {
	if o.data != "" {
		text, err := os.ReadFile(o.data)
		if err == nil {
			err = json.Unmarshal(text, &m)
			return m, err
		}
	}
	if m, err = o.measure(ctx, boards); err != nil || o.data == "" {
		return m, err
	}
	text, err := json.Marshal(m)
	if err != nil {
		return m, err
	}
	return m, os.WriteFile(o.data, text, 0o600)
}
