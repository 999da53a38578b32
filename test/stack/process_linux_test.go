package stack

import (
	"errors"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

func TestAStatLineIsReadWhateverTheCommandIsCalled(t *testing.T) {
	const after = " 1 7 7 0 -1 4194560 100 0 0 0 1 2 0 0 20 0 1 0 4711 99 1"
	for _, test := range []struct {
		name, stat string
		want       procStatus
	}{
		{"plain", "7 (redis-server) S" + after, procStatus{"S", "4711"}},
		{"blanks and parentheses", "7 (a b) S 9 (c)) R" + after, procStatus{"R", "4711"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := parseStat(test.stat)
			if got != test.want || err != nil {
				t.Errorf("parseStat = %+v, %v; want %+v", got, err, test.want)
			}
		})
	}
	for _, broken := range []string{"", "7 redis", "7 (redis) S 1 2"} {
		if got, err := parseStat(broken); err == nil {
			t.Errorf("parseStat(%q) = %+v, want an error", broken, got)
		}
	}
}

func TestAProcessNobodyWaitedForIsGone(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "true")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a zombie without a start", func() bool {
		_, err := startOf(cmd.Process.Pid)
		return errors.Is(err, errNoProcess)
	})
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
}

func TestServersDieWithTheRunThatStartedThem(t *testing.T) {
	p, port := running(t, parent) // answers through its child
	if err := syscall.Kill(p.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the end of the orphan", func() bool {
		err := ask(t.Context(), port)
		return err != nil && strings.Contains(err.Error(), "refused")
	})
}
