package letters_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/decision"
	"github.com/rollcall-dev/rollcall/internal/decision/decisiontest"
	"github.com/rollcall-dev/rollcall/internal/fanout/fanouttest"
	"github.com/rollcall-dev/rollcall/internal/letters"
	"github.com/rollcall-dev/rollcall/internal/letters/letterstest"
	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

var (
	now     = time.Date(2026, 3, 5, 0, 0, 0, 0, time.UTC)
	code    = push.Ref{Tenant: "acme", Code: "c-1"}
	errAway = errors.New("the broker is away")
	errJSON = errors.New("not JSON")
)

// world is a desk with all that is around it.
type world struct {
	letters.Desk
	box   *letterstest.Box
	topic *letterstest.Topic
	book  *decisiontest.Book
}

// newWorld reads "tenant/code" as an event, and nothing else.
func newWorld() *world {
	w := &world{box: letterstest.NewBox(), topic: &letterstest.Topic{}, book: decisiontest.NewBook()}
	w.Desk = letters.Desk{Box: w.box, Topic: w.topic, Book: w.book, By: "ann", Now: func() time.Time { return now }, Read: read}
	return w
}

func read(payload []byte) (letters.Event, error) {
	tenant, name, ok := strings.Cut(string(payload), "/")
	if !ok {
		return letters.Event{}, errJSON
	}
	return event(push.Ref{Tenant: tenant, Code: name}), nil
}

func event(ref push.Ref) letters.Event {
	return letters.Event{Ref: ref, Why: "edited", OccurredAt: now.Add(-time.Hour), Note: "n"}
}

func letter(edit ...func(*letters.Letter)) letters.Letter {
	l := letters.Letter{
		OriginalID: "7:9:3", Topic: letterstest.TopicName, Cause: reason.NoKey, Payload: []byte("acme/c-1"),
		Properties: map[string]string{"rollcall-cause": "no_key", "traceparent": "00-aa-bb-01", "tracestate": "x=y"},
	}
	for _, e := range edit {
		e(&l)
	}
	return l
}

func TestRepublish(t *testing.T) {
	tests := map[string]struct {
		edit func(*letters.Letter)
		want letters.Expect
		says string // "": it is published
	}{
		"without a key":             {edit: func(*letters.Letter) {}},
		"with another code's key":   {edit: func(l *letters.Letter) { l.Key, l.Cause = "c-2", reason.KeyMismatch }},
		"readable by a newer build": {edit: func(l *letters.Letter) { l.Key, l.Cause = "c-1", reason.WrongVersion }},
		"of the code expected":      {edit: func(*letters.Letter) {}, want: letters.Expect{Tenant: "acme", Code: "c-1"}},
		"of another code":           {edit: func(*letters.Letter) {}, want: letters.Expect{Code: "c-2"}, says: "of code c-1, not of c-2"},
		"of another tenant":         {edit: func(*letters.Letter) {}, want: letters.Expect{Tenant: "globex"}, says: "of tenant acme, not of globex"},
		"unreadable":                {edit: func(l *letters.Letter) { l.Payload = []byte("rubbish") }, says: "not JSON"},
		"truncated": {edit: func(l *letters.Letter) {
			l.Truncated, l.Payload = true, bytes.Repeat([]byte("acme/c-1"), 1<<13)
		}, says: "only the first 65536 bytes"},
		"of another topic": {edit: func(l *letters.Letter) { l.Topic = "persistent://a/b/c" }, says: `from "persistent://a/b/c"`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			other := w.box.Bury(letter())
			id := w.box.Bury(letter(tt.edit))
			got, err := w.Republish(t.Context(), id, tt.want, "fixed their producer")
			if tt.says != "" {
				if !errors.Is(err, letters.ErrUnreadable) || !strings.Contains(err.Error(), tt.says) {
					t.Errorf("Republish = %v, want %q", err, tt.says)
				}
				w.want(t, nil, nil, other, id)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want := event(code)
			want.Trace = map[string]string{"traceparent": "00-aa-bb-01", "tracestate": "x=y"}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("event (-want +got):\n%s", diff)
			}
			d := taken(decision.RepublishLetter, id, "fixed their producer")
			d.Detail = "cause " + letter(tt.edit).Cause.String() + ", message 7:9:3"
			w.want(t, []letters.Event{want}, []decision.Decision{d}, other)
		})
	}
}

