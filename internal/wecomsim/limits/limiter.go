package limits

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// Scope says whose window was breached.
type Scope string

const (
	// Corp is the window of a corp on one API.
	Corp Scope = "corp"
	// IP is the window of an IP on one API.
	IP Scope = "ip"
)

// Call names one call. An empty Corp or IP is not counted in that scope.
type Call struct {
	Corp string
	IP   string
	API  string
}

// Breach says why a call is refused and until when its like will be.
type Breach struct {
	Scope  Scope
	Window Window
	Until  time.Time
}

// Limiter enforces a Config. It is safe for concurrent use.
type Limiter struct {
	mu     sync.RWMutex
	config Config
	meters map[meterKey]*meter
}

type meterKey struct {
	scope Scope
	owner string
	api   string
}

// New returns a limiter with no history. It fails when config is invalid.
func New(config Config) (*Limiter, error) {
	l := &Limiter{}
	if err := l.Configure(config); err != nil {
		return nil, err
	}
	return l, nil
}

// Configure replaces the configuration, forgets what was counted and lifts
// all blocks. It fails, and changes nothing, when config is invalid.
func (l *Limiter) Configure(config Config) error {
	if err := config.Validate(); err != nil {
		return fmt.Errorf("configure: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.config = config.clone()
	l.meters = map[meterKey]*meter{}
	return nil
}

// Config returns the configuration in force.
func (l *Limiter) Config() Config {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.config.clone()
}

// Forget forgets what was counted and lifts all blocks.
func (l *Limiter) Forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.meters = map[meterKey]*meter{}
}

// Admit counts the call at now and reports true, or refuses it. A refused call
// is counted in neither scope.
func (l *Limiter) Admit(now time.Time, call Call) (Breach, bool) {
	// Always the corp first, so that two calls never wait for each other.
	corp := l.meter(Corp, call.Corp, call.API)
	ip := l.meter(IP, call.IP, call.API)
	if corp != nil {
		corp.mu.Lock()
		defer corp.mu.Unlock()
		if b, ok := corp.check(now); !ok {
			b.Scope = Corp
			return b, false
		}
	}
	if ip != nil {
		ip.mu.Lock()
		defer ip.mu.Unlock()
		if b, ok := ip.check(now); !ok {
			b.Scope = IP
			return b, false
		}
		ip.count()
	}
	if corp != nil {
		corp.count()
	}
	return Breach{}, true
}

func (l *Limiter) meter(scope Scope, owner, api string) *meter {
	if owner == "" {
		return nil
	}
	key := meterKey{scope, owner, api}
	l.mu.RLock()
	m, windows := l.meters[key], l.config.windows(scope)
	l.mu.RUnlock()
	if m != nil || len(windows) == 0 {
		return m
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if m = l.meters[key]; m == nil {
		m = newMeter(l.config.Kind, l.config.windows(scope))
		l.meters[key] = m
	}
	return m
}

func (c Config) windows(scope Scope) []Window {
	if scope == Corp {
		return c.Corp
	}
	return c.IP
}

func (c Config) clone() Config {
	if c.Kind == "" {
		c.Kind = Sliding
	}
	c.Corp, c.IP = slices.Clone(c.Corp), slices.Clone(c.IP)
	return c
}

// Concurrency returns the most calls in flight per corp and API; 0 is no limit.
func (l *Limiter) Concurrency() int {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.config.Concurrency
}
