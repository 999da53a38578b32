// Package redishint tells the consumers of a subscription that a sibling joined.
//
// It owns a Redis channel per subscription and nothing else: a hint carries no
// state, may be lost at any time, and costs only time then (the holds run out
// by themselves). The package refuses to own what to do about a hint.
package redishint

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"sync"

	"github.com/redis/go-redis/v9"
)

// Options configure Joins. A zero field takes its default.
type Options struct {
	Prefix string // before the channel's name; default "rollcall:"
	// Instance names this process; its own hints are ignored. Default a
	// random name.
	Instance string
	Logger   *slog.Logger // default slog.Default()
}

// Joins publishes and hears the hints of one subscription. It is safe for
// concurrent use.
type Joins struct {
	client   redis.UniversalClient
	channel  string
	instance string
	log      *slog.Logger
	running  sync.WaitGroup
}

// New returns the Joins of a subscription on client, which stays the caller's
// to close, after Wait.
func New(client redis.UniversalClient, subscription string, opts Options) *Joins {
	j := &Joins{client: client, instance: opts.Instance, log: opts.Logger}
	prefix := opts.Prefix
	if prefix == "" {
		prefix = "rollcall:"
	}
	j.channel = prefix + "joined:" + subscription
	if j.instance == "" {
		j.instance = rand.Text()
	}
	if j.log == nil {
		j.log = slog.Default()
	}
	return j
}

// Publish tells the siblings that this process has joined. An error costs time
// only.
func (j *Joins) Publish(ctx context.Context) error {
	if err := j.client.Publish(ctx, j.channel, j.instance).Err(); err != nil {
		return fmt.Errorf("publish the join hint: %w", err)
	}
	return nil
}

// Listen delivers a value whenever siblings have joined since the last one was
// taken; several joins may be one value. It listens until ctx ends, through
// lost connections, and never closes the channel; Wait waits for its end.
func (j *Joins) Listen(ctx context.Context) <-chan struct{} {
	hints := make(chan struct{}, 1)
	j.running.Go(func() { j.listen(ctx, hints) })
	return hints
}

// Wait returns once every Listen has ended, after the end of its context.
func (j *Joins) Wait() { j.running.Wait() }

func (j *Joins) listen(ctx context.Context, hints chan<- struct{}) {
	// The driver's channel pings, reconnects and subscribes again by itself.
	subscription := j.client.Subscribe(ctx, j.channel)
	defer func() {
		if err := subscription.Close(); err != nil {
			j.log.DebugContext(ctx, "join hints: close the subscription", "error", err)
		}
	}()
	messages := subscription.Channel()
	for {
		select {
		case <-ctx.Done():
			return
		case m, open := <-messages:
			if !open {
				return
			}
			if m.Payload == j.instance {
				continue
			}
			select {
			case hints <- struct{}{}:
			default:
			}
		}
	}
}
