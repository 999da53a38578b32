package main

import (
	"bytes"
	"cmp"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"maps"
	"os"
	"slices"

	"github.com/rollcall-dev/rollcall/test/observability/picture"
)

// shrink writes a picture anew with the 256 colors that it has most of: lines
// and letters on white lose nothing that is seen, and two thirds of the bytes.
func shrink(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	full, err := png.Decode(bytes.NewReader(text))
	if err != nil {
		return err
	}
	var out bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	if err := encoder.Encode(&out, paletted(full)); err != nil {
		return err
	}
	return os.WriteFile(path, out.Bytes(), 0o644)
}

// colors a PNG's palette may have.
const colors = 256

func paletted(full image.Image) *image.Paletted {
	bounds := full.Bounds()
	count := map[color.RGBA]int{}
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			count[rgba(full.At(x, y))]++
		}
	}
	common := slices.SortedFunc(maps.Keys(count), func(a, b color.RGBA) int {
		return cmp.Or(count[b]-count[a], int(a.R)-int(b.R), int(a.G)-int(b.G), int(a.B)-int(b.B))
	})
	palette := inks() // a thin line has few pixels
	for _, c := range common[:min(len(common), colors-len(palette))] {
		palette = append(palette, c)
	}
	out, nearest := image.NewPaletted(bounds, palette), map[color.RGBA]uint8{}
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			c := rgba(full.At(x, y))
			index, known := nearest[c]
			if !known {
				index = uint8(palette.Index(c))
				nearest[c] = index
			}
			out.SetColorIndex(x, y, index)
		}
	}
	return out
}

func inks() (found color.Palette) {
	for _, ink := range picture.Inks() {
		c := color.RGBA{A: 255}
		if _, err := fmt.Sscanf(ink, "#%02x%02x%02x", &c.R, &c.G, &c.B); err == nil {
			found = append(found, c)
		}
	}
	return found
}

func rgba(c color.Color) color.RGBA {
	r, g, b, _ := c.RGBA()
	return color.RGBA{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8), 255}
}
