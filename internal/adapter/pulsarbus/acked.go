package pulsarbus

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/apache/pulsar-client-go/pulsar"
)

// position is the place of an entry in a plain topic.
type position struct{ ledger, entry int64 }

func positionOf(id pulsar.MessageID) position { return position{id.LedgerID(), id.EntryID()} }

func (p position) before(q position) bool {
	return cmp.Or(cmp.Compare(p.ledger, q.ledger), cmp.Compare(p.entry, q.entry)) < 0
}

// messageID is the client's ID of the entry, for a consumer or a reader of the
// plain topic alone.
func (p position) messageID() pulsar.MessageID { return pulsar.NewMessageID(p.ledger, p.entry, -1, 0) }

// acked is what a subscription has acked of a plain topic, as of one instant.
type acked struct {
	upTo   position // and everything before it
	beyond []span
	known  bool // false: there is no such subscription, or nothing was ever acked
}

// span is the entries after one and up to another.
type span struct{ after, upTo position }

// has reports whether an entry is acked. A message of a batch counts as acked
// when its whole entry is.
func (a acked) has(p position) bool {
	if !a.known {
		return false
	}
	if !a.upTo.before(p) {
		return true
	}
	for _, s := range a.beyond {
		if s.after.before(p) && !s.upTo.before(p) {
			return true
		}
	}
	return false
}

// acked asks for what a subscription has acked of a plain topic. A topic or a
// subscription that is not there has acked nothing.
func (a *Admin) acked(ctx context.Context, topic, subscription string) (acked, error) {
	name, err := topicPath(topic)
	if err != nil {
		return acked{}, err
	}
	var stats struct {
		Cursors map[string]cursorStats `json:"cursors"`
	}
	if err := a.call(ctx, http.MethodGet, name+"/internalStats", nil, &stats); err != nil {
		return acked{}, gone(err)
	}
	cursor, found := stats.Cursors[subscription]
	if !found {
		return acked{}, nil
	}
	return cursor.acked()
}

// cursorStats is what we read of a subscription's cursor.
type cursorStats struct {
	MarkDeletePosition          string `json:"markDeletePosition"`          // "ledger:entry": up to it everything is acked
	IndividuallyDeletedMessages string `json:"individuallyDeletedMessages"` // "[(7:0..7:1],(7:2..8:0]]": what is acked beyond it
}

func (c cursorStats) acked() (acked, error) {
	upTo, ok := parsePosition(c.MarkDeletePosition)
	if !ok {
		return acked{}, fmt.Errorf("pulsarbus: the broker's mark-delete position is %q", c.MarkDeletePosition)
	}
	all := acked{upTo: upTo, known: true}
	inner, opened := strings.CutPrefix(c.IndividuallyDeletedMessages, "[")
	inner, closed := strings.CutSuffix(inner, "]")
	if !opened || !closed {
		return acked{}, fmt.Errorf("pulsarbus: the broker's list of acked ranges is %q", shown(c.IndividuallyDeletedMessages))
	}
	if inner == "" {
		return all, nil
	}
	for text := range strings.SplitSeq(inner, ",") {
		s, ok := parseSpan(strings.TrimSpace(text))
		if !ok {
			return acked{}, fmt.Errorf("pulsarbus: %q is no range of acked entries", shown(text))
		}
		all.beyond = append(all.beyond, s)
	}
	return all, nil
}

// shown cuts what goes into an error.
func shown(text string) string { return text[:min(len(text), 100)] }

// parseSpan reads "(ledger:entry..ledger:entry]": open below, closed above. No
// other form is guessed at: a letter wrongly taken for acked would be lost to
// sight.
func parseSpan(text string) (span, bool) {
	text, opened := strings.CutPrefix(text, "(")
	text, closed := strings.CutSuffix(text, "]")
	below, above, parted := strings.Cut(text, "..")
	after, okAfter := parsePosition(below)
	upTo, okUpTo := parsePosition(above)
	return span{after, upTo}, opened && closed && parted && okAfter && okUpTo
}

// parsePosition reads "ledger:entry"; an entry of -1 is the place before the
// ledger's first.
func parsePosition(text string) (position, bool) {
	ledger, entry, ok := strings.Cut(text, ":")
	l, errLedger := strconv.ParseInt(ledger, 10, 64)
	e, errEntry := strconv.ParseInt(entry, 10, 64)
	return position{l, e}, ok && errLedger == nil && errEntry == nil
}
