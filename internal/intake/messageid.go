package intake

import (
	"cmp"
	"fmt"
)

// Compare orders the messages of one partition as the broker stored them.
func (id MessageID) Compare(other MessageID) int {
	return cmp.Or(cmp.Compare(id.Ledger, other.Ledger), cmp.Compare(id.Entry, other.Entry))
}

// String is ledger:entry:partition, as Pulsar's tools print it.
func (id MessageID) String() string {
	return fmt.Sprintf("%d:%d:%d", id.Ledger, id.Entry, id.Partition)
}
