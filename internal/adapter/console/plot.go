package console

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rollcall-dev/rollcall/internal/board"
	"github.com/rollcall-dev/rollcall/internal/explain"
	"github.com/rollcall-dev/rollcall/internal/trail"
)

// plot is a drawing over time, in its own units.
type plot struct {
	ID, Title, Desc string
	Width, Height   int
	Left, Right     int // of the field
	Top, Bottom     int
	Xs, Ys          []tick
	Bands           []band
	Paths           []curve
	Lines           []tick
	Dots            []dot

	from, until time.Time
	most        float64 // of the y axis
}

type tick struct {
	At, TextAt  float64
	Text, Class string
}

type band struct {
	X, Y, Width, Height float64
	Class, Title        string
}

type curve struct{ D, Class string }

type dot struct {
	X, Y               float64
	Class, Title, Href string
}

// Linked reports a drawing with places that lead somewhere: it is no mere picture.
func (p *plot) Linked() bool {
	return slices.ContainsFunc(p.Dots, func(d dot) bool { return d.Href != "" })
}

// YText and XText are where the axes' texts stand.
func (p *plot) YText() int { return p.Left - 6 }

// XText is below the field.
func (p *plot) XText() int { return p.Bottom + 15 }

func newPlot(id string, height int, from, until time.Time, most float64) *plot {
	return &plot{
		ID: id, Width: 760, Height: height, Left: 48, Right: 752, Top: 14, Bottom: height - 22,
		from: from, until: until, most: max(most, 1),
	}
}

func (p *plot) x(at time.Time) float64 {
	whole := p.until.Sub(p.from).Seconds()
	part := min(1, max(0, at.Sub(p.from).Seconds()/max(whole, 1)))
	return round(float64(p.Left) + part*float64(p.Right-p.Left))
}

func (p *plot) y(n float64) float64 {
	return round(float64(p.Bottom) - min(1, n/p.most)*float64(p.Bottom-p.Top))
}

func round(f float64) float64 { return float64(int(f*10+0.5)) / 10 }

// axes draws the grid: some round numbers, and round times of a zone.
func (p *plot) axes(zone *time.Location) {
	step := niceStep(p.most / 4)
	for n := 0.0; n <= p.most; n += step {
		p.Ys = append(p.Ys, tick{At: p.y(n), Text: num(int(n))})
	}
	every, layout := timeStep(p.until.Sub(p.from))
	_, offset := p.from.In(zone).Zone()
	shift := time.Duration(offset) * time.Second
	for at := p.from.Add(shift).Truncate(every).Add(-shift); !at.After(p.until); at = at.Add(every) {
		if x := p.x(at); !at.Before(p.from) && x < float64(p.Right)-14 {
			p.Xs = append(p.Xs, tick{At: x, Text: at.In(zone).Format(layout)})
		}
	}
}

// niceStep is 1, 2 or 5 times a power of ten, at least 1.
func niceStep(about float64) float64 {
	step := 1.0
	for {
		for _, times := range []float64{1, 2, 5} {
			if step*times >= about {
				return step * times
			}
		}
		step *= 10
	}
}

// timeStep is the time between two marks of a span.
func timeStep(span time.Duration) (time.Duration, string) {
	for _, s := range []struct {
		upTo, step time.Duration
		layout     string
	}{
		{2 * time.Minute, 30 * time.Second, "15:04:05"},
		{10 * time.Minute, 2 * time.Minute, "15:04"},
		{time.Hour, 10 * time.Minute, "15:04"},
		{6 * time.Hour, time.Hour, "15:04"},
		{24 * time.Hour, 4 * time.Hour, "15:04"},
		{72 * time.Hour, 12 * time.Hour, "01-02 15:04"},
	} {
		if span <= s.upTo {
			return s.step, s.layout
		}
	}
	days := max(1, int(span.Hours()/24/6))
	return time.Duration(days) * 24 * time.Hour, "01-02"
}

// use is the question what a tenant asked of his budget.
type use struct {
	Now   time.Time
	Span  time.Duration
	Zone  *time.Location
	Lang  lang
	Limit int // calls a minute; 0: unknown
}

// width is the time that one bar stands for.
func (u use) width() time.Duration {
	if u.Span > time.Hour {
		return 10 * time.Minute
	}
	return time.Minute
}

// gathered adds minutes up to the bars, oldest first.
func (u use) gathered(minutes []board.Minute) []board.Minute {
	var all []board.Minute
	for _, m := range minutes {
		at := m.At.Truncate(u.width())
		if n := len(all); n > 0 && all[n-1].At.Equal(at) {
			all[n-1].Granted += m.Granted
			all[n-1].Refused += m.Refused
			continue
		}
		all = append(all, board.Minute{At: at, Granted: m.Granted, Refused: m.Refused})
	}
	return all
}

