package letterstest_test

import (
	"testing"

	"github.com/rollcall-dev/rollcall/internal/letters"
	"github.com/rollcall-dev/rollcall/internal/letters/letterstest"
)

func TestBoxConforms(t *testing.T) {
	letterstest.TestBox(t, func(*testing.T) letterstest.Bench {
		box := letterstest.NewBox()
		return letterstest.Bench{Box: box, Bury: func(_ *testing.T, letter letters.Letter) { box.Bury(letter) }}
	})
}
