package picture

import (
	"fmt"
	"html/template"
	"math"
	"strings"
	"time"

	"github.com/rollcall-dev/rollcall/test/observability"
)

// chart is a panel of lines over time.
type chart struct {
	panel    observability.Panel
	lines    []line
	from, to time.Time
	size     area
	low, top float64     // of the scale
	feet     [][]float64 // of each point, where the area under it ends
	tops     [][]float64
	left     int // where the plot begins
	bottom   int // where it ends
	svg      strings.Builder
}

const (
	plotTop      = 10
	plotRight    = 14
	legendLine   = 17
	digitWidth   = 6.2 // of a letter of 11 px, on average
	lineHeight   = 20  // of the times below the plot
	legendDash   = 14
	legendMargin = 16
	minLabelGap  = 84 // between two times
)

func (c chart) draw() template.HTML {
	field := c.panel.FieldConfig.Defaults
	c.stack()
	c.scale()
	rows := c.legendRows()
	c.bottom = c.size.height - lineHeight - 6 - len(rows)*legendLine
	marks := ticksOf(field, c.low, c.top, max(2, (c.bottom-plotTop)/42))
	for _, mark := range marks {
		c.left = max(c.left, 16+int(digitWidth*float64(len([]rune(format(field, mark))))))
	}
	fmt.Fprintf(&c.svg, `<svg width="%d" height="%d" font-size="11" fill="#57606a">`, c.size.width, c.size.height)
	for _, mark := range marks {
		y := c.y(mark)
		fmt.Fprintf(&c.svg, `<path d="M%d %.1fH%d" stroke="#e8eaed"/><text x="%d" y="%.1f" text-anchor="end">%s</text>`,
			c.left, y, c.size.width-plotRight, c.left-6, y+4, escape(format(field, mark)))
	}
	c.times()
	c.thresholds()
	for i := range c.lines {
		c.line(i)
	}
	c.legend(rows)
	c.svg.WriteString(`</svg>`)
	return template.HTML(c.svg.String()) // names are escaped where they are written
}

// stacked reports whether lines stand on each other.
func (c *chart) stacked() bool { return c.panel.FieldConfig.Defaults.Custom.Stacking.Mode == "normal" }

// stack finds the height of each point.
func (c *chart) stack() {
	sum := map[int64]float64{}
	for _, l := range c.lines {
		feet, tops := make([]float64, len(l.points)), make([]float64, len(l.points))
		for i, p := range l.points {
			tops[i] = p.Value
			if at := p.At.UnixMilli(); c.stacked() {
				feet[i], tops[i] = sum[at], sum[at]+p.Value
				sum[at] = tops[i]
			}
		}
		c.feet, c.tops = append(c.feet, feet), append(c.tops, tops)
	}
}

// scale finds the bounds of the values, with a threshold that is near them.
func (c *chart) scale() {
	field := c.panel.FieldConfig.Defaults
	c.low, c.top = math.Inf(1), math.Inf(-1)
	for _, tops := range c.tops {
		for _, v := range tops {
			c.low, c.top = min(c.low, v), max(c.top, v)
		}
	}
	if c.low > 0 || field.Min != nil {
		c.low = 0
	}
	if field.Min != nil {
		c.low = min(*field.Min, c.low)
	}
	for _, step := range c.marked() {
		if *step.Value <= 2.5*c.top {
			c.top = max(c.top, *step.Value)
		}
	}
	if field.Max != nil {
		c.top = max(c.top, *field.Max)
	}
	if c.top <= c.low {
		c.top = c.low + 1
	}
	c.top += (c.top - c.low) * 0.06
}

// marked are the thresholds that are drawn as lines.
func (c *chart) marked() (steps []struct {
	Color string   `json:"color"`
	Value *float64 `json:"value"`
},
) {
	mode := c.panel.FieldConfig.Defaults.Custom.ThresholdsStyle.Mode
	if mode == "" || mode == "off" {
		return nil
	}
	for _, step := range c.panel.FieldConfig.Defaults.Thresholds.Steps {
		if step.Value != nil {
			steps = append(steps, step)
		}
	}
	return steps
}

func (c *chart) thresholds() {
	for _, step := range c.marked() {
		if v := *step.Value; v <= c.top && v >= c.low {
			y := c.y(v)
			fmt.Fprintf(&c.svg, `<path d="M%d %.1fH%d" stroke="%s" stroke-width="1.2" stroke-dasharray="7 5" opacity=".8"/>`, c.left, y, c.size.width-plotRight, hex(step.Color))
		}
	}
}

