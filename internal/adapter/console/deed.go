package console

import (
	"context"
	"errors"
	"fmt"

	"github.com/rollcall-dev/rollcall/internal/dirty"
	"github.com/rollcall-dev/rollcall/internal/letters"
)

// weighDirty shows what is known of a dirty code; one that is not dirty any more
// is not there.
func weighDirty(ctx context.Context, c *Console, e errand, _ lang) (weighed, error) {
	seen, err := c.Dirty.Desk(e.By).Find(ctx, e.Tenant+"/"+e.ID)
	if errors.Is(err, dirty.ErrNotDirty) {
		return weighed{}, notFound
	}
	return weighed{effect: []string{seen.About}}, err
}

func retryAll(ctx context.Context, c *Console, e errand, l lang) (string, error) {
	done, err := c.Dirty.Desk(e.By).RetryAll(ctx, e.Tenant, e.Cause, dirty.MostAtOnce, e.Why)
	return l.say("done.retried", done.Due, done.Changed), err
}

func weighLetter(ctx context.Context, c *Console, e errand, l lang) (weighed, error) {
	letter, err := c.Letters.Letter(ctx, e.Letter)
	if err != nil {
		return weighed{}, letterError(err)
	}
	about := l.reason(letter.Cause)
	if letter.Detail != "" {
		about += ": " + letter.Detail
	}
	return weighed{effect: []string{about}}, nil
}

func republish(ctx context.Context, c *Console, e errand, l lang) (told string, err error) {
	err = c.Letters.AtDesk(ctx, e.By, func(desk letters.Desk) error {
		event, err := desk.Republish(ctx, e.Letter, letters.Expect{}, e.Why)
		told = fmt.Sprintf("%s/%s", event.Tenant, event.Code)
		return err
	})
	return l.say("done.published", told), err
}

func discard(ctx context.Context, c *Console, e errand, _ lang) (string, error) {
	return "", c.Letters.AtDesk(ctx, e.By, func(desk letters.Desk) error { return desk.Discard(ctx, e.Letter, e.Why) })
}
