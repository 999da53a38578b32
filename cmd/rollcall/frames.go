package main

import (
	"io"
	"os"
	"strings"
)

// frames shows one screen after another: on a terminal each in the place of the
// last, elsewhere below it.
type frames struct {
	w       io.Writer
	inPlace bool
	shown   int
}

func newFrames(w io.Writer) *frames { return &frames{w: w, inPlace: onTerminal(w)} }

// onTerminal reports whether what is written is seen by a person at once.
func onTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// What a terminal takes for orders (ECMA-48).
const (
	toTopLeft   = "\x1b[H"
	clearScreen = "\x1b[2J"
	clearLine   = "\x1b[K" // from the cursor on
	clearBelow  = "\x1b[J"
)

// show writes a screen at once, so that none is seen half. On a terminal lines are
// cleared one by one: a screen that is cleared first flickers.
func (f *frames) show(screen string) error {
	defer func() { f.shown++ }()
	switch {
	case f.inPlace:
		start := toTopLeft
		if f.shown == 0 {
			start = clearScreen + toTopLeft
		}
		screen = start + strings.ReplaceAll(screen, "\n", clearLine+"\n") + clearBelow
	case f.shown > 0:
		screen = "\n" + screen
	}
	_, err := io.WriteString(f.w, screen)
	return err
}