func (c *chart) x(t time.Time) float64 {
	return float64(c.left) + float64(c.size.width-plotRight-c.left)*t.Sub(c.from).Seconds()/c.to.Sub(c.from).Seconds()
}

func (c *chart) y(v float64) float64 {
	return float64(c.bottom) - float64(c.bottom-plotTop)*(v-c.low)/(c.top-c.low)
}

// times writes those below the plot: full minutes, or parts of them.
func (c *chart) times() {
	step := 15 * time.Second
	for _, longer := range []time.Duration{30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour} {
		if float64(c.size.width-c.left)/(c.to.Sub(c.from).Seconds()/step.Seconds()) >= minLabelGap {
			break
		}
		step = longer
	}
	layout := "15:04"
	if step < time.Minute {
		layout = "15:04:05"
	}
	for t := c.from.Truncate(step).Add(step); t.Before(c.to); t = t.Add(step) {
		x := c.x(t)
		if x > float64(c.size.width-plotRight-16) {
			break
		}
		fmt.Fprintf(&c.svg, `<path d="M%.1f %dV%d" stroke="#f0f2f4"/><text x="%.1f" y="%d" text-anchor="middle">%s</text>`,
			x, plotTop, c.bottom, x, c.bottom+15, t.Format(layout))
	}
}

// line draws one, broken where points are missing, and the area under it.
func (c *chart) line(i int) {
	l, fill := c.lines[i], c.panel.FieldConfig.Defaults.Custom.FillOpacity/100
	if c.stacked() {
		fill = max(fill, 0.25)
	}
	var path, piece strings.Builder
	flush := func(begin, end int) {
		if piece.Len() == 0 {
			return
		}
		path.WriteString(piece.String())
		if fill > 0 {
			fmt.Fprintf(&c.svg, `<path d="%s`, piece.String())
			for j := end; j >= begin; j-- {
				fmt.Fprintf(&c.svg, "L%.1f %.1f", c.x(l.points[j].At), c.y(max(c.feet[i][j], c.low)))
			}
			fmt.Fprintf(&c.svg, `Z" fill="%s" opacity="%.2f"/>`, l.color, fill)
		}
		piece.Reset()
	}
	begin := 0
	for j, p := range l.points {
		verb := "L"
		if j > 0 && p.At.Sub(l.points[j-1].At) > c.gap() {
			flush(begin, j-1)
		}
		if piece.Len() == 0 {
			verb, begin = "M", j
		}
		fmt.Fprintf(&piece, "%s%.1f %.1f", verb, c.x(p.At), c.y(c.tops[i][j]))
		if verb == "M" && (j+1 == len(l.points) || l.points[j+1].At.Sub(p.At) > c.gap()) {
			piece.WriteString("h1.5") // a point by itself
		}
	}
	flush(begin, len(l.points)-1)
	dash := ""
	if l.dashed {
		dash = ` stroke-dasharray="6 4"`
	}
	fmt.Fprintf(&c.svg, `<path d="%s" fill="none" stroke="%s" stroke-width="1.6" stroke-linejoin="round"%s/>`, path.String(), l.color, dash)
}

// gap is how far apart two points are that no line joins.
func (c *chart) gap() time.Duration { return c.to.Sub(c.from) / 60 }

// legendRows breaks the names into rows that fit.
func (c *chart) legendRows() (rows [][]int) {
	if shown := c.panel.Options.Legend.ShowLegend; shown != nil && !*shown || len(c.lines) == 1 && c.lines[0].name == "" {
		return nil
	}
	used := c.size.width
	for i, l := range c.lines {
		need := legendWidth(l.name)
		if used+need > c.size.width-20 {
			rows, used = append(rows, nil), 0
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], i)
		used += need
	}
	return rows
}

func legendWidth(name string) int {
	return legendDash + 5 + int(digitWidth*float64(len([]rune(name)))) + legendMargin
}

func (c *chart) legend(rows [][]int) {
	for r, row := range rows {
		x, y := 12, c.bottom+lineHeight+8+r*legendLine
		for _, i := range row {
			l := c.lines[i]
			fmt.Fprintf(&c.svg, `<path d="M%d %dh%d" stroke="%s" stroke-width="3"/><text x="%d" y="%d" fill="#24292e">%s</text>`,
				x, y, legendDash, l.color, x+legendDash+5, y+4, escape(l.name))
			x += legendWidth(l.name)
		}
	}
}

func escape(text string) string { return template.HTMLEscapeString(text) }
