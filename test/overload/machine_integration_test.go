//go:build integration

package overload_test

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
)

// machine says how busy the cores are, whoever keeps them so: servers, tests
// and refreshers share them, so a figure without it says little.
type machine struct{ idle, total float64 }

// since tells the share of the cores that was in use since it was last asked.
func (m *machine) since() string {
	was := *m
	if err := m.read(); err != nil {
		return "how busy the machine is, is not known"
	}
	share := 1 - (m.idle-was.idle)/(m.total-was.total)
	return fmt.Sprintf("%.0f %% of %d cores in use", 100*share, runtime.NumCPU())
}

func (m *machine) read() error {
	stat, err := os.ReadFile("/proc/stat")
	if err != nil {
		return err
	}
	line, _, _ := strings.Cut(string(stat), "\n")
	m.idle, m.total = 0, 0
	for i, word := range strings.Fields(line)[1:] {
		ticks, err := strconv.ParseFloat(word, 64)
		if err != nil {
			return err
		}
		m.total += ticks
		if i == 3 || i == 4 { // idle, and waiting for a disk
			m.idle += ticks
		}
	}
	return nil
}
