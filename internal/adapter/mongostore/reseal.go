package mongostore

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/rollcall-dev/rollcall/internal/seal"
)

const (
	// secretsPage is how many tenants are read at a time.
	secretsPage = 500
	// resealAttempts bounds the tries for one secret that others keep writing.
	resealAttempts = 3
	// maxCauses is how many secrets that do not open are named.
	maxCauses = 10
)

// Secrets is the view of all tenants' secrets, for counting them by key and
// for renewing those of an old one.
type Secrets struct {
	db   *mongo.Database
	keys *seal.Keyring
}

// Secrets returns the view of all tenants' secrets.
func (d *Database) Secrets() *Secrets { return &Secrets{db: d.db, keys: d.keys} }

// SecretCount says how the secrets of one place are kept.
type SecretCount struct {
	Place  string         // collection and field
	Sealed map[string]int // by the ID of the key; those that do not open included
	Plain  int            // in clear
	// Unopened are those that this process cannot open: their key is missing,
	// or they were moved or changed.
	Unopened int
}

// Status counts the secrets of every place. Nothing is written.
func (s *Secrets) Status(ctx context.Context) ([]SecretCount, error) {
	counts := make([]SecretCount, 0, len(places))
	for _, p := range places {
		count := SecretCount{Place: p.String(), Sealed: map[string]int{}}
		for found, err := range s.in(ctx, p) {
			if err != nil {
				return nil, err
			}
			s.count(&count, p, found)
		}
		counts = append(counts, count)
	}
	return counts, nil
}

func (s *Secrets) count(into *SecretCount, p place, found storedSecret) {
	if !seal.IsSealed(found.text) {
		into.Plain++
		return
	}
	if id, ok := seal.KeyID(found.text); ok {
		into.Sealed[id]++
	}
	if _, err := p.open(s.keys, found.tenant, found.text); err != nil {
		into.Unopened++
	}
}

// Resealed says what a reseal did.
type Resealed struct {
	Sealed  int // were in clear
	Renewed int // were sealed with another key
	Current int // were sealed with the first key already
	// Overtaken were written by others at every attempt; another run finds how
	// they are now.
	Overtaken int
	// Unopened are left as they are; Causes names the first ten and why.
	Unopened int
	Causes   []error
}

// Reseal seals with the ring's first key whatever is in clear or sealed with
// another key. Each secret is one update under the condition that it is still
// the one that was read, so a secret that is written meanwhile is never undone,
// and a run may be stopped and begun again. An error comes with what was done
// until then; without a key it is seal.ErrNoKeys.
func (s *Secrets) Reseal(ctx context.Context) (Resealed, error) {
	var done Resealed
	if s.keys.Sealing() == "" {
		return done, seal.ErrNoKeys
	}
	for _, p := range places {
		for found, err := range s.in(ctx, p) {
			if err == nil {
				err = s.reseal(ctx, p, found, &done)
			}
			if err != nil {
				return done, err
			}
		}
	}
	return done, nil
}

// reseal brings one secret to the first key and counts how it went.
func (s *Secrets) reseal(ctx context.Context, p place, found storedSecret, done *Resealed) error {
	for range resealAttempts {
		id, _ := seal.KeyID(found.text)
		if id == s.keys.Sealing() {
			done.Current++
			return nil
		}
		written, err := s.replace(ctx, p, found)
		if cause, ok := errors.AsType[*unopenedError](err); ok {
			done.unopened(cause)
			return nil
		}
		switch {
		case err != nil:
			return err
		case written && id == "":
			done.Sealed++
			return nil
		case written:
			done.Renewed++
			return nil
		}
		if found, err = s.again(ctx, p, found.tenant); err != nil || found.text == "" {
			return err // an error, or the secret is gone
		}
	}
	done.Overtaken++
	return nil
}

// replace seals the secret anew if it is still the one that was read.
func (s *Secrets) replace(ctx context.Context, p place, found storedSecret) (bool, error) {
	plain, err := p.open(s.keys, found.tenant, found.text)
	if err != nil {
		return false, &unopenedError{err}
	}
	sealed, err := p.seal(s.keys, found.tenant, plain)
	if err != nil {
		return false, err
	}
	written, err := updateIf(ctx, s.db.Collection(p.collection),
		bson.D{kv("_id", found.tenant), kv(p.field, found.text)},
		bson.D{kv("$set", bson.D{kv(p.field, sealed)})})
	if err != nil {
		return false, fmt.Errorf("reseal %s of tenant %s: %w", p, found.tenant, err)
	}
	return written, nil
}

// unopenedError is a secret that this process cannot open.
type unopenedError struct{ cause error }

func (e *unopenedError) Error() string { return e.cause.Error() }
func (e *unopenedError) Unwrap() error { return e.cause }

func (r *Resealed) unopened(cause error) {
	r.Unopened++
	if len(r.Causes) < maxCauses {
		r.Causes = append(r.Causes, cause)
	}
}

// storedSecret is a secret as it is stored. It is printed nowhere: the text may
// be in clear.
type storedSecret struct {
	tenant string
	text   string
}

// again reads one secret; the text is "" when it is gone.
func (s *Secrets) again(ctx context.Context, p place, tenant string) (storedSecret, error) {
	doc, _, err := findOne[bson.Raw](ctx, s.db.Collection(p.collection), tenant, bson.D{kv(p.field, 1)})
	if err != nil {
		return storedSecret{}, err
	}
	return storedSecret{tenant: tenant, text: p.textOf(doc)}, nil
}

// in yields the secrets of a place in the order of the tenants, page by page.
// An error is the last that is yielded.
func (s *Secrets) in(ctx context.Context, p place) iter.Seq2[storedSecret, error] {
	return func(yield func(storedSecret, error) bool) {
		after := bson.D{}
		for {
			docs, err := findAll[bson.Raw](ctx, s.db.Collection(p.collection), after,
				page(secretsPage).SetSort(bson.D{kv("_id", 1)}).SetProjection(bson.D{kv(p.field, 1)}))
			if err != nil {
				yield(storedSecret{}, err)
				return
			}
			last := ""
			for _, doc := range docs {
				last, _ = doc.Lookup("_id").StringValueOK()
				text := p.textOf(doc)
				if text != "" && !yield(storedSecret{tenant: last, text: text}, nil) {
					return
				}
			}
			if len(docs) < secretsPage {
				return
			}
			after = bson.D{kv("_id", bson.D{kv("$gt", last)})}
		}
	}
}

// textOf is what a document holds in the place; "" when that is no text.
func (p place) textOf(doc bson.Raw) string {
	if len(doc) == 0 {
		return ""
	}
	text, _ := doc.Lookup(strings.Split(p.field, ".")...).StringValueOK()
	return text
}
