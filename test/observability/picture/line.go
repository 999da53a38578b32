package picture

import (
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"sort"
	"strings"

	"github.com/rollcall-dev/rollcall/test/observability"
)

// line is one series of a panel with its name and color.
type line struct {
	name   string
	color  string
	dashed bool
	labels map[string]string
	points []observability.Point
}

// lines are a panel's series in the order of its queries; those without a
// value are left out.
func (p Page) lines(panel observability.Panel) (lines []line) {
	for _, target := range panel.Targets {
		series := p.Results[Query{panel.ID, target.RefID}]
		if !target.Instant { // the order of an instant query is its own
			sort.SliceStable(series, func(i, j int) bool {
				return legend(target, series[i].Labels) < legend(target, series[j].Labels)
			})
		}
		for _, s := range series {
			points := slices.DeleteFunc(slices.Clone(s.Points), func(point observability.Point) bool {
				return math.IsNaN(point.Value) || math.IsInf(point.Value, 0)
			})
			if len(points) > 0 {
				lines = append(lines, line{name: legend(target, s.Labels), labels: s.Labels, points: points})
			}
		}
	}
	used := map[string]bool{}
	for i := range lines {
		lines[i].restyle(panel)
		used[lines[i].color] = true
	}
	free := slices.DeleteFunc(slices.Clone(palette), func(color string) bool { return used[color] })
	for i, next := 0, 0; i < len(lines); i++ {
		if lines[i].color == "" {
			lines[i].color = free[next%len(free)]
			next++
		}
	}
	return lines
}

// restyle applies the panel's fixed color and what its overrides say by name.
func (l *line) restyle(panel observability.Panel) {
	if c := panel.FieldConfig.Defaults.Color; c.Mode == "fixed" && c.FixedColor != "" {
		l.color = hex(c.FixedColor)
	}
	for _, o := range panel.FieldConfig.Overrides {
		if !matches(o, l.name) {
			continue
		}
		for _, property := range o.Properties {
			switch property.ID {
			case "color":
				var color struct{ FixedColor string }
				if json.Unmarshal(property.Value, &color) == nil && color.FixedColor != "" {
					l.color = hex(color.FixedColor)
				}
			case "custom.lineStyle":
				var style struct{ Fill string }
				l.dashed = json.Unmarshal(property.Value, &style) == nil && style.Fill == "dash"
			case "displayName":
				_ = json.Unmarshal(property.Value, &l.name) // the old name stays when it is no text
			}
		}
	}
}

// matches reports whether an override is for the series of this name.
func matches(o observability.Override, name string) bool {
	var want string
	if json.Unmarshal(o.Matcher.Options, &want) != nil {
		return false
	}
	if o.Matcher.ID == "byRegexp" {
		pattern, err := regexp.Compile(strings.Trim(want, "/"))
		return err == nil && pattern.MatchString(name)
	}
	return o.Matcher.ID == "byName" && want == name
}

var placeholder = regexp.MustCompile(`\{\{\s*(\w+)\s*\}\}`)

// legend is a series' name as Grafana makes it: the format with the labels'
// values in it, or else all labels.
func legend(target observability.Target, labels map[string]string) string {
	if target.LegendFormat != "" && target.LegendFormat != "__auto" {
		return placeholder.ReplaceAllStringFunc(target.LegendFormat, func(found string) string {
			return labels[placeholder.FindStringSubmatch(found)[1]]
		})
	}
	var pairs []string
	for name, value := range labels {
		pairs = append(pairs, name+"="+value)
	}
	slices.Sort(pairs)
	return strings.Join(pairs, ", ")
}

// last is the newest value.
func (l line) last() float64 { return l.points[len(l.points)-1].Value }

// palette is for series without a color of their own, which is none that another
// series of the panel has been given.
var palette = []string{
	named["blue"], named["orange"], named["green"], named["purple"], "#2aa0a0", named["yellow"], "#b3589a", "#8a6d3b", named["red"], named["gray"], "#5f6fc4",
}

// named are Grafana's names of colors, for white paper.
var named = map[string]string{
	"green": "#3f9c54", "yellow": "#d9a514", "orange": "#e0752d", "red": "#d0443e", "blue": "#3b78c4", "purple": "#8f5bb5",
	"text": "#24292e", "gray": "#8a919a", "grey": "#8a919a", "white": "#ffffff", "transparent": "none",
}

// Inks are the colors of lines, as #rrggbb.
func Inks() []string {
	inks := slices.Clone(palette)
	for _, ink := range named {
		if strings.HasPrefix(ink, "#") && !slices.Contains(inks, ink) {
			inks = append(inks, ink)
		}
	}
	slices.Sort(inks)
	return inks
}

// hex is the color of a name, such as red or semi-dark-red, or what it is
// already.
func hex(name string) string {
	base := name
	for _, shade := range []string{"super-light-", "semi-dark-", "light-", "dark-"} {
		base = strings.TrimPrefix(base, shade)
	}
	if color, ok := named[base]; ok {
		return color
	}
	return name
}

// threshold is the color that a value has.
func threshold(t observability.Thresholds, value float64) string {
	color := "text"
	for _, step := range t.Steps {
		if step.Value == nil || value >= *step.Value {
			color = step.Color
		}
	}
	return hex(color)
}
