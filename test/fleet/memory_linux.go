package fleet

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Memory is what a process has in RAM, in bytes.
type Memory struct {
	Resident int64 // now
	Peak     int64 // the most since its start
}

// Memory asks the kernel; it knows nothing of a process that has ended.
func (m *Member) Memory() (Memory, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", m.PID()))
	if err != nil {
		return Memory{}, fmt.Errorf("read the memory of %s: %w", m.name, err)
	}
	resident, err := kilobytes(string(status), "VmRSS:")
	if err != nil {
		return Memory{}, fmt.Errorf("read the memory of %s: %w", m.name, err)
	}
	peak, err := kilobytes(string(status), "VmHWM:")
	if err != nil {
		return Memory{}, fmt.Errorf("read the memory of %s: %w", m.name, err)
	}
	return Memory{Resident: resident, Peak: peak}, nil
}

// kilobytes finds a line like "VmRSS:	  7712 kB" and returns its bytes.
func kilobytes(status, field string) (int64, error) {
	for line := range strings.Lines(status) {
		words := strings.Fields(line)
		if len(words) == 3 && words[0] == field && words[2] == "kB" {
			n, err := strconv.ParseInt(words[1], 10, 64)
			return n * 1024, err
		}
	}
	return 0, fmt.Errorf("no %s in the status", field)
}
