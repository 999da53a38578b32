//go:build integration

package draw_test

import (
	"strconv"
	"strings"
	"syscall"
	"time"
)

// price is the processor time that something took: of this process, which is
// client and server in one, and of Redis. Unlike the time on the clock it says
// the same on a machine that has other things to do.
type price struct{ here, redis time.Duration }

// spent is what was spent so far.
func (h *house) spent() price {
	h.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		h.Fatal(err)
	}
	info, err := h.redis.Info(h.Context(), "cpu").Result()
	if err != nil {
		h.Fatal(err)
	}
	p := price{here: time.Duration(usage.Utime.Nano() + usage.Stime.Nano())}
	for line := range strings.Lines(info) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		if name == "used_cpu_sys" || name == "used_cpu_user" {
			seconds, err := strconv.ParseFloat(value, 64)
			if err != nil {
				h.Fatal(err)
			}
			p.redis += time.Duration(seconds * float64(time.Second))
		}
	}
	return p
}

// each is the price of one of n since before.
func (p price) each(before price, n int) price {
	return price{(p.here - before.here) / time.Duration(n), (p.redis - before.redis) / time.Duration(n)}
}

// aSecond is how many at this price two cores can take a second, when they do
// nothing else.
func (p price) aSecond() float64 { return 2 / (p.here + p.redis).Seconds() }
