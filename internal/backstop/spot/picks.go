package spot

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/rollcall-dev/rollcall/internal/push"
)

// Picks reports whether a pass looks at a code: a share (0..1) of all codes,
// drawn anew for every pass. Every process answers the same, so a pass may be
// split among many, or begun again, without a code more or less.
//
// The draw is a cryptographic hash. It costs less than reading the code does, and
// nobody has to show that the codes' names, which often count upwards, leave no
// trace in it.
func Picks(pass uint64, ref push.Ref, share float64) bool {
	return draw(pass, ref) < share
}

// draw returns a number in [0, 1) for a code in a pass.
func draw(pass uint64, ref push.Ref) float64 {
	text := make([]byte, 0, 256)
	text = binary.BigEndian.AppendUint64(text, pass)
	text = append(text, ref.Tenant...)
	text = append(text, 0) // no ID holds it
	text = append(text, ref.Code...)
	digest := sha256.Sum256(text)
	const bits = 53 // of a float64's fraction
	return float64(binary.BigEndian.Uint64(digest[:8])>>(64-bits)) / (1 << bits)
}
