package notify

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Via is a kind of channel.
type Via string

// The kinds of channels.
const (
	ViaWebhook Via = "webhook" // signed HTTP
	ViaRobot   Via = "robot"   // a WeCom group robot
)

// Vias returns all kinds of channels.
func Vias() []Via { return []Via{ViaWebhook, ViaRobot} }

// Bounds of a tenant's channels.
const (
	// DefaultDailyPool is how many deliveries a tenant has a day when nothing
	// is set.
	DefaultDailyPool = 200
	// MaxDailyPool is the largest daily pool.
	MaxDailyPool = 10_000
	// MinSecret is the shortest secret of a webhook, in bytes.
	MinSecret = 16
	// MaxSecret is the longest one.
	MaxSecret = 256

	maxURL, maxRobotKey = 2048, 256
)

// Channels are how one tenant's people are told, and how often. The zero value
// tells nobody.
type Channels struct {
	Webhook Webhook
	Robot   Robot
	// DailyPool is the most deliveries in one day of the tenant, 0 to
	// MaxDailyPool; 0 is the default.
	DailyPool int
	// Kinds are the notices that are wanted; none: all.
	Kinds []Kind
}

// Webhook is an HTTP receiver. Its zero value is none. No formatter shows its
// URL whole, nor its secret.
type Webhook struct {
	// URL is https; http for a loopback address only.
	URL string
	// Secret signs what is sent, MinSecret to MaxSecret bytes.
	Secret string
}

// Robot is a WeCom group robot. Its zero value is none. No formatter shows its
// key, which is all that it takes to write to the group.
type Robot struct{ Key string }

// Has reports whether there is a channel of a kind.
func (c Channels) Has(via Via) bool {
	switch via {
	case ViaWebhook:
		return c.Webhook.URL != ""
	case ViaRobot:
		return c.Robot.Key != ""
	}
	return false
}

// Wants reports whether notices of a kind are wanted.
func (c Channels) Wants(kind Kind) bool { return len(c.Kinds) == 0 || slices.Contains(c.Kinds, kind) }

// ErrInvalidChannels is wrapped by what is wrong with a tenant's channels.
var ErrInvalidChannels = errors.New("invalid channels")

// Validate returns what is wrong, wrapping ErrInvalidChannels; its text is for
// whoever configures the channels and holds no secret.
func (c Channels) Validate() error {
	var wrong []error
	add := func(format string, args ...any) {
		wrong = append(wrong, fmt.Errorf("%w: "+format, append([]any{ErrInvalidChannels}, args...)...))
	}
	if c.Webhook != (Webhook{}) {
		if problem := urlProblem(c.Webhook.URL); problem != "" {
			add("the webhook's URL %s", problem)
		}
		if n := len(c.Webhook.Secret); n < MinSecret || n > MaxSecret {
			add("the webhook's secret has %d bytes; %d to %d are allowed", n, MinSecret, MaxSecret)
		}
	}
	if n := len(c.Robot.Key); n > maxRobotKey || !printable(c.Robot.Key) {
		add("the robot's key is longer than %d bytes or not printable ASCII", maxRobotKey)
	}
	if c.DailyPool < 0 || c.DailyPool > MaxDailyPool {
		add("a daily pool of %d; 0 to %d are allowed", c.DailyPool, MaxDailyPool)
	}
	for _, kind := range c.Kinds {
		if !slices.Contains(Kinds(), kind) {
			add("kind %q is not known", kind)
		}
	}
	return errors.Join(wrong...)
}

// urlProblem returns what is wrong with a webhook's URL, "" when nothing is.
func urlProblem(url string) string {
	scheme, rest, _ := strings.Cut(url, "://")
	authority := rest
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		authority = rest[:end]
	}
	switch {
	case len(url) > maxURL:
		return fmt.Sprintf("is longer than %d bytes", maxURL)
	case !printable(url) || strings.Contains(url, `\`):
		return "holds characters that have to be escaped"
	case authority == "" || strings.HasPrefix(authority, ":"):
		return "has no host"
	case strings.Contains(authority, "@"):
		return "names a user; the secret is what a receiver checks"
	case scheme == "https":
		return ""
	case scheme == "http" && loopback(authority):
		return ""
	}
	return "is not https://"
}

// loopback reports whether host[:port] names this machine.
func loopback(authority string) bool {
	host, _, _ := strings.Cut(authority, ":")
	return host == "127.0.0.1" || host == "localhost" || authority == "[::1]" || strings.HasPrefix(authority, "[::1]:")
}

func printable(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r >= 0x7f })
}
