package main

import (
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/rollcall-dev/rollcall/test/observability"
)

// TestShotsShowEveryPanelOnce of the dashboards that the chart ships.
func TestShotsShowEveryPanelOnce(t *testing.T) {
	boards, err := observability.ReadDashboards("../../../charts/rollcall/files/dashboards")
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]int{}
	for _, s := range shots {
		panels, err := s.panels(boards[s.board])
		if err != nil {
			t.Error(err)
		}
		shown[s.board] += len(panels)
	}
	for name, board := range boards {
		if shown[name] != len(board.Panels) {
			t.Errorf("%s: %d of %d panels and rows are on the pictures", name, shown[name], len(board.Panels))
		}
	}
}

func TestAShotOfARowThatIsNotThere(t *testing.T) {
	board := observability.Dashboard{Panels: []observability.Panel{{Type: "row", Title: "Fresh?"}, {ID: 1}}}
	for _, s := range []shot{{first: "Stuck?"}, {until: "Stuck?"}, {until: "Fresh?"}} {
		if _, err := s.panels(board); err == nil {
			t.Errorf("no error from %q until %q", s.first, s.until)
		}
	}
}

// TestShrink keeps the size of a picture and the color of a thin line on it,
// however many other colors there are.
func TestShrink(t *testing.T) {
	full := image.NewRGBA(image.Rect(0, 0, 60, 60))
	for i := range 60 * 60 {
		full.Set(i%60, i/60, color.RGBA{uint8(i), uint8(i >> 4), 200, 255})
	}
	ink := inks()[0].(color.RGBA)
	full.Set(7, 7, ink)
	path := filepath.Join(t.TempDir(), "a.png")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := png.Encode(f, full); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := shrink(path); err != nil {
		t.Fatal(err)
	}
	if f, err = os.Open(path); err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	small, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	if small.Bounds() != full.Bounds() || rgba(small.At(7, 7)) != ink {
		t.Errorf("%v with %v at the line; want %v and %v", small.Bounds(), small.At(7, 7), full.Bounds(), ink)
	}
	if n := len(small.(*image.Paletted).Palette); n > colors {
		t.Errorf("%d colors", n)
	}
}
