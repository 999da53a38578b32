package httpapi

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/rollcall-dev/rollcall/internal/registry"
)

// Bounds of an import.
const (
	// MaxLine is the most bytes of one line.
	MaxLine = 256 << 10
	// maxChunkBytes bounds what is held of a body at a time.
	maxChunkBytes = 4 << 20
	// maxRefusals is how many refused lines are told apart; all are counted.
	maxRefusals = 100
	// chunkTime is how long a chunk may take to arrive and to be stored.
	chunkTime = time.Minute
	// maxImports is how many imports a process works on at once: each holds a
	// chunk, and the store has others to serve.
	maxImports = 8
)

// importBody says how far an import came. Every line up to LastLine is stored,
// or refused and counted: the import can go on with the line after it, or from
// the start.
type importBody struct {
	LastLine  int           `json:"last_line"`
	Stored    int           `json:"stored"`
	Unchanged int           `json:"unchanged"`
	Refused   int           `json:"refused"`
	Errors    []lineProblem `json:"errors"` // the first 100
	// InDirtySet is how many codes are stored whose event the broker did not
	// take; the keeper brings them back.
	InDirtySet int `json:"in_dirty_set"`
}

// lineProblem is what is wrong with one line.
type lineProblem struct {
	Line   int    `json:"line"`
	Code   code   `json:"code"`
	Detail string `json:"detail"`
	Field  string `json:"field,omitempty"`
	Value  string `json:"value,omitempty"`
	Want   string `json:"want,omitempty"`
}

type staffLine struct {
	Staff string `json:"staff"`
	staffFacts
}

type codeLine struct {
	Code       string       `json:"code"`
	ConfigID   string       `json:"config_id"`
	Family     string       `json:"family"`
	Members    []memberBody `json:"members"`
	Backups    []string     `json:"backups"`
	Switches   switchesBody `json:"switches"`
	OnEmpty    string       `json:"on_empty"`
	Remark     string       `json:"remark"`
	State      string       `json:"state"`
	SkipVerify bool         `json:"skip_verify"`
}

func (a *API) importStaff(ctx context.Context, r *request) (answer, error) {
	return runImport(ctx, a, r, importing[registry.StaffEdit]{
		parse: func(line []byte) (registry.StaffEdit, error) {
			in, err := decode[staffLine](line)
			if err != nil {
				return registry.StaffEdit{}, err
			}
			return in.edit(in.Staff)
		},
		id: func(e registry.StaffEdit) string { return e.Staff },
		store: func(chunk []registry.StaffEdit) (registry.Imported, error) {
			return a.o.Registry.ImportStaff(ctx, r.tenant(), chunk, "staff_imported")
		},
	})
}

func (a *API) importCodes(ctx context.Context, r *request) (answer, error) {
	return runImport(ctx, a, r, importing[registry.CodeEdit]{
		parse: func(line []byte) (registry.CodeEdit, error) {
			in, err := decode[codeLine](line)
			if err != nil {
				return registry.CodeEdit{}, err
			}
			edit := in.facts().edit(in.Code)
			if in.ConfigID != "" {
				edit.ConfigID = registry.To(in.ConfigID)
			}
			return edit, nil
		},
		id: func(e registry.CodeEdit) string { return e.Code },
		store: func(chunk []registry.CodeEdit) (registry.Imported, error) {
			return a.o.Registry.ImportCodes(ctx, r.tenant(), chunk, "code_imported")
		},
	})
}

func (l codeLine) facts() codeFacts {
	return codeFacts{
		Family: l.Family, Members: l.Members, Backups: l.Backups, Switches: l.Switches, OnEmpty: l.OnEmpty,
		Remark: l.Remark, State: l.State, SkipVerify: l.SkipVerify,
	}
}

// importing is how entries of one kind are imported.
type importing[E any] struct {
	parse func(line []byte) (E, error)
	id    func(E) string
	store func([]E) (registry.Imported, error)
}

