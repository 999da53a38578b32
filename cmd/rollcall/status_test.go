package main

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rollcall-dev/rollcall/internal/board"
)

func TestStatusRefusesWhatItCannotDo(t *testing.T) {
	for _, args := range [][]string{
		{"status", "--interval", "10ms"}, {"status", "--tenant", "a b"}, {"status", "-o", "xml"}, {"status", "--watch", "--exit-code"}, {"status", "x"},
	} {
		var out, complaint strings.Builder
		if code := run(t.Context(), args, &out, &complaint); code == exitOK || complaint.String() == "" {
			t.Errorf("%v: exit %d, %s", args, code, complaint.String())
		}
	}
}

// A watch looks at once and then in its rhythm, and its end is no failure.
func TestAWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		var out strings.Builder
		looks := 0
		look := func(context.Context) (shownStatus, error) {
			looks++
			return shownStatus{View: board.View{At: noon, FanOuts: &board.FanOuts{}}}, nil
		}
		if err := watchStatus(ctx, newFrames(&out), look, statusOrder{interval: 2 * time.Second}); err != nil || looks != 3 {
			t.Errorf("%d looks, %v", looks, err)
		}
		if blocks := strings.Split(out.String(), "under way\n\nrollcall "); len(blocks) != 3 || strings.Contains(out.String(), "\x1b") {
			t.Errorf("%d blocks:\n%s", len(blocks), out.String())
		}
	})
}

func TestAWatchThatIsInterruptedInALookShowsNoHalfOfIt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var out strings.Builder
	look := func(ctx context.Context) (shownStatus, error) { cancel(); return shownStatus{}, ctx.Err() }
	if err := watchStatus(ctx, newFrames(&out), look, statusOrder{interval: time.Second}); err != nil || out.Len() > 0 {
		t.Errorf("%v, %q", err, out.String())
	}
}

func TestAWatchThatCannotBeShownEnds(t *testing.T) {
	closed, w := io.Pipe()
	_ = closed.CloseWithError(errors.New("broken pipe"))
	look := func(context.Context) (shownStatus, error) { return shownStatus{}, nil }
	if err := watchStatus(t.Context(), newFrames(w), look, statusOrder{interval: time.Hour}); err == nil {
		t.Error("no error")
	}
}

func TestFramesOnATerminal(t *testing.T) {
	var out strings.Builder
	f := &frames{w: &out, inPlace: true}
	for _, screen := range []string{"one\ntwo\n", "three\n"} {
		if err := f.show(screen); err != nil {
			t.Fatal(err)
		}
	}
	want := "\x1b[2J\x1b[Hone\x1b[K\ntwo\x1b[K\n\x1b[J" + "\x1b[Hthree\x1b[K\n\x1b[J"
	if out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}

// Without any server the command shows what it cannot read, and for a script that
// asks it fails.
func TestStatusWithoutAnyServer(t *testing.T) {
	for variable, value := range map[string]string{
		"ROLLCALL_MONGODB_URI": "mongodb://user:hunter2@127.0.0.1:1", "ROLLCALL_MONGODB_TIMEOUT": "200ms",
		"ROLLCALL_REDIS_URL": "redis://:hunter2@127.0.0.1:1", "ROLLCALL_REDIS_TIMEOUT": "50ms",
		"ROLLCALL_PULSAR_ADMIN_URL": "http://127.0.0.1:1",
	} {
		t.Setenv(variable, value)
	}
	for _, tt := range []struct {
		args []string
		code int
	}{{[]string{"status"}, exitOK}, {[]string{"status", "--exit-code"}, exitFailure}, {[]string{"status", "-o", "json", "--tenant", "acme"}, exitOK}} {
		var out, complaint strings.Builder
		if code := run(t.Context(), tt.args, &out, &complaint); code != tt.code {
			t.Errorf("%v: exit %d, %s", tt.args, code, complaint.String())
		}
		wantLines(t, out.String(), "RollcallStoreDown", "RollcallSubscriptionUnseen", "MongoDB does not answer here", "connection refused")
		if strings.Contains(out.String()+complaint.String(), "hunter2") {
			t.Errorf("a secret is shown:\n%s", out.String())
		}
	}
}
