package stack

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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
	status, err := parseStat(string(stat))
	if err != nil {
		return "", err
	}
	if status.dead() {
		return "", errNoProcess
	}
	return strings.TrimSpace(string(boot)) + "/" + status.started, nil
}

// frozen reports whether every thread of the process has stopped.
func frozen(pid int) bool {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	if err != nil || len(threads) == 0 {
		return false
	}
	for _, thread := range threads {
		stat, err := os.ReadFile(thread)
		if err != nil {
			return false
		}
		if status, err := parseStat(string(stat)); err != nil || status.state != "T" {
			return false
		}
	}
	return true
}

// procStatus is what we read from a stat line, see proc(5).
type procStatus struct {
	state   string // field 3: R running, S sleeping, T stopped, Z zombie, …
	started string // field 22: clock ticks after the boot
}

// dead reports a process that is gone but for its parent's wait.
func (s procStatus) dead() bool { return s.state == "Z" || s.state == "X" }

// parseStat reads a stat line. The command's name, field 2, may hold blanks and
// parentheses itself, so fields are counted from the last one.
func parseStat(stat string) (procStatus, error) {
	const state, startTime = 0, 19 // counted from field 3
	fields := strings.Fields(stat[strings.LastIndex(stat, ")")+1:])
	if len(fields) <= startTime {
		return procStatus{}, fmt.Errorf("stat line %q has no start time", stat)
	}
	return procStatus{state: fields[state], started: fields[startTime]}, nil
}
