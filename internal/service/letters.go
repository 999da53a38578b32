package service

import (
	"context"
	"iter"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/propagation"

	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/adapter/pulsarbus"
	"github.com/rollcall-dev/rollcall/internal/config"
	"github.com/rollcall-dev/rollcall/internal/letters"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/pkg/refresh"
)

// ListDeadLetters yields at most limit dead letters that nobody has dealt with,
// a partition's together and oldest first, and leaves them where they are.
func ListDeadLetters(ctx context.Context, cfg config.Config, limit int) iter.Seq2[letters.Letter, error] {
	return func(yield func(letters.Letter, error) bool) {
		err := withLetters(cfg, func(box *pulsarbus.Letters) error {
			for letter, err := range box.Waiting(ctx, limit) {
				if err != nil {
					return err
				}
				if !yield(letter, nil) {
					return nil
				}
			}
			return nil
		})
		if err != nil {
			yield(letters.Letter{}, err)
		}
	}
}

// ShowDeadLetter returns a dead letter that nobody has dealt with.
func ShowDeadLetter(ctx context.Context, cfg config.Config, id string) (letters.Letter, error) {
	var letter letters.Letter
	err := withLetters(cfg, func(box *pulsarbus.Letters) (err error) {
		letter, err = box.Get(ctx, id)
		return err
	})
	return letter, err
}

// AtLettersDesk has an operator decide about dead letters, on connections of its
// own.
func AtLettersDesk(ctx context.Context, cfg config.Config, by string, do func(letters.Desk) error) error {
	return withMongo(ctx, cfg, func(db *mongostore.Database) error {
		return withLetters(cfg, func(box *pulsarbus.Letters) error {
			client, err := pulsarbus.NewClient(letterOptions(cfg))
			if err != nil {
				return err
			}
			defer client.Close()
			producer, err := refresh.New(client, refresh.Options{Topic: cfg.Pulsar.Topic, SendTimeout: cfg.Pulsar.OperationTimeout})
			if err != nil {
				return err
			}
			defer producer.Close()
			topic := letterTopic{name: cfg.Pulsar.Topic, producer: producer}
			return do(letters.Desk{Box: box, Topic: topic, Read: readEvent, Book: db.Decisions(), Now: time.Now, By: by})
		})
	})
}

// withLetters does something with the dead letters on a connection of its own.
func withLetters(cfg config.Config, do func(*pulsarbus.Letters) error) error {
	if cfg.Pulsar.AdminURL == "" {
		return &config.Mistakes{List: []config.Mistake{{
			Name:    "ROLLCALL_PULSAR_ADMIN_URL",
			Problem: "is not set, and the broker's admin API alone knows which dead letters are dealt with",
		}}}
	}
	admin, err := openAdmin(cfg.Pulsar)
	if err != nil {
		return err
	}
	defer admin.Close()
	box, err := pulsarbus.OpenLetters(letterOptions(cfg), admin)
	if err != nil {
		return err
	}
	defer box.Close()
	return do(box)
}

func letterOptions(cfg config.Config) pulsarbus.Options {
	return pulsarbus.Options{
		URL:               cfg.Pulsar.URL,
		Topic:             cfg.Pulsar.Topic,
		DeadLetterTopic:   cfg.Pulsar.DeadLetterTopic,
		Token:             token(cfg.Pulsar),
		TrustCertsFile:    cfg.Pulsar.TLSCAFile,
		CertFile:          cfg.Pulsar.TLSCertFile,
		KeyFile:           cfg.Pulsar.TLSKeyFile,
		ConnectionTimeout: cfg.Pulsar.ConnectTimeout,
		OperationTimeout:  cfg.Pulsar.OperationTimeout,
		Logger:            slog.New(slog.DiscardHandler), // what went wrong is the command's error
	}
}

// letterTopic publishes the events of dead letters through the SDK, so that
// nothing is published that a refresher would bury again.
type letterTopic struct {
	name     string
	producer refresh.Publisher
}

var _ letters.Topic = letterTopic{}

// Name is the topic's.
func (t letterTopic) Name() string { return t.name }

// Publish stores one event.
func (t letterTopic) Publish(ctx context.Context, e letters.Event) error {
	ctx = propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier(e.Trace))
	return t.producer.Publish(ctx, refresh.Event{
		Tenant: e.Tenant, Code: e.Code, Reason: e.Why, OccurredAt: e.OccurredAt, Note: e.Note,
	})
}

// readEvent reads a payload as a refresher does.
func readEvent(payload []byte) (letters.Event, error) {
	e, err := refresh.Decode(payload)
	return letters.Event{
		Ref: push.Ref{Tenant: e.Tenant, Code: e.Code}, Why: e.Reason, OccurredAt: e.OccurredAt, Note: e.Note,
	}, err
}
