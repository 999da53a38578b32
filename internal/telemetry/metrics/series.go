package metrics

import (
	"fmt"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// series holds the attribute sets of an instrument, made once: recording looks
// one up instead of making it. At most two labels.
type series struct {
	labels []Label
	sets   map[[2]string]metric.MeasurementOption
}

func newSeries(labels []Label) series {
	s := series{labels: labels, sets: map[[2]string]metric.MeasurementOption{}}
	first, second := valuesOf(labels, 0), valuesOf(labels, 1)
	for _, a := range first {
		for _, b := range second {
			values := [2]string{a, b}
			attributes := make([]attribute.KeyValue, len(labels))
			for i, label := range labels {
				attributes[i] = attribute.String(label.Key, values[i])
			}
			s.sets[values] = metric.WithAttributeSet(attribute.NewSet(attributes...))
		}
	}
	return s
}

// valuesOf are the values of the i-th label; one empty value when there is
// no such label.
func valuesOf(labels []Label, i int) []string {
	if i >= len(labels) {
		return []string{""}
	}
	return labels[i].Values
}

// of finds the attributes of one value per label; a value outside its set is
// "other".
func (s series) of(first, second string) metric.MeasurementOption {
	if option, ok := s.sets[[2]string{first, second}]; ok {
		return option
	}
	return s.sets[[2]string{s.bounded(0, first), s.bounded(1, second)}]
}

func (s series) bounded(i int, value string) string {
	for _, known := range valuesOf(s.labels, i) {
		if value == known {
			return value
		}
	}
	if i < len(s.labels) {
		return Other
	}
	return ""
}

// find looks an instrument up in the catalog.
func find(name string) (Instrument, error) {
	for _, instrument := range Catalog() {
		if instrument.Name == name {
			return instrument, nil
		}
	}
	return Instrument{}, fmt.Errorf("no instrument %s in the catalog", name)
}