func TestReplace(t *testing.T) {
	w := newWorld()
	id := w.box.Bury(letter(func(l *letters.Letter) { l.Payload, l.Truncated, l.Topic = []byte("rubbish"), true, "elsewhere" }))
	if _, err := w.Replace(t.Context(), id, code, "rubbish from the importer"); err != nil {
		t.Fatal(err)
	}
	want := letters.Event{Ref: code, Why: "rubbish from the importer", OccurredAt: now}
	w.want(t, []letters.Event{want}, []decision.Decision{taken(decision.ReplaceLetter, id, want.Why)})

	for name, tt := range map[string]struct {
		ref push.Ref
		why string
	}{
		"no code":       {push.Ref{Tenant: "acme"}, "why"},
		"no tenant":     {push.Ref{Code: "c-1"}, "why"},
		"a wrong name":  {push.Ref{Tenant: "acme", Code: "c 1"}, "why"},
		"no reason":     {code, " "},
		"a long reason": {code, strings.Repeat("x", 65)},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			id := w.box.Bury(letter())
			if _, err := w.Replace(t.Context(), id, tt.ref, tt.why); err == nil {
				t.Error("it is published")
			}
			w.want(t, nil, nil, id)
		})
	}
}

func TestDiscard(t *testing.T) {
	w := newWorld()
	id := w.box.Bury(letter())
	if err := w.Discard(t.Context(), id, " "); !errors.Is(err, letters.ErrNoReason) {
		t.Errorf("Discard without a reason = %v", err)
	}
	w.want(t, nil, nil, id)
	if err := w.Discard(t.Context(), id, "a test of theirs"); err != nil {
		t.Fatal(err)
	}
	w.want(t, nil, []decision.Decision{taken(decision.DiscardLetter, id, "a test of theirs")})
	rubbish := w.box.Bury(letter(func(l *letters.Letter) { l.Payload = nil }))
	if err := w.Discard(t.Context(), rubbish, "rubbish"); err != nil {
		t.Errorf("Discard of what cannot be read = %v", err)
	}
}

// What was dealt with is not dealt with again, and nothing is recorded of it.
func TestALetterIsDealtWithOnce(t *testing.T) {
	w := newWorld()
	id := w.box.Bury(letter())
	if _, err := w.Republish(t.Context(), id, letters.Expect{}, ""); err != nil {
		t.Fatal(err)
	}
	events, decisions := w.topic.Events(), w.decisions(t)
	_, again := w.Republish(t.Context(), id, letters.Expect{}, "")
	_, instead := w.Replace(t.Context(), id, code, "why")
	for _, err := range []error{again, instead, w.Discard(t.Context(), id, "why")} {
		if !errors.Is(err, letters.ErrSettled) {
			t.Errorf("%v; want that it is dealt with already", err)
		}
	}
	if err := w.Discard(t.Context(), "12:99:0", "why"); !errors.Is(err, letters.ErrUnknown) {
		t.Errorf("Discard of an unknown letter = %v", err)
	}
	w.want(t, events, decisions)
}

