package stack

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// errNoProcess says that no process has the pid, or only a dead one that
// nobody has waited for yet.
var errNoProcess = errors.New("no such process")

// setParentDeathSignal makes the kernel kill the child when its parent dies,
// even by SIGKILL.
func setParentDeathSignal(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }

// startOf returns the boot and the clock tick in which the process started.
func startOf(pid int) (string, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
		return "", errNoProcess
	}
	if err != nil {
		return "", err
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", err
	}
	tick, err := startTick(string(stat))
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(boot)) + "/" + tick, nil
}

// startTick picks the start time out of a stat line (proc(5), field 22). The
// command's name, field 2, may hold blanks and parentheses itself, so fields
// are counted from the last one.
func startTick(stat string) (string, error) {
	const state, startTime = 0, 19 // counted from field 3
	_, rest, found := cutLast(stat, ")")
	fields := strings.Fields(rest)
	if !found || len(fields) <= startTime {
		return "", fmt.Errorf("stat line %q has no start time", stat)
	}
	if fields[state] == "Z" || fields[state] == "X" {
		return "", errNoProcess
	}
	return fields[startTime], nil
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}
