package picture

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/rollcall-dev/rollcall/test/observability"
)

// format writes a value in the unit of its field.
func format(field observability.Field, value float64) string {
	if value == 0 && field.Unit != "percentunit" && field.Unit != "percent" {
		return "0" + suffix(field.Unit)
	}
	switch unit := field.Unit; unit {
	case "s":
		return seconds(value)
	case "ms":
		return seconds(value / 1000)
	case "percentunit":
		return number(field, value*100) + "%"
	case "percent":
		return number(field, value) + "%"
	case "bytes", "decbytes":
		return bytes(value)
	default:
		return number(field, value) + suffix(unit)
	}
}

// suffix is what stands behind a number.
func suffix(unit string) string {
	switch unit {
	case "ops":
		return "/s"
	case "reqps":
		return " req/s"
	case "s":
		return " s"
	}
	if text, ok := strings.CutPrefix(unit, "suffix:"); ok {
		return text
	}
	return ""
}

// number writes three digits that count, or as many decimals as the field says.
func number(field observability.Field, value float64) string {
	if field.Decimals != nil {
		return strconv.FormatFloat(value, 'f', *field.Decimals, 64)
	}
	size := math.Abs(value)
	switch {
	case size >= 1e6:
		return trim(value/1e6, 2) + " M"
	case size >= 1e4:
		return trim(value/1e3, 1) + " k"
	case size >= 100:
		return trim(value, 0)
	case size >= 10:
		return trim(value, 1)
	default:
		return trim(value, 2)
	}
}

func trim(value float64, decimals int) string {
	text := strconv.FormatFloat(value, 'f', decimals, 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	if text == "-0" {
		return "0"
	}
	return text
}

func seconds(value float64) string {
	size := math.Abs(value)
	switch {
	case size < 0.001:
		return trim(value*1e6, 0) + " µs"
	case size < 1:
		return trim(value*1000, 1-int(math.Log10(max(size*1000, 1))/2)) + " ms"
	case size < 120:
		return trim(value, 1) + " s"
	case size < 2*3600:
		return trim(value/60, 1) + " min"
	case size < 2*24*3600:
		return trim(value/3600, 1) + " h"
	default:
		return trim(value/24/3600, 1) + " d"
	}
}

func bytes(value float64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	i := 0
	for math.Abs(value) >= 1024 && i < len(units)-1 {
		value /= 1024
		i++
	}
	return fmt.Sprintf("%s %s", trim(value, 1), units[i])
}

// ticks are round values from low to high, about so many.
func ticks(low, high float64, about int) (at []float64) {
	if high <= low {
		return []float64{low}
	}
	step := round((high - low) / float64(about))
	for v := math.Ceil(low/step) * step; v <= high+step/1e6; v += step {
		at = append(at, v)
	}
	return at
}

// ticksOf are ticks that are round in the field's unit.
func ticksOf(field observability.Field, low, high float64, about int) []float64 {
	unit := 1.0
	if field.Unit == "bytes" {
		for high/unit >= 1024 {
			unit *= 1024
		}
	}
	at := ticks(low/unit, high/unit, about)
	for i := range at {
		at[i] *= unit
	}
	return at
}

// round is the nearest of 1, 2, 2.5 and 5 times a power of ten at or above.
func round(step float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(step)))
	for _, factor := range []float64{1, 2, 2.5, 5} {
		if step <= factor*power*1.0001 {
			return factor * power
		}
	}
	return 10 * power
}
