package picture

import (
	"html/template"
	"io"
	"strings"
	"time"

	"github.com/rollcall-dev/rollcall/test/observability"
)

// Page is what a picture shows.
type Page struct {
	Title    string
	Panels   []observability.Panel // of one dashboard, rows included
	From, To time.Time
	// Results are those of a panel's queries, by panel and query.
	Results map[Query][]observability.Series
}

// Query names a query of a panel.
type Query struct {
	Panel int
	RefID string
}

// The grid, in pixels: as wide as Grafana's on a laptop.
const (
	Width    = 1440
	columns  = 24
	cell     = 34 // height of a unit of the grid, the gap included
	gap      = 8
	margin   = 16
	headline = 52
)

// Height of the page in pixels.
func (p Page) Height() int {
	bottom, top := 0, p.top()
	for _, panel := range p.Panels {
		bottom = max(bottom, panel.GridPos.Y+panel.GridPos.H-top)
	}
	return headline + bottom*cell + margin
}

// top is where the first panel begins in the grid.
func (p Page) top() int {
	top := 0
	for i, panel := range p.Panels {
		if i == 0 || panel.GridPos.Y < top {
			top = panel.GridPos.Y
		}
	}
	return top
}

// box is a panel at its place.
type box struct {
	Left, Top, Width, Height int
	Title                    string
	Row                      bool
	Body                     template.HTML
}

var page = template.Must(template.New("page").Parse(`<!doctype html>
<meta charset="utf-8">
<title>{{.Title}}</title>
<style>
body { margin: 0; width: {{.Width}}px; height: {{.Height}}px; position: relative; background: #f4f5f5;
  font: 12px "Liberation Sans", "DejaVu Sans", sans-serif; color: #24292e; }
h1 { position: absolute; left: 18px; top: 14px; margin: 0; font-size: 18px; font-weight: 600; }
h1 small { font-size: 12px; font-weight: 400; color: #6b7280; margin-left: 12px; }
section { position: absolute; box-sizing: border-box; background: #fff; border: 1px solid #dfe2e5; border-radius: 4px; overflow: hidden; }
section h2 { margin: 0; padding: 8px 10px 0; font-size: 13px; font-weight: 600; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
.row { position: absolute; font-size: 15px; font-weight: 600; color: #1f2937; line-height: 26px; }
svg { display: block; position: absolute; left: 0; bottom: 0; }
text { font-family: "Liberation Sans", "DejaVu Sans", sans-serif; }
table { border-collapse: collapse; margin: 6px 10px; width: calc(100% - 20px); }
th { text-align: left; font-weight: 600; color: #57606a; border-bottom: 1px solid #dfe2e5; padding: 4px 6px; }
td { padding: 4px 6px; border-bottom: 1px solid #eef0f2; }
.empty { position: absolute; inset: 30px 0 0; display: flex; align-items: center; justify-content: center; color: #8a919a; font-size: 14px; }
</style>
<h1>{{.Title}}<small>{{.Span}}</small></h1>
{{range .Boxes}}{{if .Row}}<div class="row" style="left:{{.Left}}px;top:{{.Top}}px">{{.Title}}</div>
{{else}}<section style="left:{{.Left}}px;top:{{.Top}}px;width:{{.Width}}px;height:{{.Height}}px"><h2>{{.Title}}</h2>{{.Body}}</section>
{{end}}{{end}}`))

// WriteTo writes the page as HTML with its charts as SVG; it loads nothing.
func (p Page) WriteTo(w io.Writer) (int64, error) {
	var out strings.Builder
	err := page.Execute(&out, map[string]any{
		"Title": p.Title, "Width": Width, "Height": p.Height(), "Boxes": p.boxes(),
		"Span": p.From.Format("15:04") + " – " + p.To.Format("15:04"),
	})
	if err != nil {
		return 0, err
	}
	n, err := io.WriteString(w, out.String())
	return int64(n), err
}

func (p Page) boxes() (boxes []box) {
	unit, top := float64(Width-2*margin+gap)/columns, p.top()
	for _, panel := range p.Panels {
		g := panel.GridPos
		b := box{
			Left: margin + int(float64(g.X)*unit), Top: headline + (g.Y-top)*cell,
			Width: int(float64(g.W)*unit) - gap, Height: g.H*cell - gap,
			Title: panel.Title, Row: panel.Type == "row",
		}
		if !b.Row {
			b.Body = p.body(panel, b.Width-2, b.Height-2)
		}
		boxes = append(boxes, b)
	}
	return boxes
}

// titleHeight is what the title takes of a panel.
const titleHeight = 26

// body draws a panel without its title.
func (p Page) body(panel observability.Panel, width, height int) template.HTML {
	lines := p.lines(panel)
	if len(lines) == 0 {
		return template.HTML(`<div class="empty">` + template.HTMLEscapeString(orElse(panel.FieldConfig.Defaults.NoValue, "no data")) + `</div>`)
	}
	size := area{width, height - titleHeight}
	switch panel.Type {
	case "stat", "gauge":
		return drawStat(panel, lines, size)
	case "bargauge":
		return drawBars(panel, lines, size)
	case "table":
		return drawTable(panel, lines)
	default:
		return chart{panel: panel, lines: lines, from: p.From, to: p.To, size: size}.draw()
	}
}

type area struct{ width, height int }

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}
