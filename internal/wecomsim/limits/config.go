package limits

import (
	"fmt"
	"time"
)

// Kind says how a window moves. WeCom does not document which it uses.
type Kind string

const (
	// Sliding windows hold the calls of the last Length, exactly.
	Sliding Kind = "sliding"
	// Fixed windows start at multiples of Length since 1970.
	Fixed Kind = "fixed"
)

// Window allows Calls calls per Length; the next one is refused, and all that
// follow for Block.
type Window struct {
	Calls  int           `json:"calls"`
	Length time.Duration `json:"-"`
	Block  time.Duration `json:"-"`
}

// Config is what a Limiter enforces. The zero value enforces nothing.
type Config struct {
	Kind Kind     `json:"kind"` // "" is Sliding
	Corp []Window `json:"corp"` // per corp and API
	IP   []Window `json:"ip"`   // per IP and API
	// Concurrency is the most calls in flight per corp and API; 0 is no limit.
	// WeCom does not document it; 5 has been reported for some APIs.
	Concurrency int `json:"concurrency"`
}

// Documented returns the limits of a corp's own app: 10 000 calls a minute and
// 150 000 an hour per corp and API, 20 000 and 600 000 per IP and API; a
// breach of the minute blocks for 60 s, of the hour for 60 minutes.
func Documented() Config {
	return Config{
		Kind: Sliding,
		Corp: []Window{
			{Calls: 10_000, Length: time.Minute, Block: time.Minute},
			{Calls: 150_000, Length: time.Hour, Block: time.Hour},
		},
		IP: []Window{
			{Calls: 20_000, Length: time.Minute, Block: time.Minute},
			{Calls: 600_000, Length: time.Hour, Block: time.Hour},
		},
	}
}

// Provider returns Documented with the IP limits of a third-party provider,
// twice those of an own app.
func Provider() Config {
	c := Documented()
	for i := range c.IP {
		c.IP[i].Calls *= 2
	}
	return c
}

// Validate reports the first field that cannot be enforced.
func (c Config) Validate() error {
	if c.Kind != "" && c.Kind != Sliding && c.Kind != Fixed {
		return fmt.Errorf("limits: kind %q is neither %q nor %q", c.Kind, Sliding, Fixed)
	}
	if c.Concurrency < 0 {
		return fmt.Errorf("limits: concurrency %d is negative", c.Concurrency)
	}
	for scope, windows := range map[Scope][]Window{Corp: c.Corp, IP: c.IP} {
		for i, w := range windows {
			if w.Calls < 1 || w.Length <= 0 || w.Block < 0 {
				return fmt.Errorf("limits: %s window %d (%d calls per %v, block %v): calls and length must be positive, block not negative",
					scope, i, w.Calls, w.Length, w.Block)
			}
		}
	}
	return nil
}