// Whatever fails, ahead of its effect or behind it, an event is published
// before its letter is settled, and an effect is in the book.
func TestRepublishCutOffAtAnyStep(t *testing.T) {
	var ops []string
	for step := 0; ; step++ {
		w := newWorld()
		id := w.box.Bury(letter())
		w.watch(t)
		process, ctx := fanouttest.NewProcess(t.Context(), fanouttest.At(step))
		_, err := w.Republish(ctx, id, letters.Expect{}, "")
		process.End()
		if (err != nil) != (process.CutOff() != "") {
			t.Errorf("cut off in %q, and Republish = %v", process.CutOff(), err)
		}
		if len(w.topic.Events()) > 0 && len(w.decisions(t)) == 0 {
			t.Errorf("cut off in %s: published, and no decision tells of it", process.CutOff())
		}
		if process.CutOff() == "" {
			break
		}
		ops = append(ops, process.CutOff())

		// The operator tries again.
		if _, err := w.Republish(t.Context(), id, letters.Expect{}, ""); err != nil && !errors.Is(err, letters.ErrSettled) {
			t.Errorf("cut off in %s, Republish again = %v", process.CutOff(), err)
		}
		if n := len(w.topic.Events()); n < 1 || n > 2 {
			t.Errorf("cut off in %s: published %d times", process.CutOff(), n)
		}
		if ids, _ := w.box.Waiting(t.Context()); len(ids) > 0 {
			t.Errorf("cut off in %s: %v wait still", process.CutOff(), ids)
		}
	}
	want := []string{
		letterstest.OpGet, letterstest.OpGet, decisiontest.OpBegin, decisiontest.OpBegin, letterstest.OpPublish, letterstest.OpPublish,
		letterstest.OpSettle, letterstest.OpSettle, decisiontest.OpEnd, decisiontest.OpEnd,
	}
	if diff := cmp.Diff(want, ops); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
}

// A broker that does not take the event leaves the letter, and the book says
// why; one that takes it and does not settle the letter, too.
func TestABrokerThatFails(t *testing.T) {
	for _, op := range []string{letterstest.OpPublish, letterstest.OpSettle} {
		w := newWorld()
		id := w.box.Bury(letter())
		fail := func(_ context.Context, at string) error {
			if at == op {
				return errAway
			}
			return nil
		}
		w.box.Before, w.topic.Before = fail, fail
		if _, err := w.Republish(t.Context(), id, letters.Expect{}, ""); !errors.Is(err, errAway) {
			t.Errorf("%s fails: Republish = %v", op, err)
		}
		d := w.decisions(t)[0]
		if d.State != decision.Failed || !strings.Contains(d.Failure, errAway.Error()) {
			t.Errorf("%s fails, and the book says %+v", op, d)
		}
		if ids, _ := w.box.Waiting(t.Context()); len(ids) != 1 {
			t.Errorf("%s fails: %v wait", op, ids)
		}
	}
}

// watch fails the test when a letter is settled before its event is published.
func (w *world) watch(t *testing.T) {
	w.box.Before = func(_ context.Context, op string) error {
		if op == letterstest.OpSettle && len(w.topic.Events()) == 0 {
			t.Error("settled before it is published")
		}
		return nil
	}
}

func (w *world) decisions(t *testing.T) []decision.Decision {
	t.Helper()
	all, err := w.book.List(t.Context(), 100)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// want compares what was published, what is in the book and what waits.
func (w *world) want(t *testing.T, events []letters.Event, decisions []decision.Decision, waiting ...string) {
	t.Helper()
	if diff := cmp.Diff(events, w.topic.Events()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	got := w.decisions(t)
	for i := range got {
		if i < len(decisions) && decisions[i].ID == "" {
			got[i].ID = ""
		}
	}
	if diff := cmp.Diff(decisions, got); diff != "" {
		t.Errorf("decisions (-want +got):\n%s", diff)
	}
	if ids, _ := w.box.Waiting(t.Context()); !slices.Equal(waiting, ids) {
		t.Errorf("%v wait, want %v", ids, waiting)
	}
}

// taken is a decision that took effect, about a letter of acme/c-1.
func taken(action decision.Action, id, why string) decision.Decision {
	return decision.Decision{
		At: now, By: "ann", Action: action, Subject: "dead letter " + id, Tenant: "acme", Code: "c-1", Reason: why,
		Detail: "cause no_key, message 7:9:3", State: decision.Done,
	}
}
