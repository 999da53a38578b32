package audit

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/rollcall-dev/rollcall/internal/push"
)

// claim takes a chunk: an abandoned one first, else the next one, and begins a
// pass when it is time for one. A visit without a serial says that there is
// nothing to do. Of a chunk of codes it returns the codes as they were read.
func (w *Walker) claim(ctx context.Context, now time.Time) (visit, []Look, error) {
	for {
		v, looks, err := w.tryClaim(ctx, now)
		if !errors.Is(err, errLost) {
			return v, looks, err
		}
		if ctx.Err() != nil {
			return visit{}, nil, ctx.Err()
		}
	}
}

func (w *Walker) tryClaim(ctx context.Context, now time.Time) (visit, []Look, error) {
	pass, err := w.Passes.Get(ctx)
	if err != nil {
		return visit{}, nil, fmt.Errorf("audit: read the pass: %w", err)
	}
	until := w.claimedUntil(now)
	if chunk, left := pass.abandoned(now); left {
		after, taken := pass.takeOver(chunk, w.opts.Owner, until)
		return w.take(ctx, after, taken, nil)
	}
	if !pass.running() {
		var begins bool
		if pass, begins = pass.next(now, w.opts.Every); !begins {
			return visit{}, nil, nil
		}
	}
	if pass.Exhausted {
		return visit{}, nil, nil // the stage waits for its last chunks
	}
	looks, to, last, err := w.ahead(ctx, pass)
	if err != nil {
		return visit{}, nil, err
	}
	after, chunk := pass.handOut(to, last, w.opts.Owner, until)
	return w.take(ctx, after, chunk, looks)
}

// claimedUntil is how long a claim lasts: all looks that a code may get, and the
// patience for the work between them.
func (w *Walker) claimedUntil(now time.Time) time.Time {
	return now.Add(maxAgain*w.opts.Bound + w.opts.Patience)
}

// renew prolongs the claim of a visit that takes long in one go. errOvertaken
// says that somebody else has the chunk by now.
func (w *Walker) renew(ctx context.Context, v *visit) error {
	w.opts.Beat()
	now := w.opts.Now()
	if v.chunk.Until.Sub(now) > w.opts.Patience/2 {
		return nil
	}
	for {
		pass, err := w.Passes.Get(ctx)
		if err != nil {
			return fmt.Errorf("read the pass: %w", err)
		}
		after, ours := pass.prolong(v.chunk, w.claimedUntil(now))
		if !ours {
			return errOvertaken
		}
		done, err := w.Passes.Swap(ctx, after)
		if err != nil {
			return fmt.Errorf("prolong a claim: %w", err)
		}
		if done {
			v.chunk.Until = w.claimedUntil(now)
			return nil
		}
	}
}

func (w *Walker) take(ctx context.Context, after Pass, chunk Chunk, looks []Look) (visit, []Look, error) {
	done, err := w.Passes.Swap(ctx, after)
	if err != nil {
		return visit{}, nil, fmt.Errorf("audit: claim a chunk: %w", err)
	}
	if !done {
		return visit{}, nil, errLost
	}
	v := visit{pass: after.Number, chunk: chunk, tally: Tally{}, suspects: map[push.Ref]suspect{}}
	return v, looks, nil
}

// ahead reads how far the next chunk of the pass goes, and whether that is the
// end of its stage. All sets are one chunk: the store of sets has no order.
func (w *Walker) ahead(ctx context.Context, pass Pass) (looks []Look, to string, last bool, err error) {
	switch pass.Stage {
	case OverCodes:
		looks, err = w.Codes.Page(ctx, pass.Frontier, w.opts.ChunkSize)
		to, last = pass.Frontier, len(looks) < w.opts.ChunkSize
		if len(looks) > 0 {
			to = looks[len(looks)-1].Code
		}
	case OverRecords:
		var refs []push.Ref
		refs, err = w.Records.Recorded(ctx, refOf(pass.Frontier), w.opts.ChunkSize)
		to, last = pass.Frontier, len(refs) < w.opts.ChunkSize
		if len(refs) > 0 {
			to = nameOf(refs[len(refs)-1])
		}
	default:
		last = true
	}
	if err != nil {
		err = fmt.Errorf("audit: read on after %q (%s): %w", pass.Frontier, pass.Stage, err)
	}
	return looks, to, last, err
}

// nameOf writes a code as a place in the order of records; refOf reads it.
func nameOf(ref push.Ref) string {
	if ref == (push.Ref{}) {
		return ""
	}
	return ref.Tenant + "/" + ref.Code
}

func refOf(name string) push.Ref {
	tenant, code, _ := strings.Cut(name, "/")
	return push.Ref{Tenant: tenant, Code: code}
}
