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
	out, err := exec.Command("ps", "-o", "state=,lstart=", "-p", strconv.Itoa(pid)).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return "", errNoProcess
	}
	if err != nil {
		return "", err
	}
	state, started, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	if started == "" || strings.HasPrefix(state, "Z") {
		return "", errNoProcess
	}
	return strings.TrimSpace(started), nil
}
