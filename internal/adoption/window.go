package adoption

import (
	"time"

	"github.com/rollcall-dev/rollcall/internal/contactway"
)

// windowLength is that of one listing. WeCom names no longest one; this is the
// length that it takes when none is named (page 96348), so it is allowed.
const windowLength = 90 * 24 * time.Hour

// earliest is before the first contact way that WeCom lists: those made before
// 10 July 2021 are not in any listing (page 96348).
var earliest = time.Date(2021, time.July, 9, 0, 0, 0, 0, time.UTC)

// firstWindow is where the listing up to an instant begins.
func firstWindow(end time.Time) contactway.Window { return windowFrom(earliest, end) }

// nextWindow is the window after one; false after the last. It begins with the
// instant that the one before it ended with, since WeCom does not say whether a
// window's ends belong to it.
func nextWindow(w contactway.Window, end time.Time) (contactway.Window, bool) {
	if !w.To.Before(end) {
		return w, false
	}
	return windowFrom(w.To, end), true
}

func windowFrom(from, end time.Time) contactway.Window {
	to := from.Add(windowLength)
	if to.After(end) {
		to = end
	}
	return contactway.Window{From: from, To: to}
}

// wholeSecond is the first whole second that is not before an instant.
func wholeSecond(t time.Time) time.Time { return t.UTC().Add(time.Second - 1).Truncate(time.Second) }
