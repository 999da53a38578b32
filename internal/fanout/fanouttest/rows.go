package fanouttest

import (
	"context"
	"maps"
	"slices"

	"github.com/rollcall-dev/rollcall/internal/fanout"
)

type rowKey struct {
	job   string
	epoch int64
	seq   int
}

// storedRow is a row and the token of the claim that wrote it last.
type storedRow struct {
	fanout.Row
	token int64
}

func keyOf(job fanout.Job, seq int) rowKey { return rowKey{job.ID, job.Epoch, seq} }

// Clear removes rows of earlier epochs.
func (s *Store) Clear(ctx context.Context, job fanout.Job, before int64) error {
	return s.Do(ctx, OpClear, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		maps.DeleteFunc(s.rows, func(key rowKey, _ storedRow) bool { return key.job == job.ID && key.epoch < before })
	})
}

// AddRow writes a row, or writes over the one that an earlier claim has left.
func (s *Store) AddRow(ctx context.Context, job fanout.Job, row fanout.Row) (bool, error) {
	row.Codes = slices.Clone(row.Codes)
	added := false
	err := s.Do(ctx, OpAddRow, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		key := keyOf(job, row.Seq)
		if added = s.rows[key].token <= job.Claim.Token; added {
			s.rows[key] = storedRow{row, job.Claim.Token}
		}
	})
	return added && err == nil, err
}

// TakeRow begins a row, or goes on with one.
func (s *Store) TakeRow(ctx context.Context, job fanout.Job, seq int) (fanout.Row, bool, error) {
	var row storedRow
	taken := false
	err := s.Do(ctx, OpTakeRow, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		var known bool
		row, known = s.rows[keyOf(job, seq)]
		if taken = known && row.State != fanout.Done && row.token <= job.Claim.Token; taken {
			row.State, row.token = fanout.InProgress, job.Claim.Token
			s.rows[keyOf(job, seq)] = row
		}
	})
	if err != nil || !taken {
		return fanout.Row{}, false, err
	}
	row.Codes = slices.Clone(row.Codes)
	return row.Row, true, nil
}

// EndRow ends a row that the job's claim has begun.
func (s *Store) EndRow(ctx context.Context, job fanout.Job, seq int) error {
	return s.Do(ctx, OpEndRow, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		row, known := s.rows[keyOf(job, seq)]
		if known && row.State == fanout.InProgress && row.token == job.Claim.Token {
			row.State = fanout.Done
			s.rows[keyOf(job, seq)] = row
		}
	})
}

// Rows is how many rows there are, of all jobs and epochs.
func (s *Store) Rows() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.rows)
}