// runImport reads and stores chunk by chunk until the body ends or something
// fails.
func runImport[E any](ctx context.Context, a *API, r *request, kind importing[E]) (answer, error) {
	if r.Header.Get(keyHeader) != "" {
		return answer{}, wrong(http.StatusBadRequest, codeMalformed, keyHeader, "", "no key: a repeated import is harmless")
	}
	if _, err := a.tenantOf(ctx, r); err != nil {
		return answer{}, err
	}
	select {
	case a.imports <- struct{}{}:
		defer func() { <-a.imports }()
	default:
		return answer{}, tooMany("as many imports are worked on as may be at once", 5*time.Second)
	}
	body := importBody{Errors: []lineProblem{}}
	lines := &lineReader{from: bufio.NewReaderSize(r.Body, 64<<10)}
	for {
		r.allow(a.o.Now().Add(chunkTime))
		part, readErr := readChunk(lines, kind, &body)
		if err := storeChunk(part, kind, &body); err != nil {
			return answer{}, a.stopped(a.problemOf(ctx, err), body)
		}
		switch {
		case errors.Is(readErr, io.EOF):
			return finished(body)
		case readErr != nil:
			return answer{}, a.stopped(bodyProblem(readErr), body)
		}
	}
}

// stopped is a problem in the middle of an import; what is stored stays.
func (a *API) stopped(p *problem, body importBody) *problem {
	if p.Code == codeUnavailable || p.Code == codeUnannounced {
		p = newProblem(http.StatusServiceUnavailable, codeImportStopped,
			"it failed for a reason on this side. Go on with the line after last_line, or from the start: both are safe")
		p.retryAfter = 5 * time.Second
	}
	p.Import = &body
	return p
}

func finished(body importBody) (answer, error) {
	if body.Refused == 0 {
		return answered(http.StatusOK, body)
	}
	p := newProblem(http.StatusUnprocessableEntity, codeLinesRefused, "some lines were refused; all others are stored")
	p.Import = &body
	return answer{}, p
}

// chunk is a part of an import, and the lines that its entries came from. No two
// entries have one ID.
type chunk[E any] struct {
	entries []E
	lines   []int
	last    int // the last line read
}

// readChunk reads entries until there is a chunk. It ends before an entry whose
// ID the chunk has already, so that of two the later one is stored last.
func readChunk[E any](from *lineReader, kind importing[E], body *importBody) (chunk[E], error) {
	part := chunk[E]{last: body.LastLine}
	have := map[string]bool{}
	size := 0
	for len(part.entries) < registry.MaxChunk && size < maxChunkBytes {
		line, number, err := from.next()
		if err != nil {
			return part, err
		}
		if len(line) == 0 {
			part.last = number
			continue
		}
		entry, err := kind.parse(line)
		if err != nil {
			body.refuse(number, err)
			part.last = number
			continue
		}
		if have[kind.id(entry)] {
			from.again()
			return part, nil
		}
		have[kind.id(entry)] = true
		part.entries, part.lines, part.last = append(part.entries, entry), append(part.lines, number), number
		size += len(line)
	}
	return part, nil
}

func storeChunk[E any](part chunk[E], kind importing[E], body *importBody) error {
	if len(part.entries) > 0 {
		in, err := kind.store(part.entries)
		if err != nil {
			return err
		}
		body.Stored += in.Stored
		body.Unchanged += in.Unchanged
		body.InDirtySet += in.InDirty
		for _, one := range in.Refused {
			body.refuse(part.lines[one.Entry], one.Err)
		}
	}
	body.LastLine = part.last
	return nil
}

// refuse counts a line that is not stored, and says why.
func (b *importBody) refuse(line int, err error) {
	b.Refused++
	if len(b.Errors) >= maxRefusals {
		return
	}
	p := refusalOf(err)
	b.Errors = append(b.Errors, lineProblem{line, p.Code, p.Detail, p.Field, p.Value, p.Want})
}
