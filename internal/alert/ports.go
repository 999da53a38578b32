package alert

import (
	"context"
	"time"

	"github.com/rollcall-dev/rollcall/internal/reason"
)

// Alert is one trouble that a person should know of.
type Alert struct {
	// Kind is the reason under which logs, metrics and traces show the same.
	Kind   reason.Reason
	Tenant string // "": it concerns the whole installation
	// Subject tells troubles of one kind and tenant apart, such as an error
	// code; "" merges all of them.
	Subject string
	// Text is WeCom markdown for a person, without a secret.
	Text string
}

// Channel brings a message to a person.
type Channel interface {
	// Send delivers markdown and waits for the answer; the caller bounds ctx.
	Send(ctx context.Context, markdown string) error
}

// Claims lets one of several instances tell of what all of them see.
type Claims interface {
	// Claim reports whether this instance is the first to ask for key within
	// span. An error means that nobody could be asked; the alert is told then.
	Claim(ctx context.Context, key string, span time.Duration) (bool, error)
}

// Fate is what became of an alert.
type Fate string

// The fates.
const (
	Sent      Fate = "sent"      // a person can read it
	Logged    Fate = "logged"    // there is no channel; it is in the log
	Merged    Fate = "merged"    // counted in a message about the same
	Elsewhere Fate = "elsewhere" // another instance tells of it
	Dropped   Fate = "dropped"   // too many different ones are open; their number is told
	Failed    Fate = "failed"    // the channel did not take it; it is in the log
)

// Observer counts alerts. It must not wait.
type Observer interface {
	Alerted(ctx context.Context, kind reason.Reason, fate Fate)
}
