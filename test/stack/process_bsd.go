//go:build unix && !linux

package stack

import (
	"errors"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// errNoProcess says that no process has the pid, or only a dead one that
// nobody has waited for yet.
var errNoProcess = errors.New("no such process")

// setParentDeathSignal does nothing: only Linux watches a parent. Here a
// killed run leaves its servers, and `down` of its folder stops them.
func setParentDeathSignal(*syscall.SysProcAttr) {}

// startOf returns when the process started, to the second, as ps tells it.
func startOf(pid int) (string, error) {
	state, started, err := ps(pid)
	if err == nil && strings.HasPrefix(state, "Z") {
		return "", errNoProcess
	}
	return started, err
}

// frozen reports whether the process has stopped.
func frozen(pid int) bool {
	state, _, err := ps(pid)
	return err == nil && strings.HasPrefix(state, "T")
}

// ps returns a process's state and its start.
func ps(pid int) (state, started string, err error) {
	out, err := exec.Command("ps", "-o", "state=,lstart=", "-p", strconv.Itoa(pid)).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return "", "", errNoProcess
	}
	if err != nil {
		return "", "", err
	}
	state, started, _ = strings.Cut(strings.TrimSpace(string(out)), " ")
	if started == "" {
		return "", "", errNoProcess
	}
	return state, strings.TrimSpace(started), nil
}
