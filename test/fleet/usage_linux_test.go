package fleet

import (
	"os"
	"os/exec"
	"testing"
	"time"
)

func TestKilobytesOfAStatus(t *testing.T) {
	const status = "Name:\trollcall\nVmPeak:\t 2000 kB\nVmHWM:\t  900 kB\nVmRSS:\t  512 kB\nThreads:\t7\n"
	for _, c := range []struct {
		field string
		want  int64
	}{{"VmRSS:", 512 * 1024}, {"VmHWM:", 900 * 1024}} {
		if got, err := kilobytes(status, c.field); err != nil || got != c.want {
			t.Errorf("kilobytes(%s) = %d, %v; want %d", c.field, got, err, c.want)
		}
	}
	if _, err := kilobytes("Name:\trollcall\n", "VmRSS:"); err == nil {
		t.Error("a process that has ended has no such line; want an error")
	}
}

func TestCPUTimeOfAStat(t *testing.T) {
	const stat = "7 (odd) name) S 1 7 7 0 -1 4194560 100 0 0 0 250 50 0 0 20 0 8 0 100 0"
	if got, err := cpuTime(stat); err != nil || got != 3*time.Second {
		t.Errorf("cpuTime() = %v, %v; want 3s: 250 and 50 ticks", got, err)
	}
	for _, broken := range []string{"", "7 (x) S 1", "7 (x) S 1 7 7 0 -1 4194560 100 0 0 0 many 50 0"} {
		if got, err := cpuTime(broken); err == nil {
			t.Errorf("cpuTime(%q) = %v; want an error", broken, got)
		}
	}
}

// TestUsageOfALivingProcess asks about this one.
func TestUsageOfALivingProcess(t *testing.T) {
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	m := &Member{name: "self", cmd: &exec.Cmd{Process: self}}
	u, err := m.Usage()
	if err != nil || u.Resident < 1<<20 || u.Peak < u.Resident {
		t.Errorf("Usage() = %+v, %v; want a mebibyte at least, and a peak no lower", u, err)
	}
}
