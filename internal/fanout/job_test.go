package fanout_test

import (
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/internal/fanout"
)

func TestLeft(t *testing.T) {
	tests := map[string]struct {
		job   fanout.Job
		rate  float64
		left  time.Duration
		known bool
	}{
		"not listed yet":      {fanout.Job{State: fanout.Pending, Total: 500}, 100, 0, false},
		"listed":              {fanout.Job{State: fanout.InProgress, Total: 500}, 100, 5 * time.Second, true},
		"on its way":          {fanout.Job{State: fanout.InProgress, Total: 500, Released: 450}, 100, 500 * time.Millisecond, true},
		"released, not ended": {fanout.Job{State: fanout.InProgress, Total: 500, Released: 500}, 100, 0, true},
		"at no rate":          {fanout.Job{State: fanout.InProgress, Total: 500}, 0, 0, false},
		"done":                {fanout.Job{State: fanout.Done, Total: 500, Released: 500}, 0, 0, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if left, known := test.job.Left(test.rate); left != test.left || known != test.known {
				t.Errorf("Left = %v, %v; want %v, %v", left, known, test.left, test.known)
			}
		})
	}
}
