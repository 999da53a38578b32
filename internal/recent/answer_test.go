package recent_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rollcall-dev/rollcall/internal/recent"
)

func TestAnAnswerIsRememberedForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		r := recent.NewAnswer(time.Minute, time.Now, func(context.Context) (int, error) { asked++; return asked, nil })
		for _, want := range []int{1, 1, 2} {
			if got, err := r.Get(t.Context()); got != want || err != nil {
				t.Errorf("%d, %v; want %d", got, err, want)
			}
			<-time.After(30 * time.Second)
		}
	})
}

func TestAFailureIsNotRemembered(t *testing.T) {
	away := errors.New("away")
	r := recent.NewAnswer(time.Minute, time.Now, func(context.Context) (int, error) { err := away; away = nil; return 7, err })
	if got, err := r.Get(t.Context()); got != 0 || err == nil {
		t.Errorf("%d, %v", got, err)
	}
	if got, err := r.Get(t.Context()); got != 7 || err != nil {
		t.Errorf("%d, %v", got, err)
	}
}

func TestWhoAsksMeanwhileWaitsNoLongerThanHeMay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := recent.NewAnswer(time.Minute, time.Now, func(ctx context.Context) (int, error) { <-ctx.Done(); return 0, ctx.Err() })
		hanging, stop := context.WithCancel(t.Context())
		defer stop()
		go func() { _, _ = r.Get(hanging) }()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := r.Get(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
	})
}
