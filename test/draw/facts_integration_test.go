//go:build integration

package draw_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-dev/rollcall/internal/adapter/mongostore"
	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/test/stack/stacktest"
)

// From facts in MongoDB to answers: nobody has pushed these codes yet, so each
// set is made by the first draw that misses it. Both members have a daily total
// of three, which the codes share.
func TestFromTheFactsToTheAnswer(t *testing.T) {
	db, err := mongostore.Open(mongostore.Options{URI: stacktest.MongoURI(t), Database: "draw_" + rand.Text(), Timeout: 20 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close(context.WithoutCancel(t.Context())) })
	seed(t, db.Facts())
	h := &house{T: t, truth: newTruth(nil)}
	h.open(db.Store())

	tests := []struct{ ask, want string }{
		{"POST /v1/draw/sequenced", "200 li.na lap 0"},
		{"POST /v1/draw/sequenced", "200 wang lap 0"},
		{"POST /v1/draw/sequenced", "200 li.na lap 1"},
		{"POST /v1/draw/quota", "200 li.na lap 0"},
		{"POST /v1/draw/quota", "200 wang lap 0"},
		{"POST /v1/draw/quota", "200 wang lap 1"},
		{"POST /v1/draw/quota", "409 nobody_free"},
		{"POST /v1/draw/sequenced", "409 nobody_free"},
		{"POST /v1/draw/native", "422 not_drawn"},
		{"POST /v1/draw/native", "422 not_drawn"},
		{"POST /v1/draw/deleted", "410 deleted"},
		{"POST /v1/draw/globex-code", "404 unknown_code"},
		{"POST /v1/draw/nothing", "404 unknown_code"},
		{"GET /v1/draw/globex-code", "404 unknown_code"},
		{"GET /v1/draw/quota", "200 wang wang li.na"},
		{"GET /v1/draw/sequenced", "200 li.na wang li.na"},
		{"GET /v1/draw/native", "200 "},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, h.ask(tt.ask)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.ask, diff)
		}
	}
	if got := h.refreshes.Load(); got != 2 { // the two sets; exhausted within the same second asks for nothing more
		t.Errorf("%d refreshes were asked for, want 2", got)
	}
}

func seed(t *testing.T, facts *mongostore.Facts) {
	t.Helper()
	code := func(id, tenant string, family roster.Family) roster.Code {
		return roster.Code{
			ID: id, Tenant: tenant, ConfigID: "cfg-" + id, Family: family,
			Members: []roster.Member{{Staff: "li.na", AddLimit: 1}, {Staff: "wang", AddLimit: 2}},
		}
	}
	quota, deleted := code("quota", "acme", roster.Quota), code("deleted", "acme", roster.Sequenced)
	quota.Switches.AddLimit, deleted.Deleted = true, true
	codes := []roster.Code{code("sequenced", "acme", roster.Sequenced), quota, code("native", "acme", roster.Native), deleted, code("globex-code", "globex", roster.Sequenced)}
	for _, tenant := range []string{"acme", "globex"} {
		if err := facts.PutTenant(t.Context(), roster.Tenant{ID: tenant, DailyTotal: 3}); err != nil {
			t.Fatal(err)
		}
		if err := facts.PutStaff(t.Context(), tenant, roster.Staff{ID: "li.na"}, roster.Staff{ID: "wang"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := facts.PutCodes(t.Context(), codes...); err != nil {
		t.Fatal(err)
	}
}

// ask returns the status of a request and what of its answer matters.
func (h *house) ask(line string) string {
	method, path, _ := strings.Cut(line, " ")
	req, err := http.NewRequestWithContext(h.Context(), method, h.server.URL+path, http.NoBody)
	if err != nil {
		h.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+bearer)
	resp, err := h.client.Do(req)
	if err != nil {
		h.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		h.Fatal(err)
	}
	var answer struct {
		drawn
		Draws []drawn `json:"draws"`
		Code  string  `json:"code"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		h.Fatalf("%s: %v", body, err)
	}
	status, _, _ := strings.Cut(resp.Status, " ")
	switch {
	case resp.StatusCode != http.StatusOK:
		return status + " " + answer.Code
	case method == http.MethodPost:
		return status + " " + answer.Staff + " lap " + string('0'+rune(answer.Lap))
	}
	var past []string
	for _, d := range answer.Draws {
		past = append(past, d.Staff)
	}
	return status + " " + strings.Join(past, " ")
}
