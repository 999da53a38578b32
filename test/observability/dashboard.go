package observability

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// Dashboard is the part of a Grafana dashboard that says what is shown.
type Dashboard struct {
	UID         string  `json:"uid"`
	Title       string  `json:"title"`
	Description string  `json:"description"`
	Panels      []Panel `json:"panels"`
	Templating  struct {
		List []Variable `json:"list"`
	} `json:"templating"`
}

// Panel is one figure, or a row when its type is "row".
type Panel struct {
	ID          int    `json:"id"`
	Type        string `json:"type"`
	Title       string `json:"title"`
	Description string `json:"description"`
	GridPos     struct {
		H, W, X, Y int
	} `json:"gridPos"`
	Targets     []Target `json:"targets"`
	FieldConfig struct {
		Defaults  Field      `json:"defaults"`
		Overrides []Override `json:"overrides"`
	} `json:"fieldConfig"`
	Options struct {
		Content   string `json:"content"` // of a text panel
		ColorMode string `json:"colorMode"`
		Legend    struct {
			ShowLegend  *bool  `json:"showLegend"`
			DisplayMode string `json:"displayMode"`
		} `json:"legend"`
		ReduceOptions struct {
			Calcs []string `json:"calcs"`
		} `json:"reduceOptions"`
		Orientation string `json:"orientation"`
	} `json:"options"`
	Transformations []json.RawMessage `json:"transformations"`
	Panels          []Panel           `json:"panels"` // of a row that is folded
}

// Target is one query of a panel.
type Target struct {
	RefID        string `json:"refId"`
	Expr         string `json:"expr"`
	LegendFormat string `json:"legendFormat"`
	Instant      bool   `json:"instant"`
	Hide         bool   `json:"hide"`
}

// Field is how values look.
type Field struct {
	Unit       string     `json:"unit"`
	Decimals   *int       `json:"decimals"`
	Min        *float64   `json:"min"`
	Max        *float64   `json:"max"`
	NoValue    string     `json:"noValue"`
	Thresholds Thresholds `json:"thresholds"`
	Mappings   []Mapping  `json:"mappings"`
	Color      struct {
		Mode       string `json:"mode"`
		FixedColor string `json:"fixedColor"`
	} `json:"color"`
	Custom struct {
		FillOpacity float64 `json:"fillOpacity"`
		LineStyle   struct {
			Fill string `json:"fill"`
		} `json:"lineStyle"`
		Stacking struct {
			Mode string `json:"mode"`
		} `json:"stacking"`
		ThresholdsStyle struct {
			Mode string `json:"mode"`
		} `json:"thresholdsStyle"`
	} `json:"custom"`
}

// Thresholds name the color from each value on.
type Thresholds struct {
	Mode  string `json:"mode"`
	Steps []struct {
		Color string   `json:"color"`
		Value *float64 `json:"value"` // nil for the first
	} `json:"steps"`
}

// Mapping replaces values by words.
type Mapping struct {
	Type    string          `json:"type"`
	Options json.RawMessage `json:"options"`
}

// Override changes the fields that its matcher finds.
type Override struct {
	Matcher struct {
		ID      string          `json:"id"`
		Options json.RawMessage `json:"options"`
	} `json:"matcher"`
	Properties []struct {
		ID    string          `json:"id"`
		Value json.RawMessage `json:"value"`
	} `json:"properties"`
}

// Variable is a template variable.
type Variable struct {
	Name       string          `json:"name"`
	Type       string          `json:"type"`
	Query      json.RawMessage `json:"query"` // a text, or an object with one
	IncludeAll bool            `json:"includeAll"`
	AllValue   string          `json:"allValue"`
	Current    struct {
		Value any `json:"value"`
	} `json:"current"`
}

var errNoDashboards = errors.New("no dashboards")

// ReadDashboards reads the dashboards of a folder, *.json, by their file names
// without the ending.
func ReadDashboards(dir string) (map[string]Dashboard, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("%s: %w", dir, errNoDashboards)
	}
	boards := map[string]Dashboard{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		var board Dashboard
		if err := json.Unmarshal(text, &board); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		name := filepath.Base(path)
		boards[name[:len(name)-len(".json")]] = board
	}
	return boards, nil
}

// Figures are the dashboard's panels without the rows, those of folded rows
// included.
func (d Dashboard) Figures() (figures []Panel) {
	for _, panel := range d.Panels {
		if panel.Type == "row" {
			figures = append(figures, panel.Panels...)
			continue
		}
		figures = append(figures, panel)
	}
	return figures
}

// QueryText is what a variable asks the data source.
func (v Variable) QueryText() string {
	var text string
	if json.Unmarshal(v.Query, &text) == nil {
		return text
	}
	var object struct {
		Query string `json:"query"`
	}
	_ = json.Unmarshal(v.Query, &object) // neither: an empty query, which is refused where it is used
	return object.Query
}

var reference = regexp.MustCompile(`\$(\w+)|\$\{(\w+)(?::\w+)?\}|\[\[(\w+)\]\]`)

// Substitute replaces a dashboard's variables in an expression by their values,
// and names the first that has none.
func Substitute(expr string, values map[string]string) (string, error) {
	var missing error
	text := reference.ReplaceAllStringFunc(expr, func(found string) string {
		match := reference.FindStringSubmatch(found)
		name := match[1] + match[2] + match[3]
		value, ok := values[name]
		if !ok && missing == nil {
			missing = fmt.Errorf("the variable %s has no value in %s", name, expr)
		}
		return value
	})
	return text, missing
}

// labelValues is how a variable asks for the values of a label.
var labelValues = regexp.MustCompile(`^label_values\((?:(.+),\s*)?(\w+)\)$`)

// labels is who knows the values of a label; a Prometheus.
type labels interface {
	LabelValues(ctx context.Context, selector, label string) ([]string, error)
}

// Values are those of the dashboard's variables as Grafana fills them in, All
// selected where there is one, and those that Grafana brings by itself for a
// window and a rate interval. A variable asks with the values of those before it.
func (d Dashboard) Values(ctx context.Context, from labels, rateInterval, window time.Duration) (map[string]string, error) {
	values := map[string]string{
		"__rate_interval": prometheusDuration(rateInterval), "__interval": prometheusDuration(rateInterval / 4),
		"__range": prometheusDuration(window), "__range_s": fmt.Sprint(int(window.Seconds())),
	}
	for _, v := range d.Templating.List {
		value, err := v.value(ctx, from, values)
		if err != nil {
			return nil, fmt.Errorf("the variable %s: %w", v.Name, err)
		}
		values[v.Name] = value
	}
	return values, nil
}

func (v Variable) value(ctx context.Context, from labels, before map[string]string) (string, error) {
	switch {
	case v.IncludeAll && v.AllValue != "":
		return v.AllValue, nil
	case v.Type != "query":
		if text, ok := v.Current.Value.(string); ok {
			return text, nil
		}
		return v.QueryText(), nil
	}
	query, err := Substitute(v.QueryText(), before)
	if err != nil {
		return "", err
	}
	match := labelValues.FindStringSubmatch(query)
	if match == nil {
		return "", fmt.Errorf("no label_values: %q", query)
	}
	found, err := from.LabelValues(ctx, match[1], match[2])
	switch {
	case err != nil:
		return "", err
	case v.IncludeAll:
		return "(" + strings.Join(found, "|") + ")", nil
	case len(found) == 0:
		return "", nil // a label that nothing has: Grafana leaves it empty
	}
	return found[0], nil
}
