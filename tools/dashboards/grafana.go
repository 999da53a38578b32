package main

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// schemaVersion is that of Grafana 11; later ones read it.
const schemaVersion = 39

// columns is how wide Grafana's grid is.
const columns = 24

// object is a piece of Grafana's JSON. Its keys are written in order of the
// alphabet, so the same dashboard is the same file.
type object map[string]any

func datasource() object { return object{"type": "prometheus", "uid": "${datasource}"} }

// marshal writes the dashboard as Grafana reads it.
func (d dashboard) marshal() ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(d.grafana()); err != nil {
		return nil, fmt.Errorf("write %s as JSON: %w", d.uid, err)
	}
	return out.Bytes(), nil
}

func (d dashboard) grafana() object {
	return object{
		"uid": d.uid, "title": d.title, "description": d.description,
		"tags": []string{"rollcall"}, "schemaVersion": schemaVersion, "version": 1,
		"editable": true, "graphTooltip": 1, "refresh": "30s", "timezone": "browser", "weekStart": "",
		"time": object{"from": "now-3h", "to": "now"}, "timepicker": object{}, "fiscalYearStartMonth": 0,
		"links":       d.besides(),
		"annotations": object{"list": []object{alertsAsAnnotations()}},
		"templating":  object{"list": variables()},
		"panels":      d.panels(),
	}
}

func (d dashboard) besides() []object {
	links := []object{}
	for _, uid := range d.links {
		links = append(links, object{
			"type": "link", "title": uid, "url": "/d/" + uid, "icon": "dashboard", "keepTime": true, "includeVars": true,
			"targetBlank": false, "tags": []string{}, "tooltip": "", "asDropdown": false,
		})
	}
	return links
}

// alertsAsAnnotations marks in every graph when a page fired.
func alertsAsAnnotations() object {
	return object{
		"name": "Pages", "enable": true, "hide": false, "iconColor": "red", "datasource": datasource(),
		"expr":        `max by (alertname) (ALERTS{alertstate="firing",alertname=~"Rollcall.+",severity="page",namespace=~"$namespace"})`,
		"titleFormat": "{{alertname}}", "step": "60s",
	}
}

// variables are the choices on top of the page. Where nothing has a namespace,
// the only choice is all.
func variables() []object {
	return []object{
		{"name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus", "current": object{}, "hide": 0, "refresh": 1, "regex": "", "options": []object{}, "includeAll": false, "multi": false},
		choice("namespace", "Namespace", `label_values(target_info{service_namespace="rollcall"}, namespace)`),
		choice("job", "Job", `label_values(target_info{service_namespace="rollcall",namespace=~"$namespace"}, job)`),
	}
}

func choice(name, label, values string) object {
	return object{
		"name": name, "label": label, "type": "query", "datasource": datasource(),
		"definition": values, "query": object{"query": values, "refId": "PrometheusVariableQueryEditor-VariableQuery", "qryType": 1},
		"includeAll": true, "allValue": ".*", "multi": true, "refresh": 2, "sort": 1, "hide": 0, "regex": "", "options": []object{},
		"current": object{"selected": true, "text": []string{"All"}, "value": []string{"$__all"}},
	}
}

// panels gives every row and panel its number and its place.
func (d dashboard) panels() []object {
	var out []object
	id, y := 0, 0
	for _, r := range d.rows {
		id++
		out = append(out, object{
			"id": id, "type": "row", "title": r.title, "collapsed": false, "panels": []object{},
			"gridPos": object{"x": 0, "y": y, "w": columns, "h": 1},
		})
		y++
		x, tallest := 0, 0
		for _, p := range r.panels {
			if x+p.width > columns {
				x, y, tallest = 0, y+tallest, 0
			}
			id++
			out = append(out, p.grafana(id, x, y))
			x, tallest = x+p.width, max(tallest, p.height)
		}
		y += tallest
	}
	return out
}

