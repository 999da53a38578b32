package fleet

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// Usage is what a process has of the machine.
type Usage struct {
	Resident int64         // bytes in RAM now
	Peak     int64         // the most since its start
	CPU      time.Duration // time on a core since its start
}

// Usage asks the kernel; it knows nothing of a process that has ended.
func (m *Member) Usage() (Usage, error) {
	u, err := m.usage()
	if err != nil {
		return Usage{}, fmt.Errorf("read what %s uses: %w", m.name, err)
	}
	return u, nil
}

func (m *Member) usage() (u Usage, err error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", m.PID()))
	if err != nil {
		return u, err
	}
	if u.Resident, err = kilobytes(string(status), "VmRSS:"); err != nil {
		return u, err
	}
	if u.Peak, err = kilobytes(string(status), "VmHWM:"); err != nil {
		return u, err
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", m.PID()))
	if err != nil {
		return u, err
	}
	u.CPU, err = cpuTime(string(stat))
	return u, err
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

// tick is the kernel's unit of CPU time in /proc, the same on every
// architecture that Go runs on.
const tick = 10 * time.Millisecond

// cpuTime adds the times in user and kernel mode, the 14th and 15th field of a
// line whose second may hold blanks and parentheses (proc(5)).
func cpuTime(stat string) (time.Duration, error) {
	_, rest, ok := strings.Cut(stat[strings.LastIndexByte(stat, ')')+1:], " ")
	words := strings.Fields(rest)
	if !ok || len(words) < 13 {
		return 0, fmt.Errorf("a stat of %d fields", len(words))
	}
	var sum time.Duration
	for _, word := range words[11:13] {
		ticks, err := strconv.ParseInt(word, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("read the CPU time: %w", err)
		}
		sum += time.Duration(ticks) * tick
	}
	return sum, nil
}
