package fleet

import "testing"

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
