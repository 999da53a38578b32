//go:build integration

package faults

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/test/history"
)

// result is one line of a table.
type result struct {
	row       string
	length    time.Duration // of the fault; a crash has none
	converged time.Duration // from the fault's end; meaningless when late says why not
	late      string        // what differed at the limit; "" is nothing
	during    int           // pushes that WeCom took during the fault
	pushes    int
	extra     int
	stale     []string
	throttled int // answers of 45009
}

func (r result) good() bool { return r.late == "" && len(r.stale) == 0 && r.throttled == 0 }

// settle waits until every code agrees with its facts and nothing is left to
// do, counted from since, and judges all pushes.
func (h *house) settle(row string, since time.Time) result {
	h.Helper()
	out := result{row: row}
	if !until(h.Context(), time.Until(since.Add(limit)), func() bool { out.late = h.differs(); return out.late == "" }) {
		h.Errorf("%s: not settled within %v: %s\nthe broker: %s", row, limit, out.late, h.brokerView())
	}
	out.converged = time.Since(since)
	j := h.judgeAll()
	out.pushes, out.extra, out.stale = j.Pushes-h.before.Pushes, j.Extra-h.before.Extra, j.Stale
	for _, story := range out.stale {
		h.Errorf("%s: a stale push:%s", row, story)
	}
	if out.throttled = int(h.sim.Counters().Of("update_contact_way", 45009)); out.throttled > 0 {
		h.Errorf("%s: %d answers of 45009 by our own pace", row, out.throttled)
	}
	return out
}

func (h *house) judgeAll() history.Judgement {
	var sum history.Judgement
	for _, c := range h.codes {
		j := c.Judge(time.Time{})
		sum.Pushes += j.Pushes
		sum.Extra += j.Extra
		sum.Stale = append(sum.Stale, j.Stale...)
	}
	return sum
}

// baseline brings every code to its first list; its pushes do not count.
func (h *house) baseline() {
	h.Helper()
	h.each(h.codes, h.announce)
	late := ""
	if !until(h.Context(), time.Minute, func() bool { late = h.differs(); return late == "" }) {
		h.Fatalf("the first lists are not at WeCom: %s", late)
	}
	h.before = h.judgeAll()
}

// differs says what is left to do; "" is nothing. What is cheap to ask comes
// first.
func (h *house) differs() string {
	for _, c := range h.codes {
		if !h.holdsNewest(c) {
			way, _ := h.sim.Way("corp-"+c.Tenant, c.configID())
			return fmt.Sprintf("WeCom holds %v for %s, the facts ask for %v", way.Users, c.Code, c.list())
		}
	}
	ctx, cancel := context.WithTimeout(h.Context(), 5*time.Second)
	defer cancel()
	stats, err := h.admin.Stats(ctx, h.topic, "rollcall")
	if err != nil {
		return "the broker does not tell its backlog: " + err.Error()
	}
	if stats.Backlog != 0 {
		return fmt.Sprintf("%d events are not acked", stats.Backlog)
	}
	entries, err := h.db.Dirty().List(ctx, push.Ref{}, 100)
	if err != nil || len(entries) > 0 {
		return fmt.Sprintf("%d codes are dirty, %v: %+v", len(entries), err, entries)
	}
	for _, c := range h.codes {
		if why := h.recordDiffers(ctx, c); why != "" {
			return c.Code + ": " + why
		}
	}
	return ""
}

// brokerView is what the broker tells of the topic: who has what, and which
// hashes wait for an old owner.
func (h *house) brokerView() string {
	request, err := http.NewRequestWithContext(h.Context(), http.MethodGet, h.topicURL()+"/stats?getPreciseBacklog=true", http.NoBody)
	if err != nil {
		return err.Error()
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err.Error()
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// topicURL is the topic's place in the broker's admin API.
func (h *house) topicURL() string {
	return ground.PulsarAdminURL + "/admin/v2/" + strings.Replace(h.topic, "://", "/", 1)
}

// recordDiffers compares a code's record and rotation set with its facts.
func (h *house) recordDiffers(ctx context.Context, c *code) string {
	facts, record, err := h.db.Store().Load(ctx, c.Ref)
	if err != nil {
		return err.Error()
	}
	verdict, err := roster.Decide(facts, record.Last(), roster.LaneRules{}, time.Now())
	if err != nil {
		return err.Error()
	}
	if want := c.list(); !slices.Equal(verdict.Members, want) {
		return fmt.Sprintf("the store's facts ask for %v, the test's for %v", verdict.Members, want)
	}
	if !slices.Equal(record.Committed.Members, verdict.Members) {
		return fmt.Sprintf("the record says %v, the facts ask for %v", record.Committed.Members, verdict.Members)
	}
	if n := len(record.Intents); n > 0 {
		return fmt.Sprintf("%d intents are open, the last until %s", n, record.Intents[n-1].Deadline.Format("15:04:05.000"))
	}
	if !facts.Code.Family.Rotates() {
		return ""
	}
	seats, err := h.rotation.Seats(ctx, c.Ref)
	if err != nil {
		return err.Error()
	}
	var want []string
	for _, seat := range verdict.Rotation {
		want = append(want, seat.Staff)
	}
	if !slices.Equal(seats, want) {
		return fmt.Sprintf("the rotation set is %v, the facts ask for %v", seats, want)
	}
	return ""
}
