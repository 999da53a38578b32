//go:build integration

package e2e_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/roster"
	"github.com/rollcall-dev/rollcall/pkg/refresh"
)

// A topic that is lost with its subscription takes the events along that nobody
// had handled. The audit finds their codes, and the next refresher begins on a
// topic that is there again.
func TestALostTopicCostsAPassOfTheAudit(t *testing.T) {
	b := newBackup(t)
	stop := b.start("refresher", refresher)
	b.first()
	stop()
	for i := range untouched {
		b.presence(i, roster.OfflineNow) // nobody handles these
	}
	if b.h.backlog() == 0 {
		t.Fatal("no event waits: there is nothing to lose")
	}
	b.loseTopic()

	b.h.cfg.Spot.Share = 0
	b.start("refresher on the new topic", refresher)
	b.start("keeper", keeper)
	b.settled("the codes whose events were lost are right", func() bool { return b.alone(untouched) })
	b.h.wantNothingDirty()
}

// A refresher whose topic is deleted under it comes back by itself.
func TestARefresherOutlivesItsTopic(t *testing.T) {
	b := newBackup(t)
	b.start("refresher", refresher)
	b.first()
	b.loseTopic()
	eventually(t, 90*time.Second, "the refresher has subscribed again", func() bool { return b.h.backlog() == 0 })
	b.presence(0, roster.OfflineNow)
	eventually(t, 30*time.Second, "its next event is handled", func() bool { return b.alone(1) })
}

// alone reports whether each of the first codes lists ann and nobody else.
func (b *backup) alone(codes int) bool {
	return !slices.ContainsFunc(b.lists()[:codes], func(l []string) bool { return !slices.Equal(l, []string{"ann"}) })
}

// loseTopic deletes the topic with its subscriptions and makes a new one of the
// same name. The test's own producer does not live through it: the client's
// reconnecting producers are not free of data races (v0.19.0).
func (b *backup) loseTopic() {
	b.Helper()
	b.h.producer.Close()
	path := "/admin/v2/" + strings.Replace(b.h.cfg.Pulsar.Topic, "://", "/", 1) + "?force=true"
	request, err := http.NewRequestWithContext(b.Context(), http.MethodDelete, b.h.cfg.Pulsar.AdminURL+path, http.NoBody)
	b.h.must(err)
	answer, err := http.DefaultClient.Do(request)
	b.h.must(err)
	_ = answer.Body.Close()
	if answer.StatusCode/100 != 2 {
		b.Fatalf("the broker did not delete the topic: %s", answer.Status)
	}
	b.h.must(b.h.admin.EnsureTopic(b.Context(), b.h.cfg.Pulsar.Topic, 0))
	b.h.producer, err = refresh.New(b.h.client, refresh.Options{Topic: b.h.cfg.Pulsar.Topic})
	b.h.must(err)
	b.Cleanup(b.h.producer.Close)
}
