package push_test

import (
	"context"
	"errors"
	"time"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// mutant takes one step out of the protocol by a port that lies about it.
type mutant struct {
	name string
	// seed is one that catches it: the search begins there, so that the test
	// takes no longer than it must. A change of the protocol may need others.
	seed  uint64
	build func(push.Ports) push.Ports
}

func noMutant(p push.Ports) push.Ports { return p }

var mutants = []mutant{
	{"the second read of the facts", 1334, func(p push.Ports) push.Ports {
		p.Store = &staleFacts{Store: p.Store}
		return p
	}},
	{"the commit's condition on the epoch", 53102, func(p push.Ports) push.Ports {
		p.Store = commitAny{p.Store}
		return p
	}},
	{"the begin's condition on the epoch", 262, func(p push.Ports) push.Ports {
		p.Store = beginAny{p.Store}
		return p
	}},
	{"the intent", 211, func(p push.Ports) push.Ports {
		p.Store = noIntent{p.Store}
		return p
	}},
	{"no dedupe while an intent is open", 0, func(p push.Ports) push.Ports {
		p.Store = dedupeOpen{p.Store}
		return p
	}},
	{"the intent of an unknown outcome", 1004, func(p push.Ports) push.Ports {
		p.Vendor = sureVendor{p.Vendor}
		return p
	}},
	{"intents that may still land", 2318, func(p push.Ports) push.Ports {
		p.Store = dropAll{p.Store}
		return p
	}},
	{"the call's deadline", 655, func(p push.Ports) push.Ports {
		p.Vendor = noDeadline{p.Vendor}
		return p
	}},
}

// staleFacts answers the second read with what the first one saw.
type staleFacts struct {
	push.Store
	facts roster.Facts
}

func (s *staleFacts) Load(ctx context.Context, ref push.Ref) (roster.Facts, push.Record, error) {
	facts, record, err := s.Store.Load(ctx, ref)
	s.facts = facts
	return facts, record, err
}

func (s *staleFacts) Facts(context.Context, push.Ref) (roster.Facts, error) { return s.facts, nil }

// commitAny commits whatever the record's epoch is.
type commitAny struct{ push.Store }

func (s commitAny) Commit(ctx context.Context, ref push.Ref, c push.Committed, settled []int64) (bool, error) {
	_, record, err := s.Load(ctx, ref)
	if err != nil {
		return false, err
	}
	c.Epoch = record.Epoch
	return s.Store.Commit(ctx, ref, c, settled)
}

// beginAny begins although somebody else has begun since the record was read.
type beginAny struct{ push.Store }

func (s beginAny) Begin(ctx context.Context, ref push.Ref, seen int64, i push.Intent) (bool, error) {
	_, record, err := s.Load(ctx, ref)
	if err != nil {
		return false, err
	}
	if record.Epoch == seen {
		return s.Store.Begin(ctx, ref, seen, i)
	}
	return true, nil // goes on with an epoch that another worker has
}

// noIntent raises the epoch and announces nothing.
type noIntent struct{ push.Store }

func (s noIntent) Begin(ctx context.Context, ref push.Ref, seen int64, i push.Intent) (bool, error) {
	ok, err := s.Store.Begin(ctx, ref, seen, i)
	if err != nil || !ok {
		return ok, err
	}
	return true, s.Drop(ctx, ref, i.Epoch)
}

// dedupeOpen hides open intents from the reader.
type dedupeOpen struct{ push.Store }

func (s dedupeOpen) Load(ctx context.Context, ref push.Ref) (roster.Facts, push.Record, error) {
	facts, record, err := s.Store.Load(ctx, ref)
	record.Intents = nil
	return facts, record, err
}

// dropAll settles every intent with a commit, also those whose call may still
// be on its way, and hides from the worker that there were any.
type dropAll struct{ push.Store }

func (s dropAll) Commit(ctx context.Context, ref push.Ref, c push.Committed, settled []int64) (bool, error) {
	for epoch := range c.Epoch {
		settled = append(settled, epoch)
	}
	return s.Store.Commit(ctx, ref, c, settled)
}

func (s dropAll) Load(ctx context.Context, ref push.Ref) (roster.Facts, push.Record, error) {
	facts, record, err := s.Store.Load(ctx, ref)
	for i := range record.Intents {
		record.Intents[i].Deadline = time.Time{}
	}
	return facts, record, err
}

// sureVendor claims to know that a call without an answer took no effect.
type sureVendor struct{ push.Vendor }

func (v sureVendor) Update(ctx context.Context, call push.Call) error {
	err := v.Vendor.Update(ctx, call)
	var failed *push.CallError
	if errors.As(err, &failed) {
		sure := *failed
		sure.Unknown = false
		return &sure
	}
	return err
}

// noDeadline sends however late it is.
type noDeadline struct{ push.Vendor }

func (v noDeadline) Update(ctx context.Context, call push.Call) error {
	call.Deadline = call.Deadline.Add(time.Hour)
	return v.Vendor.Update(ctx, call)
}

// setAny writes the set over any version.
type setAny struct{ push.Rotation }

func (r setAny) Replace(ctx context.Context, ref push.Ref, _ int64, set push.Set) (int64, bool, error) {
	for {
		seen, err := r.Version(ctx, ref)
		if err != nil {
			return 0, false, err
		}
		if version, ok, err := r.Rotation.Replace(ctx, ref, seen, set); ok || err != nil {
			return version, ok, err
		}
	}
}

// noSetCheck answers the last look at the version with what was written.
type noSetCheck struct {
	push.Rotation
	written int64
}

func (r *noSetCheck) Replace(ctx context.Context, ref push.Ref, seen int64, set push.Set) (int64, bool, error) {
	version, ok, err := r.Rotation.Replace(ctx, ref, seen, set)
	r.written = version
	return version, ok, err
}

func (r *noSetCheck) Version(ctx context.Context, ref push.Ref) (int64, error) {
	if r.written > 0 {
		version := r.written
		r.written = 0
		return version, nil
	}
	return r.Rotation.Version(ctx, ref)
}

// lateVersion reads the version only once the facts are read.
type lateVersion struct {
	push.Rotation
	late int64
}

func (r *lateVersion) Replace(ctx context.Context, ref push.Ref, _ int64, set push.Set) (int64, bool, error) {
	return r.Rotation.Replace(ctx, ref, r.late, set)
}

type lateStore struct {
	push.Store
	rotation *lateVersion
}

func (s lateStore) Load(ctx context.Context, ref push.Ref) (roster.Facts, push.Record, error) {
	facts, record, err := s.Store.Load(ctx, ref)
	if err != nil {
		return facts, record, err
	}
	s.rotation.late, err = s.rotation.Version(ctx, ref)
	return facts, record, err
}