func (u use) plot(minutes []board.Minute) *plot {
	bars := u.gathered(minutes)
	limit := u.Limit * int(u.width()/time.Minute)
	most, granted, refused := float64(limit), 0, 0
	for _, b := range bars {
		most = max(most, float64(b.Granted+b.Refused))
		granted, refused = granted+b.Granted, refused+b.Refused
	}
	p := newPlot("use-plot", 190, u.Now.Add(-u.Span), u.Now, most*1.08)
	p.Title = u.Lang.say("use.plot", u.Lang.span(u.Span))
	p.Desc = u.Lang.say("use.desc", num(granted), num(refused), u.Lang.span(u.width()))
	p.axes(u.Zone)
	thick := max(1, float64(p.Right-p.Left)*u.width().Seconds()/u.Span.Seconds()-1)
	for _, b := range bars {
		x, top, above := p.x(b.At), p.y(float64(b.Granted)), p.y(float64(b.Granted+b.Refused))
		title := b.At.In(u.Zone).Format("15:04") + " · " + u.Lang.say("use.bar", num(b.Granted), num(b.Refused))
		p.Bands = append(p.Bands, band{x, top, round(thick), round(float64(p.Bottom) - top), "granted", title})
		if b.Refused > 0 {
			p.Bands = append(p.Bands, band{x, above, round(thick), round(top - above), "refused", title})
		}
	}
	if limit > 0 {
		at := p.y(float64(limit))
		p.Lines = append(p.Lines, tick{At: at, TextAt: at - 4, Text: u.Lang.say("use.limit", num(limit)), Class: "limit"})
	}
	return p
}

// sizes draws how long a code's list was, when each push came, and for how long a
// push waited; nil without a push.
func sizes(x explain.Explanation, l lang, zone *time.Location) *plot {
	var pushes []trail.Entry
	most := 0
	for _, e := range x.Trail {
		if e.Kind == trail.Pushed {
			pushes = append(pushes, e)
			most = max(most, e.Size)
		}
	}
	if len(pushes) == 0 {
		return nil
	}
	from := x.Trail[0].At
	from = from.Add(-max(time.Minute, x.At.Sub(from)/40))
	p := newPlot("trail-plot", 130, from, x.At, float64(most)*1.15)
	p.Title = l.say("trail.plot")
	p.Desc = l.say("trail.desc", len(pushes), l.span(x.At.Sub(from)))
	p.axes(zone)
	p.line(pushes, x.At)
	for i, e := range x.Trail {
		p.entry(x, e, i, l, zone)
	}
	return p
}

// line draws the length of the list from push to push.
func (p *plot) line(pushes []trail.Entry, until time.Time) {
	var d strings.Builder
	for i, e := range pushes {
		x, y := number(p.x(e.At)), number(p.y(float64(e.Size)))
		if i == 0 {
			fmt.Fprintf(&d, "M%s %s", x, y)
			continue
		}
		fmt.Fprintf(&d, "H%sV%s", x, y)
	}
	fmt.Fprintf(&d, "H%s", number(p.x(until)))
	p.Paths = append(p.Paths, curve{d.String(), "size"})
}

func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// entry draws one entry of the trail.
func (p *plot) entry(x explain.Explanation, e trail.Entry, at int, l lang, zone *time.Location) {
	when := stamp(zone, e.At)
	href := query(codeURL(x.Tenant, x.Code), "at", exact(e.At)) + "#past"
	switch {
	case e.Kind == trail.Pushed:
		p.Dots = append(p.Dots, dot{p.x(e.At), p.y(float64(e.Size)), "pushed", when + " · " + l.say("trail.push", e.Epoch), href})
	case e.Kind == trail.Refused:
		p.Dots = append(p.Dots, dot{p.x(e.At), float64(p.Top) + 4, "refused-push", when + " · " + l.reason(e.Cause), ""})
	case e.Kind == trail.Waits:
		until := x.At
		for _, next := range x.Trail[at+1:] {
			if next.Kind == trail.Pushed || next.Kind == trail.Waits {
				until = next.At
				break
			}
		}
		from := p.x(e.At)
		p.Bands = append(p.Bands, band{
			from, float64(p.Top), max(2, round(p.x(until)-from)), float64(p.Bottom - p.Top), "waits", when + " · " + l.reason(e.Cause),
		})
	case e.Beyond():
		p.Dots = append(p.Dots, dot{p.x(e.At), float64(p.Bottom), "beyond", when + " · " + e.Staff + " " + l.say("full.of", e.Count, e.Limit), ""})
	}
}
