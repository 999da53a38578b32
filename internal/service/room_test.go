package service

import (
	"testing"

	"github.com/rollcall-dev/rollcall/internal/config"
)

func TestWhatIsFetchedAheadCountsAsHeld(t *testing.T) {
	for _, c := range []struct{ maxHeld, queue, want int }{
		{10_000, 1000, 8500},
		{40_000, 5000, 32_500},
		{1500, 1000, 1500},
		{1, 1000, 1},
	} {
		var cfg config.Config
		cfg.Refresher.MaxHeld, cfg.Pulsar.ReceiverQueue = c.maxHeld, c.queue
		if got := room(cfg); got != c.want {
			t.Errorf("of %d, %d fetched ahead: room for %d; want %d", c.maxHeld, c.queue, got, c.want)
		}
	}
}
