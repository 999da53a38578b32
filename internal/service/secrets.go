package service

import (
	"context"

	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/config"
)

// SecretStatus counts the secrets in MongoDB by the key that seals them.
func SecretStatus(ctx context.Context, cfg config.Config) ([]mongostore.SecretCount, error) {
	db, err := openMongo(cfg, "operator")
	if err != nil {
		return nil, err
	}
	defer func() { _ = db.Close(context.WithoutCancel(ctx)) }() // the process ends with the command
	return db.Secrets().Status(ctx)
}

// ResealSecrets seals with the first key what is in clear or sealed with
// another one; see mongostore.Secrets.Reseal. What was done comes with an error
// too.
func ResealSecrets(ctx context.Context, cfg config.Config) (mongostore.Resealed, error) {
	db, err := openMongo(cfg, "operator")
	if err != nil {
		return mongostore.Resealed{}, err
	}
	defer func() { _ = db.Close(context.WithoutCancel(ctx)) }() // the process ends with the command
	return db.Secrets().Reseal(ctx)
}
