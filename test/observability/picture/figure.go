package picture

import (
	"fmt"
	"html/template"
	"maps"
	"slices"
	"strings"

	"github.com/rollcall-dev/rollcall/test/observability"
)

// drawStat shows the newest value of each series, large, over its course.
func drawStat(panel observability.Panel, lines []line, size area) template.HTML {
	var svg strings.Builder
	fmt.Fprintf(&svg, `<svg width="%d" height="%d">`, size.width, size.height)
	if len(lines) == 1 {
		statOf(&svg, panel.FieldConfig.Defaults, lines[0], size)
	} else {
		statList(&svg, panel.FieldConfig.Defaults, lines, size)
	}
	svg.WriteString(`</svg>`)
	return template.HTML(svg.String()) // names are escaped where they are written
}

// statList names each value beside it.
func statList(svg *strings.Builder, field observability.Field, lines []line, size area) {
	height := (size.height - 12) / len(lines)
	font := min(height*3/5, 30)
	for i, l := range lines {
		base := height*i + height/2 + font/3
		fmt.Fprintf(svg, `<text x="14" y="%d" font-size="13" fill="#57606a">%s</text>`, base, escape(l.name))
		fmt.Fprintf(svg, `<text x="%d" y="%d" text-anchor="end" font-size="%d" font-weight="600" fill="%s">%s</text>`,
			size.width-16, base, font, statColor(field, l), escape(format(field, l.last())))
	}
}

func statColor(field observability.Field, l line) string {
	if field.Color.Mode == "fixed" {
		return l.color
	}
	return threshold(field.Thresholds, l.last())
}

func statOf(svg *strings.Builder, field observability.Field, l line, size area) {
	color, middle, text := statColor(field, l), size.width/2, format(field, l.last())
	font := min(size.height*2/5, 44, int(float64(size.width-16)/(0.58*float64(len([]rune(text))))))
	base := size.height*11/20 + font/5
	if len(l.points) > 2 {
		spark(svg, l, size, color)
	}
	fmt.Fprintf(svg, `<text x="%d" y="%d" text-anchor="middle" font-size="%d" font-weight="600" fill="%s">%s</text>`, middle, base, font, color, escape(text))
}

// spark is the course of a value, faint, at the foot of the panel.
func spark(svg *strings.Builder, l line, size area, color string) {
	low, high := l.points[0].Value, l.points[0].Value
	for _, p := range l.points {
		low, high = min(low, p.Value), max(high, p.Value)
	}
	if high == low {
		return
	}
	first, span := l.points[0].At, l.points[len(l.points)-1].At.Sub(l.points[0].At).Seconds()
	foot, height := float64(size.height), float64(size.height)*0.3
	fmt.Fprintf(svg, `<path d="M0 %.1f`, foot)
	for _, p := range l.points {
		fmt.Fprintf(svg, `L%.1f %.1f`, float64(size.width)*p.At.Sub(first).Seconds()/span, foot-2-(height-2)*(p.Value-low)/(high-low))
	}
	fmt.Fprintf(svg, `L%d %.1fZ" fill="%s" opacity=".14"/>`, size.width, foot, color)
}

// drawBars shows a bar for each series.
func drawBars(panel observability.Panel, lines []line, size area) template.HTML {
	field := panel.FieldConfig.Defaults
	high, names := 0.0, 0
	for _, l := range lines {
		high, names = max(high, l.last()), max(names, len([]rune(l.name)))
	}
	if field.Max != nil {
		high = max(high, *field.Max)
	}
	left, right := 20+int(6.6*float64(names)), 70
	height := min((size.height-10)/len(lines), 30)
	var svg strings.Builder
	fmt.Fprintf(&svg, `<svg width="%d" height="%d" font-size="12">`, size.width, size.height)
	for i, l := range lines {
		y, full := 4+i*height, size.width-left-right
		width, color := 0.0, threshold(field.Thresholds, l.last())
		if color == named["text"] {
			color = palette[0]
		}
		if high > 0 {
			width = float64(full) * l.last() / high
		}
		fmt.Fprintf(&svg, `<text x="%d" y="%d" text-anchor="end" fill="#24292e">%s</text>`, left-8, y+height/2+2, escape(l.name))
		fmt.Fprintf(&svg, `<rect x="%d" y="%d" width="%d" height="%d" fill="#f0f2f4" rx="2"/><rect x="%d" y="%d" width="%.1f" height="%d" fill="%s" rx="2"/>`,
			left, y, full, height-6, left, y, width, height-6, color)
		fmt.Fprintf(&svg, `<text x="%d" y="%d" font-weight="600" fill="#24292e">%s</text>`, left+full+8, y+height/2+2, escape(format(field, l.last())))
	}
	svg.WriteString(`</svg>`)
	return template.HTML(svg.String()) // names are escaped where they are written
}

// drawTable shows the labels of each series.
func drawTable(_ observability.Panel, lines []line) template.HTML {
	var heads []string
	for _, l := range lines {
		for label := range maps.Keys(l.labels) {
			if !slices.Contains(heads, label) {
				heads = append(heads, label)
			}
		}
	}
	slices.Sort(heads)
	var out strings.Builder
	out.WriteString(`<table><tr>`)
	for _, head := range heads {
		out.WriteString(`<th>` + escape(head) + `</th>`)
	}
	for _, l := range lines {
		out.WriteString(`</tr><tr>`)
		for _, head := range heads {
			out.WriteString(`<td>` + escape(l.labels[head]) + `</td>`)
		}
	}
	out.WriteString(`</tr></table>`)
	return template.HTML(out.String()) // labels are escaped
}
