package service

import (
	"context"

	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/config"
)

// SecretStatus counts the secrets in MongoDB by the key that seals them.
func SecretStatus(ctx context.Context, cfg config.Config) (counts []mongostore.SecretCount, err error) {
	err = withMongo(ctx, cfg, func(db *mongostore.Database) (err error) {
		counts, err = db.Secrets().Status(ctx)
		return err
	})
	return counts, err
}

// ResealSecrets seals with the first key what is in clear or sealed with
// another one; see mongostore.Secrets.Reseal. What was done comes with an error
// too.
func ResealSecrets(ctx context.Context, cfg config.Config) (done mongostore.Resealed, err error) {
	err = withMongo(ctx, cfg, func(db *mongostore.Database) (err error) {
		done, err = db.Secrets().Reseal(ctx)
		return err
	})
	return done, err
}