func (p panel) grafana(id, x, y int) object {
	out := object{
		"id": id, "type": string(p.kind), "title": p.title, "description": p.about(),
		"gridPos":    object{"x": x, "y": y, "w": p.width, "h": p.height},
		"datasource": datasource(), "targets": p.targets(), "options": p.options(), "fieldConfig": p.fields(),
	}
	if p.kind == list {
		out["transformations"] = []object{{
			"id":      "organize",
			"options": object{"excludeByName": object{"Time": true, "Value": true}, "indexByName": object{}, "renameByName": object{}},
		}}
	}
	return out
}

func (p panel) targets() []object {
	out := make([]object, len(p.queries))
	for i, q := range p.queries {
		out[i] = object{
			"refId": string(rune('A' + i)), "datasource": datasource(), "expr": q.promQL(), "legendFormat": q.legend,
			"editorMode": "code", "range": !p.kind.newestOnly(), "instant": p.kind.newestOnly(),
		}
		if p.kind == list {
			out[i]["format"] = "table"
		}
	}
	return out
}

func (p panel) options() object {
	newest := object{"calcs": []string{"lastNotNull"}, "fields": "", "values": false}
	switch p.kind {
	case number:
		return object{"reduceOptions": newest, "colorMode": "value", "graphMode": "area", "justifyMode": "auto", "orientation": "auto", "textMode": "auto", "wideLayout": true}
	case bars:
		return object{"reduceOptions": newest, "displayMode": "gradient", "orientation": "horizontal", "valueMode": "color", "showUnfilled": true, "minVizHeight": 12, "minVizWidth": 8, "namePlacement": "left"}
	case list:
		return object{"showHeader": true, "cellHeight": "sm", "footer": object{"show": false, "reducer": []string{"sum"}, "fields": ""}}
	case series:
	}
	return object{
		"legend":  object{"displayMode": "list", "placement": "bottom", "showLegend": true, "calcs": []string{}},
		"tooltip": object{"mode": "multi", "sort": "desc"},
	}
}

func (p panel) fields() object {
	defaults := object{
		"unit": p.unit, "min": 0, "thresholds": p.thresholds(), "color": object{"mode": p.colorMode()}, "custom": p.custom(),
	}
	if p.max > 0 {
		defaults["max"] = p.max
	}
	if p.none != "" {
		defaults["noValue"] = p.none
	}
	if p.kind == number {
		delete(defaults, "min") // a budget may be overdrawn
	}
	overrides := []object{}
	for _, name := range sortedKeys(p.colors) {
		overrides = append(overrides, object{
			"matcher":    object{"id": "byName", "options": name},
			"properties": []object{{"id": "color", "value": object{"mode": "fixed", "fixedColor": p.colors[name]}}},
		})
	}
	return object{"defaults": defaults, "overrides": overrides}
}

func (p panel) colorMode() string {
	if p.kind == series {
		return "palette-classic"
	}
	return "thresholds"
}

func (p panel) thresholds() object {
	base := "green"
	if p.kind != series && len(p.steps) == 0 {
		base = "text" // a figure that is neither good nor bad
	}
	steps := []object{{"color": base, "value": nil}}
	for _, s := range p.steps {
		steps = append(steps, object{"color": s.color, "value": s.from})
	}
	return object{"mode": "absolute", "steps": steps}
}

func (p panel) custom() object {
	if p.kind != series {
		return object{}
	}
	style, fill, stacking := "off", 6, "none"
	if len(p.steps) > 0 {
		style = "dashed"
	}
	if p.stacked {
		fill, stacking = 40, "normal"
	}
	return object{
		"drawStyle": "line", "lineInterpolation": "linear", "lineWidth": 1, "fillOpacity": fill, "showPoints": "never", "spanNulls": false,
		"stacking": object{"mode": stacking, "group": "A"}, "thresholdsStyle": object{"mode": style},
		"axisPlacement": "auto", "axisLabel": "", "scaleDistribution": object{"type": "linear"},
	}
}
