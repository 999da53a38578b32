package fanouttest

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/rollcall-dev/rollcall/internal/fanout"
)

// Store is fanout.Store in memory. Like a real one it keeps milliseconds.
type Store struct {
	Hooks

	mu   sync.Mutex
	jobs map[string]fanout.Job
	rows map[rowKey]storedRow
}

var _ fanout.Store = (*Store)(nil)

// NewStore returns an empty store.
func NewStore() *Store {
	return &Store{jobs: map[string]fanout.Job{}, rows: map[rowKey]storedRow{}}
}

// Request begins a new epoch of a scope's job, unless its newest request had
// the same key.
func (s *Store) Request(ctx context.Context, request fanout.Request) (fanout.Ticket, error) {
	var ticket fanout.Ticket
	err := s.Do(ctx, OpRequest, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		id := request.Tenant + "/" + request.Staff
		job, known := s.jobs[id]
		if !known || request.Key == "" || job.Key != request.Key {
			job = fanout.Job{
				Ticket: fanout.Ticket{ID: id, Epoch: job.Epoch + 1}, Scope: request.Scope,
				Why: request.Why, Key: request.Key, State: fanout.Pending, Requested: stored(request.At),
				Claim: job.Claim,
			}
			s.jobs[id] = job
		}
		ticket = job.Ticket
	})
	if err != nil {
		return fanout.Ticket{}, err
	}
	return ticket, nil
}

// Open lists jobs that are not done and whose claim has ended.
func (s *Store) Open(ctx context.Context, now time.Time, without []string, limit int) ([]fanout.Job, error) {
	var open []fanout.Job
	err := s.Do(ctx, OpOpen, func() {
		open = s.some(func(job fanout.Job) bool {
			return job.State != fanout.Done && !job.Claim.Until.After(now) && !slices.Contains(without, job.Tenant)
		})
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(open, func(a, b fanout.Job) int {
		return cmp.Or(a.Requested.Compare(b.Requested), cmp.Compare(a.ID, b.ID))
	})
	return open[:min(limit, len(open))], nil
}

// some returns the jobs that are wanted, in no order.
func (s *Store) some(wanted func(fanout.Job) bool) []fanout.Job {
	s.mu.Lock()
	defer s.mu.Unlock()
	var some []fanout.Job
	for _, job := range s.jobs {
		if wanted(job) {
			some = append(some, job)
		}
	}
	return some
}

// Job returns a job.
func (s *Store) Job(ctx context.Context, id string) (fanout.Job, bool, error) {
	var job fanout.Job
	var known bool
	err := s.Do(ctx, OpJob, func() { job, known = s.Peek(id) })
	if err != nil {
		return fanout.Job{}, false, err
	}
	return job, known, nil
}

// Peek is Job without a hook.
func (s *Store) Peek(id string) (fanout.Job, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	job, known := s.jobs[id]
	return job, known
}

// Claim gives a job whose claim has ended to the claim's owner.
func (s *Store) Claim(ctx context.Context, seen fanout.Job, claim fanout.Claim, now time.Time) (bool, error) {
	return s.change(ctx, OpClaim, seen.ID, func(job *fanout.Job) bool {
		if job.Epoch != seen.Epoch || job.Claim.Token != claim.Token-1 || job.Claim.Until.After(now) {
			return false
		}
		claim.Until = stored(claim.Until)
		job.Claim = claim
		return true
	})
}

// Save writes a job's progress.
func (s *Store) Save(ctx context.Context, seen fanout.Job) (bool, error) {
	return s.change(ctx, OpSave, seen.ID, func(job *fanout.Job) bool {
		if job.Epoch != seen.Epoch || job.Claim.Token != seen.Claim.Token {
			return false
		}
		job.State, job.Rows, job.Total, job.Last = seen.State, seen.Rows, seen.Total, seen.Last
		job.Released, job.Started, job.Finished = seen.Released, stored(seen.Started), stored(seen.Finished)
		job.Claim.Until = stored(seen.Claim.Until)
		return true
	})
}

// Release ends a claim.
func (s *Store) Release(ctx context.Context, seen fanout.Job) error {
	_, err := s.change(ctx, OpRelease, seen.ID, func(job *fanout.Job) bool {
		if job.Claim.Token != seen.Claim.Token {
			return false
		}
		job.Claim.Until = time.Time{}
		return true
	})
	return err
}

func (s *Store) change(ctx context.Context, op, id string, edit func(*fanout.Job) bool) (bool, error) {
	changed := false
	err := s.Do(ctx, op, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		job, known := s.jobs[id]
		if changed = known && edit(&job); changed {
			s.jobs[id] = job
		}
	})
	return changed && err == nil, err
}

func stored(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Millisecond)
}
