package pulsarbus

import (
	"sync"

	"github.com/apache/pulsar-client-go/pulsar"

	"github.com/rollcall-dev/rollcall/internal/intake"
	"github.com/rollcall-dev/rollcall/pkg/refresh"
)

// An intake.MessageID names an entry, and an entry of our producers is one
// message. The broker acks and nacks it by these three numbers alone, so
// nothing has to be remembered per message.
//
// Two kinds of foreign messages need more. A batch has several messages in one
// entry, and acking the entry for the first would lose the others; a message in
// chunks has several entries. For these the client's own ID is kept until the
// message is acked or nacked, and a batched message gets an ID of its own by
// carrying its place in the high bits of Entry.
const (
	batchShift = 40 // entries of a ledger stay far below 2^40
	entryMask  = 1<<batchShift - 1
)

// idOf names a received message.
func idOf(id pulsar.MessageID) intake.MessageID {
	entry := id.EntryID()
	if id.BatchSize() > 1 {
		entry |= int64(id.BatchIdx()+1) << batchShift
	}
	return intake.MessageID{Partition: id.PartitionIdx(), Ledger: id.LedgerID(), Entry: entry}
}

func batched(id intake.MessageID) bool { return id.Entry > entryMask }

// rebuilt is the client's ID of a whole entry.
func rebuilt(id intake.MessageID) pulsar.MessageID {
	return pulsar.NewMessageID(id.Ledger, id.Entry&entryMask, -1, id.Partition)
}

// originals keeps the client's IDs of foreign messages. It holds at most one
// for each message delivered and not yet acked or nacked.
type originals struct {
	mu  sync.Mutex
	ids map[intake.MessageID]pulsar.MessageID
}

// keep remembers the ID of a message that rebuilt cannot name. Chunks are not
// visible from outside; every message that had to be chunked is over the limit.
func (o *originals) keep(id intake.MessageID, msg pulsar.Message) {
	if !batched(id) && len(msg.Payload()) <= refresh.MaxPayload {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ids == nil {
		o.ids = make(map[intake.MessageID]pulsar.MessageID)
	}
	o.ids[id] = msg.ID()
}

// take returns the client's ID and forgets it. It reports false for a batched
// message it does not know: its entry must not be acked, it comes again.
func (o *originals) take(id intake.MessageID) (pulsar.MessageID, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if original, ok := o.ids[id]; ok {
		delete(o.ids, id)
		return original, true
	}
	if batched(id) {
		return nil, false
	}
	return rebuilt(id), true
}

// clear forgets everything: the consumer is gone, the broker redelivers.
func (o *originals) clear() {
	o.mu.Lock()
	defer o.mu.Unlock()
	clear(o.ids)
}
