package picture

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/test/observability"
)

var began = time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC)

// course are values a second apart.
func course(values ...float64) (points []observability.Point) {
	for i, v := range values {
		points = append(points, observability.Point{At: began.Add(time.Duration(i) * time.Second), Value: v})
	}
	return points
}

// panelOf reads a panel as a dashboard has it.
func panelOf(t *testing.T, text string) (panel observability.Panel) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &panel); err != nil {
		t.Fatal(err)
	}
	return panel
}

// drawn is the page of one panel.
func drawn(t *testing.T, panel observability.Panel, series ...observability.Series) string {
	t.Helper()
	var out strings.Builder
	p := Page{
		Title: "Some", Panels: []observability.Panel{panel}, From: began, To: began.Add(time.Minute),
		Results: map[Query][]observability.Series{{panel.ID, "A"}: series},
	}
	if _, err := p.WriteTo(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

const lines = `{"id": 1, "type": "timeseries", "title": "How <much>?", "gridPos": {"h": 8, "w": 12},
	"targets": [{"refId": "A", "legendFormat": "{{who}}"}],
	"fieldConfig": {
		"defaults": {"unit": "s", "custom": {"stacking": {"mode": "none"}, "thresholdsStyle": {"mode": "dashed"}},
			"thresholds": {"steps": [{"color": "green", "value": null}, {"color": "red", "value": 5}]}},
		"overrides": [{"matcher": {"id": "byName", "options": "a"}, "properties": [{"id": "color", "value": {"mode": "fixed", "fixedColor": "orange"}}]}]
	}}`

func TestAPanelOfLines(t *testing.T) {
	page := drawn(t, panelOf(t, lines),
		observability.Series{Labels: map[string]string{"who": "b&c"}, Points: course(4, 3, 2)},
		observability.Series{Labels: map[string]string{"who": "a"}, Points: course(1, math.NaN(), 3)},
		observability.Series{Labels: map[string]string{"who": "nobody"}, Points: course(math.NaN())},
	)
	for _, want := range []string{
		"How &lt;much&gt;?", ">a</text>", ">b&amp;c</text>", `stroke="` + named["orange"] + `" stroke-width="1.6"`,
		`stroke="` + named["red"] + `" stroke-width="1.2"`, ">4 s</text>", ">03:04:30</text>",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is not on the page", want)
		}
	}
	if strings.Contains(page, "nobody") {
		t.Error("a series without a value has a name in the legend")
	}
}

func TestStackedLinesStandOnEachOther(t *testing.T) {
	panel := panelOf(t, strings.Replace(lines, `"mode": "none"`, `"mode": "normal"`, 1))
	c := chart{panel: panel, lines: []line{{points: course(1, 2)}, {points: course(10, 20)}}}
	c.stack()
	if diff := cmp.Diff([][]float64{{1, 2}, {11, 22}}, c.tops); diff != "" {
		t.Errorf("tops\n%s", diff)
	}
	if diff := cmp.Diff([][]float64{{0, 0}, {1, 2}}, c.feet); diff != "" {
		t.Errorf("feet\n%s", diff)
	}
}

func TestAThresholdFarAwayDoesNotFlattenTheLines(t *testing.T) {
	c := chart{panel: panelOf(t, lines), lines: []line{{points: course(0.1, 0.2)}}}
	c.stack()
	c.scale()
	if c.top > 1 {
		t.Errorf("the scale ends at %v for lines up to 0.2", c.top)
	}
}

func TestALineIsBrokenWherePointsAreMissing(t *testing.T) {
	points := append(course(1, 2), observability.Point{At: began.Add(30 * time.Second), Value: 3})
	page := drawn(t, panelOf(t, lines), observability.Series{Labels: map[string]string{"who": "z"}, Points: points})
	path := ""
	for _, piece := range strings.Split(page, `<path d="`) {
		if strings.Contains(piece, `stroke-width="1.6"`) {
			path = piece
		}
	}
	if n := strings.Count(path, "M"); n != 2 {
		t.Errorf("%d pieces; want 2: %s", n, path)
	}
}

func TestAStat(t *testing.T) {
	panel := panelOf(t, `{"id": 1, "type": "stat", "title": "Fresh", "gridPos": {"h": 6, "w": 4}, "targets": [{"refId": "A"}],
		"fieldConfig": {"defaults": {"unit": "percentunit", "noValue": "no pushes",
			"thresholds": {"steps": [{"color": "red", "value": null}, {"color": "green", "value": 0.99}]}}}}`)
	page := drawn(t, panel, observability.Series{Points: course(0.5, 0.995)})
	if want := `fill="` + named["green"] + `">99.5%<`; !strings.Contains(page, want) {
		t.Errorf("%s is not on the page", want)
	}
	panel.Targets[0].LegendFormat = "{{role}}"
	page = drawn(t, panel, observability.Series{Labels: map[string]string{"role": "a"}, Points: course(1)},
		observability.Series{Labels: map[string]string{"role": "b"}, Points: course(0.2)})
	if !strings.Contains(page, ">a</text>") || !strings.Contains(page, `fill="`+named["red"]+`">20%<`) {
		t.Error("of two values one is not named, or has no color")
	}
	panel.Targets[0].LegendFormat = ""
	if page := drawn(t, panel); !strings.Contains(page, "no pushes") {
		t.Error("a panel without data does not say so in its own words")
	}
}

func TestATableAndBars(t *testing.T) {
	table := panelOf(t, `{"id": 1, "type": "table", "title": "What?", "gridPos": {"h": 6, "w": 4}, "targets": [{"refId": "A"}]}`)
	page := drawn(t, table, observability.Series{Labels: map[string]string{"alertname": "Stuck"}, Points: course(1)})
	if !strings.Contains(page, "<th>alertname</th>") || !strings.Contains(page, "<td>Stuck</td>") {
		t.Error("the table does not show its labels")
	}
	bars := panelOf(t, `{"id": 1, "type": "bargauge", "title": "Who?", "gridPos": {"h": 9, "w": 12}, "targets": [{"refId": "A", "legendFormat": "rank {{rank}}"}]}`)
	page = drawn(t, bars, observability.Series{Labels: map[string]string{"rank": "1"}, Points: course(80)})
	if !strings.Contains(page, ">rank 1</text>") || !strings.Contains(page, ">80</text>") {
		t.Error("a bar lacks its name or its value")
	}
}

func TestPanelsAreWhereTheGridHasThem(t *testing.T) {
	p := Page{Panels: []observability.Panel{
		panelOf(t, `{"type": "row", "title": "First", "gridPos": {"h": 1, "w": 24, "x": 0, "y": 40}}`),
		panelOf(t, `{"id": 1, "title": "Left", "gridPos": {"h": 8, "w": 12, "x": 0, "y": 41}}`),
		panelOf(t, `{"id": 2, "title": "Right", "gridPos": {"h": 8, "w": 12, "x": 12, "y": 41}}`),
	}}
	boxes := p.boxes()
	if boxes[0].Top != headline || boxes[1].Top != headline+cell || boxes[1].Left+boxes[1].Width+gap != boxes[2].Left {
		t.Errorf("the boxes are at %+v", boxes)
	}
	if want := headline + 9*cell + margin; p.Height() != want {
		t.Errorf("Height() = %d; want %d", p.Height(), want)
	}
}
