package pulsarbus

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A heartbeat is acked and told of, and nobody receives it.
func TestAHeartbeatGoesNoFurtherThanTheSubscription(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		beat := message(1)
		beat.properties = map[string]string{propHeartbeat: "0"}
		beat.published = time.Now().Add(-40 * time.Millisecond)
		consumer := newConsumer(beat, message(2))
		s, _ := start(t, consumer)
		var ages []time.Duration
		s.o.OnHeartbeat = func(age time.Duration) { ages = append(ages, age) }
		if d := receive(t, s); d.ID != id(2) {
			t.Errorf("received %+v, want the event behind the heartbeat", d)
		}
		if err := s.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		acked, _, _, _ := consumer.state()
		if diff := cmp.Diff([]int64{1}, entries(acked)); diff != "" {
			t.Errorf("acked (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]time.Duration{40 * time.Millisecond}, ages); diff != "" {
			t.Errorf("ages (-want +got):\n%s", diff)
		}
	})
}
