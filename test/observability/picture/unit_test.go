package picture

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/test/observability"
)

func TestFormat(t *testing.T) {
	two := 2
	for _, c := range []struct {
		field observability.Field
		value float64
		want  string
	}{
		{observability.Field{Unit: "s"}, 0.0000123, "12 µs"},
		{observability.Field{Unit: "s"}, 0.00123, "1.2 ms"},
		{observability.Field{Unit: "s"}, 0.25, "250 ms"},
		{observability.Field{Unit: "s"}, 5, "5 s"},
		{observability.Field{Unit: "s"}, 600, "10 min"},
		{observability.Field{Unit: "s"}, 6 * 3600, "6 h"},
		{observability.Field{Unit: "s"}, 72 * 3600, "3 d"},
		{observability.Field{Unit: "s"}, 0, "0 s"},
		{observability.Field{Unit: "ms"}, 250, "250 ms"},
		{observability.Field{Unit: "percentunit"}, 0.1234, "12.3%"},
		{observability.Field{Unit: "percentunit", Decimals: &two}, 0.99871, "99.87%"},
		{observability.Field{Unit: "ops"}, 12, "12/s"},
		{observability.Field{Unit: "suffix:×"}, 14.4, "14.4×"},
		{observability.Field{Unit: "bytes"}, 96 << 20, "96 MiB"},
		{observability.Field{Unit: "short"}, 12345, "12.3 k"},
		{observability.Field{Unit: "short"}, 2e6, "2 M"},
		{observability.Field{Unit: "short"}, 0.333, "0.33"},
	} {
		if got := format(c.field, c.value); got != c.want {
			t.Errorf("format(%v %s) = %q; want %q", c.value, c.field.Unit, got, c.want)
		}
	}
}

func TestTicksOfBytes(t *testing.T) {
	const mebibyte = 1 << 20
	if diff := cmp.Diff([]float64{0, 20 * mebibyte, 40 * mebibyte, 60 * mebibyte}, ticksOf(observability.Field{Unit: "bytes"}, 0, 75*mebibyte, 4)); diff != "" {
		t.Error(diff)
	}
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		about     int
		want      []float64
	}{
		{0, 10, 4, []float64{0, 2.5, 5, 7.5, 10}},
		{0, 97, 5, []float64{0, 20, 40, 60, 80}},
		{3, 3, 5, []float64{3}},
	} {
		if diff := cmp.Diff(c.want, ticks(c.low, c.high, c.about)); diff != "" {
			t.Errorf("ticks(%v, %v)\n%s", c.low, c.high, diff)
		}
	}
}
