package await_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rollcall-dev/rollcall/test/await"
)

func TestUntilEndsWithTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		await.Until(t, time.Minute, time.Second, "ten seconds", func() bool { return time.Since(began) >= 10*time.Second })
		if took := time.Since(began); took != 10*time.Second {
			t.Errorf("waited %v; want 10 s", took)
		}
	})
}

func TestUntilEndsTheTestAtTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, began := &recorder{TB: t}, time.Now()
		func() {
			defer func() { _ = recover() }() // the recorder's way out
			await.Until(r, time.Minute, time.Second, "never", func() bool { return false })
		}()
		if r.said != "not within 1m0s: never" || time.Since(began) != time.Minute {
			t.Errorf("said %q after %v", r.said, time.Since(began))
		}
	})
}

// recorder is a test that notes how it ends.
type recorder struct {
	testing.TB
	said string
}

func (r *recorder) Helper() {}

func (r *recorder) Fatalf(format string, args ...any) {
	r.said = fmt.Sprintf(format, args...)
	panic(r.said)
}
