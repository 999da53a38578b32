package audit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

// look examines what is in a chunk for the first time. It returns how many it
// looked at.
func (w *Walker) look(ctx context.Context, v *visit, looks []Look) (int, error) {
	switch v.chunk.Stage {
	case OverCodes:
		return w.overCodes(ctx, v, looks)
	case OverRecords:
		return w.overRecords(ctx, v)
	case OverSets:
		return w.overSets(ctx, v)
	}
	return 0, fmt.Errorf("stage %q: want one of %v", v.chunk.Stage, stages)
}

// overCodes examines the codes of a chunk, those that were read with its claim
// or, of a chunk that was taken over, all that are there now.
func (w *Walker) overCodes(ctx context.Context, v *visit, looks []Look) (int, error) {
	if looks != nil || v.chunk.Last && v.chunk.From == v.chunk.To {
		return len(looks), w.examine(ctx, v, looks)
	}
	seen, after := 0, v.chunk.From
	for {
		page, err := w.Codes.Page(ctx, after, w.opts.ChunkSize)
		if err != nil {
			return seen, err
		}
		whole := len(page) < w.opts.ChunkSize
		if !v.chunk.Last {
			for i, look := range page {
				if look.Code > v.chunk.To {
					page, whole = page[:i], true
					break
				}
			}
		}
		if err := w.examine(ctx, v, page); err != nil {
			return seen, err
		}
		seen += len(page)
		if whole {
			return seen, nil
		}
		after = page[len(page)-1].Code
	}
}

// examine compares codes and keeps those with a difference for a second look.
func (w *Walker) examine(ctx context.Context, v *visit, looks []Look) error {
	if err := complement(ctx, w.Sets, w.Slots, looks); err != nil {
		return err
	}
	now := w.opts.Now()
	var missing []Finding
	for _, look := range looks {
		f := Compare(look, w.opts.Lanes, now)
		for _, staff := range f.Missing {
			missing = append(missing, Finding{Ref: f.Ref, Kind: reason.StaffMissing, Detail: "the code names " + staff + ", who is not there"})
		}
		if f.Lost() || f.Hopeless() {
			v.suspects[f.Ref] = suspect{same: f.same, looks: 1}
			continue
		}
		w.count(ctx, v, f)
		if w.Sampler != nil && f.Kind == "" {
			if err := w.renew(ctx, v); err != nil {
				return err
			}
			if err := w.Sampler.Sample(ctx, v.pass, look); err != nil {
				w.opts.Logger.WarnContext(ctx, "spot check failed", "code", look.Code, "tenant", look.Tenant, "error", err)
			}
		}
	}
	return w.note(ctx, missing)
}

func (w *Walker) note(ctx context.Context, findings []Finding) error {
	if len(findings) == 0 {
		return nil
	}
	if err := w.Findings.Note(ctx, findings...); err != nil {
		return fmt.Errorf("note %d findings: %w", len(findings), err)
	}
	return nil
}

func (w *Walker) count(ctx context.Context, v *visit, f Finding) {
	v.tally[TallyLooked]++
	switch {
	case f.Shadowed && f.Kind == "":
		v.tally[TallyShadowed]++
	case f.Agrees():
		v.tally[TallyAgrees]++
	case f.Waits != "":
		v.tally[TallyWaits]++
	default:
		v.tally[f.Kind.String()]++
	}
	w.Observer.Looked(ctx, f)
}

// complement reads what the codes' own store does not have.
func complement(ctx context.Context, sets Sets, slots Slots, looks []Look) error {
	refs := make([]push.Ref, len(looks))
	var rotating []push.Ref
	var places []int
	for i, look := range looks {
		refs[i] = look.Ref
		if look.Wrong == nil && look.Facts.Code.Family.Rotates() {
			rotating, places = append(rotating, look.Ref), append(places, i)
		}
	}
	if len(rotating) > 0 {
		standing, err := sets.Standing(ctx, rotating)
		if err != nil {
			return fmt.Errorf("read %d rotation sets: %w", len(rotating), err)
		}
		for i, at := range places {
			looks[at].Set = standing[i]
		}
	}
	if len(refs) == 0 {
		return nil
	}
	booked, err := slots.Booked(ctx, refs)
	if err != nil {
		return fmt.Errorf("read the slots of %d codes: %w", len(refs), err)
	}
	for i := range looks {
		looks[i].Booked = booked[i]
	}
	return nil
}

