package roster

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// hashBytes is how much of the digest a hash shows: 64 bits tell two lists of
// one code apart, which is all that is asked of it.
const hashBytes = 8

// hashOf identifies all that a push of members sends, and to which contact way:
// one that takes another's place holds none of it yet. Whether a rotation set
// belongs to it counts too: a code that has stopped rotating is pushed once more,
// which removes its set. So does the term: a code whose mode was switched is
// pushed once more, since another system may have written meanwhile. Every text
// is preceded by its length, so that no two pushes share an encoding.
func hashOf(members []string, facts *Facts) string {
	code := &facts.Code
	text := make([]byte, 0, 2048)
	text = binary.AppendUvarint(text, uint64(len(members)))
	for _, member := range members {
		text = appendText(text, member)
	}
	text = appendText(text, code.ConfigID)
	text = appendText(text, code.Remark)
	text = appendText(text, code.State)
	flags := byte(0)
	if code.SkipVerify {
		flags |= 1
	}
	if code.Family.Rotates() {
		flags |= 2
	}
	text = append(text, flags)
	if term := facts.term(); term != 0 {
		text = binary.AppendVarint(text, term)
	}
	digest := sha256.Sum256(text)
	var shown [2 * hashBytes]byte
	hex.Encode(shown[:], digest[:hashBytes])
	return string(shown[:])
}

func appendText(to []byte, text string) []byte {
	return append(binary.AppendUvarint(to, uint64(len(text))), text...)
}
