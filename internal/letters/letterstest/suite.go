package letterstest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/letters"
	"github.com/rollcall-dev/rollcall/internal/reason"
	"github.com/rollcall-dev/rollcall/internal/suitetest"
)

// Bench is a box under test and how letters get into it.
type Bench struct {
	Box interface {
		letters.Box
		// Waiting returns the IDs of the letters that nobody has dealt with.
		Waiting(ctx context.Context) ([]string, error)
	}
	// Bury puts a letter into the box.
	Bury func(t *testing.T, letter letters.Letter)
}

// TestBox is the contract of a box. Every test gets an empty one from the
// factory, which cleans up after itself.
func TestBox(t *testing.T, factory func(t *testing.T) Bench) {
	suitetest.Run(t, suitetest.Suite[Bench]{"box": {
		"keeps all of a letter":                 kept,
		"settles one and leaves the others":     settledOne,
		"says of a settled one that it is":      settledTwice,
		"knows no letter that was never buried": unknown,
		"keeps what was buried after a settle":  buriedLater,
		"is empty when all are settled":         emptied,
	}}, factory)
}

func letter(key string) letters.Letter {
	return letters.Letter{
		OriginalID: "7:9:3", Topic: TopicName, Key: key, Cause: reason.NoKey, Detail: "no key", Payload: []byte(`{"v":1}`),
		PublishedAt: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC),
	}
}

func kept(t *testing.T, b Bench) {
	id := b.bury(t, letter("c-1"))
	got, err := b.Box.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	want := letter("c-1")
	want.ID = id
	got.BuriedAt, got.Properties = time.Time{}, nil
	suitetest.WantSame(t, "letter", want, got)
}

func settledOne(t *testing.T, b Bench) {
	first, second, third := b.bury(t, letter("a")), b.bury(t, letter("b")), b.bury(t, letter("c"))
	b.settle(t, second)
	b.want(t, first, third)
	b.settle(t, first)
	b.want(t, third)
	if got, err := b.Box.Get(t.Context(), third); err != nil || got.Key != "c" {
		t.Errorf("Get of what is left = %+v, %v", got, err)
	}
}

func settledTwice(t *testing.T, b Bench) {
	first := b.bury(t, letter("a"))
	second := b.bury(t, letter("b"))
	for range 2 {
		b.settle(t, second)
		if got, err := b.Box.Get(t.Context(), second); !errors.Is(err, letters.ErrSettled) {
			t.Errorf("Get of a settled letter = %+v, %v", got, err)
		}
	}
	b.want(t, first)
}

func unknown(t *testing.T, b Bench) {
	for _, id := range []string{"999999999:0:0", "0:0:7", "rubbish", "1:2", "1:2:3:4", "-1:-1:0", ""} {
		if got, err := b.Box.Get(t.Context(), id); !errors.Is(err, letters.ErrUnknown) {
			t.Errorf("Get(%q) = %+v, %v", id, got, err)
		}
	}
	b.bury(t, letter("a"))
	if got, err := b.Box.Get(t.Context(), "999999999:0:0"); !errors.Is(err, letters.ErrUnknown) {
		t.Errorf("Get beyond the last letter = %+v, %v", got, err)
	}
}

func buriedLater(t *testing.T, b Bench) {
	b.settle(t, b.bury(t, letter("a")))
	b.want(t, b.bury(t, letter("b")))
}

func emptied(t *testing.T, b Bench) {
	b.want(t)
	ids := []string{b.bury(t, letter("a")), b.bury(t, letter("b"))}
	for _, id := range ids {
		b.settle(t, id)
	}
	b.want(t)
}

// bury returns the ID of the new letter.
func (b Bench) bury(t *testing.T, l letters.Letter) string {
	t.Helper()
	b.Bury(t, l)
	ids, err := b.Box.Waiting(t.Context())
	if err != nil || len(ids) == 0 {
		t.Fatalf("after a letter was buried, %v wait, %v", ids, err)
	}
	return ids[len(ids)-1]
}

func (b Bench) settle(t *testing.T, id string) {
	t.Helper()
	if err := b.Box.Settle(t.Context(), id); err != nil {
		t.Fatalf("Settle(%s): %v", id, err)
	}
}

func (b Bench) want(t *testing.T, ids ...string) {
	t.Helper()
	got, err := b.Box.Waiting(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	suitetest.WantSame(t, "letters that wait", ids, got)
}