// lookAgain looks at a visit's suspects once more. Who shows the same difference
// has nobody to mend it.
func (w *Walker) lookAgain(ctx context.Context, v *visit) error {
	w.open = w.open[1:]
	refs := make([]push.Ref, 0, len(v.suspects))
	for ref := range v.suspects {
		refs = append(refs, ref)
	}
	if err := w.second(ctx, v, refs); err != nil {
		return abandoned(v, err)
	}
	return w.settle(ctx, v)
}

func (w *Walker) second(ctx context.Context, v *visit, refs []push.Ref) error {
	looks, err := w.Codes.Of(ctx, refs)
	if err != nil {
		return err
	}
	if err := complement(ctx, w.Sets, w.Slots, looks); err != nil {
		return err
	}
	now := w.opts.Now()
	var marks []push.Mark
	var hopeless []Finding
	for _, look := range looks {
		f := Compare(look, w.opts.Lanes, now)
		before := v.suspects[f.Ref]
		if (f.Lost() || f.Hopeless()) && f.same != before.same && before.looks < maxAgain {
			v.suspects[f.Ref] = suspect{same: f.same, looks: before.looks + 1}
			continue
		}
		delete(v.suspects, f.Ref)
		switch {
		case f.Hopeless() && !errors.Is(look.Wrong, push.ErrUnknownCode): // else it was removed meanwhile
			hopeless = append(hopeless, f)
		case f.Lost():
			marks = append(marks, push.Mark{Ref: f.Ref, Reason: f.Kind, Detail: f.Detail, Due: now})
			w.opts.Logger.WarnContext(ctx, "a code differs from its facts and no event is under way",
				"tenant", f.Tenant, "code", f.Code, "reason", f.Kind, "detail", f.Detail)
		}
		w.count(ctx, v, f)
	}
	if len(marks) > 0 {
		if err := w.Dirty.Mark(ctx, marks...); err != nil {
			return fmt.Errorf("mark %d codes: %w", len(marks), err)
		}
	}
	return w.note(ctx, hopeless)
}

// overRecords looks for records whose code is not there.
func (w *Walker) overRecords(ctx context.Context, v *visit) (int, error) {
	seen, after := 0, refOf(v.chunk.From)
	for {
		refs, err := w.Records.Recorded(ctx, after, w.opts.ChunkSize)
		if err != nil {
			return seen, err
		}
		whole := len(refs) < w.opts.ChunkSize
		for i, ref := range refs {
			if !v.chunk.Last && nameOf(ref) > v.chunk.To {
				refs, whole = refs[:i], true
				break
			}
		}
		if err := w.orphans(ctx, v, refs, reason.RecordOrphaned, "there is a record and no such code"); err != nil {
			return seen, err
		}
		seen += len(refs)
		if whole {
			return seen, nil
		}
		after = refs[len(refs)-1]
	}
}

// overSets looks for rotation sets whose code is not there.
func (w *Walker) overSets(ctx context.Context, v *visit) (int, error) {
	seen := 0
	batch := make([]push.Ref, 0, w.opts.ChunkSize)
	flush := func() error {
		if err := w.renew(ctx, v); err != nil {
			return err
		}
		err := w.orphans(ctx, v, batch, reason.SetOrphaned, "there is a rotation set and no such code")
		seen += len(batch)
		w.rest(ctx, len(batch))
		batch = batch[:0]
		return err
	}
	for ref, err := range w.Sets.All(ctx) {
		if err != nil {
			return seen, fmt.Errorf("list the rotation sets: %w", err)
		}
		if batch = append(batch, ref); len(batch) == w.opts.ChunkSize {
			if err := flush(); err != nil {
				return seen, err
			}
		}
	}
	return 0, flush() // the pace was kept on the way
}

// rest waits as long as so many looks take at the walker's rate, and beats.
func (w *Walker) rest(ctx context.Context, looks int) {
	if w.opts.Rate > 0 {
		w.opts.Beat()
		sleep(ctx, time.Duration(float64(looks)/w.opts.Rate*float64(time.Second)))
	}
}

// orphans notes those of some codes that are not there.
func (w *Walker) orphans(ctx context.Context, v *visit, refs []push.Ref, kind reason.Reason, detail string) error {
	if len(refs) == 0 {
		return nil
	}
	looks, err := w.Codes.Of(ctx, refs)
	if err != nil {
		return err
	}
	var found []Finding
	for _, look := range looks {
		if errors.Is(look.Wrong, push.ErrUnknownCode) || errors.Is(look.Wrong, push.ErrWrongTenant) {
			f := Finding{Ref: look.Ref}.differs(kind, detail)
			found = append(found, f)
			v.tally[kind.String()]++
			w.Observer.Looked(ctx, f)
		}
	}
	return w.note(ctx, found)
}
