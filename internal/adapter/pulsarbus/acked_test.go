package pulsarbus

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestWhatASubscriptionHasAcked(t *testing.T) {
	c := cursorStats{MarkDeletePosition: "7:3", IndividuallyDeletedMessages: "[(7:5..7:6],(7:8..9:0]]"}
	all, err := c.acked()
	if err != nil {
		t.Fatal(err)
	}
	for p, want := range map[position]bool{
		{6, 99}: true, {7, 0}: true, {7, 3}: true, {7, 4}: false, {7, 5}: false, {7, 6}: true, {7, 7}: false, {7, 8}: false,
		{7, 9}: true, {8, 5}: true, {9, 0}: true, {9, 1}: false, {10, 0}: false,
	} {
		if got := all.has(p); got != want {
			t.Errorf("%v is acked: %v, want %v", p, got, want)
		}
	}
	if (acked{}).has(position{0, 0}) {
		t.Error("a subscription that is not there has acked something")
	}
	fresh, err := cursorStats{MarkDeletePosition: "7:-1", IndividuallyDeletedMessages: "[]"}.acked()
	if err != nil || fresh.has(position{7, 0}) {
		t.Errorf("a fresh subscription has acked %+v, %v", fresh, err)
	}
}

// What is not understood is an error: a letter that is wrongly taken for acked
// would never be seen again.
func TestAnswersThatAreNotUnderstood(t *testing.T) {
	for _, c := range []cursorStats{
		{"", "[]"},
		{"7", "[]"},
		{"7:x", "[]"},
		{"7:1", ""},
		{"7:1", "[(7:2..7:3]"},
		{"7:1", "[[7:2..7:3]]"},
		{"7:1", "[(7:2..7:3)]"},
		{"7:1", "[(7:2-7:3]]"},
		{"7:1", "[(7:2..7:3],]"},
		{"7:1", "[(7:2..]]"},
	} {
		if got, err := c.acked(); err == nil {
			t.Errorf("%+v is understood as %+v", c, got)
		}
	}
}

func TestATopicThatIsNotThereHasNoLetters(t *testing.T) {
	status := http.StatusNotFound
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
	}))
	defer server.Close()
	admin, err := NewAdmin(AdminOptions{URL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	if n, err := admin.DeadLetters(t.Context(), "letters", ""); n != 0 || err != nil {
		t.Errorf("DeadLetters = %d, %v", n, err)
	}
	if got, err := admin.acked(t.Context(), "letters", "op"); got.known || err != nil {
		t.Errorf("acked = %+v, %v", got, err)
	}
	status = http.StatusForbidden
	if _, err := admin.DeadLetters(t.Context(), "letters", ""); err == nil {
		t.Error("DeadLetters takes a refusal for none")
	}
	if _, err := admin.acked(t.Context(), "letters", "op"); err == nil {
		t.Error("acked takes a refusal for none")
	}
}

func TestIDsOfLetters(t *testing.T) {
	if partition, at, ok := parseID("12:3:1"); partition != 1 || at != (position{12, 3}) || !ok {
		t.Errorf("parseID = %d, %v, %v", partition, at, ok)
	}
	for _, id := range []string{"", "12", "12:3", "12:3:-1", "12:3:0:0", "12:-1:0", "a:3:0", "99999999999999999999:0:0"} {
		if _, _, ok := parseID(id); ok {
			t.Errorf("%q is the ID of a letter", id)
		}
	}
}
