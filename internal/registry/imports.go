package registry

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/rollcall-dev/rollcall/internal/fanout"
	"github.com/rollcall-dev/rollcall/internal/push"
)

// MaxChunk is the most entries of one import call.
const MaxChunk = 500

const (
	// wholeTenantAbove is the number of changed staff members from which one
	// fan-out over the tenant is less work than one over the codes of each.
	wholeTenantAbove = 50
	// publishing is how many events of a chunk are with the broker at once.
	publishing = 16
)

// Imported says what became of a chunk.
type Imported struct {
	Stored    int // changed or made
	Unchanged int
	Refused   []Refusal
	InDirty   int // codes stored whose event the broker did not take
}

// Refusal is an entry that was not stored, and why.
type Refusal struct {
	Entry int // its index in the chunk
	Err   error
}

// ImportStaff is PutStaff of many, each named once. Those that are refused leave
// the others alone. After an error the whole chunk has to be repeated; that
// stores nothing twice and announces what was not.
func (r *Registry) ImportStaff(ctx context.Context, tenant string, edits []StaffEdit, why string) (Imported, error) {
	ids := make([]string, len(edits))
	for i, edit := range edits {
		ids[i] = edit.Staff
	}
	known, err := r.o.Facts.StaffOf(ctx, tenant, ids)
	if err != nil {
		return Imported{}, err
	}
	var in Imported
	var writes []StaffEdit
	for i, edit := range edits {
		before, there := known[edit.Staff]
		after := edit.Of(before.Staff)
		switch err := checkStaff(after); {
		case err != nil:
			in.Refused = append(in.Refused, Refusal{i, err})
		case there && before.Unannounced == "" && sameStaff(before.Staff, after):
			in.Unchanged++
		default:
			writes = append(writes, edit)
		}
	}
	in.Stored = len(writes)
	return in, r.storeStaff(ctx, tenant, writes, why)
}

func (r *Registry) storeStaff(ctx context.Context, tenant string, writes []StaffEdit, why string) error {
	if len(writes) == 0 {
		return nil
	}
	stamp := r.newStamp()
	if err := r.o.Facts.EditStaff(ctx, tenant, writes, stamp); err != nil {
		return err
	}
	ids := make([]string, len(writes))
	for i, edit := range writes {
		ids[i] = edit.Staff
	}
	return r.announceStaff(ctx, tenant, ids, why, stamp)
}

// announceStaff requests fan-outs for the staff members of one write.
func (r *Registry) announceStaff(ctx context.Context, tenant string, ids []string, why, stamp string) error {
	scopes := []string{""}
	if len(ids) <= wholeTenantAbove {
		scopes = ids
	}
	for _, staff := range scopes {
		if _, err := r.fanOut(ctx, fanout.Scope{Tenant: tenant, Staff: staff}, why, stamp); err != nil {
			return err
		}
	}
	// If this fails the next one announces once more than it needs to.
	_ = r.o.Facts.StaffAnnounced(ctx, tenant, ids, stamp)
	return nil
}

// ImportCodes is PutCode of many, each named once, whose contact ways are taken
// as the edits name them, unseen: a code that is new needs its config_id.
// Refusals and errors are as of ImportStaff.
func (r *Registry) ImportCodes(ctx context.Context, tenant string, edits []CodeEdit, why string) (Imported, error) {
	ids := make([]string, len(edits))
	for i, edit := range edits {
		ids[i] = edit.Code
	}
	known, err := r.o.Facts.CodesOf(ctx, tenant, ids)
	if err != nil {
		return Imported{}, err
	}
	sorted := sortCodes(edits, known)
	if len(sorted.writes) > 0 {
		taken, err := r.o.Facts.PutCodes(ctx, tenant, sorted.writes)
		if err != nil {
			return Imported{}, err
		}
		sorted.take(taken)
	}
	in := sorted.Imported
	in.Stored = len(sorted.writes)
	in.InDirty, err = r.announceCodes(ctx, tenant, sorted.announce, why)
	return in, err
}

// sortedCodes are the edits of a chunk by what is to become of them.
type sortedCodes struct {
	Imported
	writes   []CodeEdit
	entries  []int    // of the writes among the edits
	announce []string // IDs
}

// sortCodes tells what is refused, unchanged and to be written. A code that does
// not change is announced all the same: an import before this one may have died
// in between.
func sortCodes(edits []CodeEdit, known map[string]Code) *sortedCodes {
	s := &sortedCodes{}
	for i, edit := range edits {
		before, there := known[edit.Code]
		edit.Deleted = To(false)
		after := edit.Of(before.Code)
		if err := errors.Join(checkAdoption(before, edit), checkCode(after)); err != nil {
			s.Refused = append(s.Refused, Refusal{i, err})
			continue
		}
		s.announce = append(s.announce, edit.Code)
		if there && sameCode(before.Code, after) {
			s.Unchanged++
			continue
		}
		s.writes, s.entries = append(s.writes, edit), append(s.entries, i)
	}
	return s
}

// take moves writes that met another tenant's code to those refused.
func (s *sortedCodes) take(taken []string) {
	for _, id := range taken {
		at := slices.IndexFunc(s.writes, func(e CodeEdit) bool { return e.Code == id })
		s.Refused = append(s.Refused, Refusal{s.entries[at], ErrTaken})
		s.writes, s.entries = slices.Delete(s.writes, at, at+1), slices.Delete(s.entries, at, at+1)
		s.announce = slices.DeleteFunc(s.announce, func(one string) bool { return one == id })
	}
}

// checkAdoption refuses an entry whose code would have no contact way, or
// another than it has.
func checkAdoption(before Code, edit CodeEdit) error {
	adopt, _ := edit.ConfigID.Value()
	return checkWay(before, Way{Adopt: adopt})
}

// announceCodes publishes for the codes, some at a time, and returns for how
// many the dirty set had to be used.
func (r *Registry) announceCodes(ctx context.Context, tenant string, codes []string, why string) (int, error) {
	var (
		all    sync.WaitGroup
		mu     sync.Mutex
		dirty  int
		failed error
		next   = make(chan string)
	)
	for range min(publishing, len(codes)) {
		all.Go(func() {
			for code := range next {
				place, err := r.announceCode(ctx, push.Ref{Tenant: tenant, Code: code}, why)
				mu.Lock()
				if place == InDirtySet {
					dirty++
				}
				failed = errors.Join(failed, err)
				mu.Unlock()
			}
		})
	}
	for _, code := range codes {
		next <- code
	}
	close(next)
	all.Wait()
	return dirty, failed
}
