package audit

import (
	"maps"
	"slices"
	"time"
)

// Stage is a part of a pass.
type Stage string

// The stages, in their order.
const (
	OverCodes   Stage = "codes"   // codes against records and sets
	OverRecords Stage = "records" // records without a code
	OverSets    Stage = "sets"    // sets without a code
)

var stages = []Stage{OverCodes, OverRecords, OverSets}

// Pass is one walk over everything, as all walkers see it. It is changed by
// compare-and-set alone.
type Pass struct {
	Number  int64
	Version int64 // grows with every change
	Begun   time.Time
	Ended   time.Time // zero: it is under way
	Stage   Stage
	// Frontier is the last ID of the stage that was handed out; Exhausted says
	// that there is none behind it.
	Frontier  string
	Exhausted bool
	Chunks    []Chunk // handed out and not completed
	Serial    int64   // of the last chunk handed out
	Tally     Tally   // of the completed chunks
	// Last is what the pass before came to.
	Last Summary
}

// Summary is a pass that has ended.
type Summary struct {
	Number int64
	Begun  time.Time
	Ended  time.Time
	Tally  Tally
}

// Chunk is a part of a stage: what comes after From, up to and including To.
type Chunk struct {
	Serial int64 // another one each time that it is handed out
	Stage  Stage
	From   string
	To     string
	Last   bool // there was nothing behind To when it was handed out
	Owner  string
	Until  time.Time // when it may be handed out again
}

// Tally counts by what was found: "looked", "agrees", "shadowed", "waits", and
// the kind of each difference.
type Tally map[string]int64

// The words of a Tally that are no reasons.
const (
	TallyLooked   = "looked"
	TallyAgrees   = "agrees"
	TallyShadowed = "shadowed"
	TallyWaits    = "waits"
)

// Add adds another tally.
func (t Tally) Add(more Tally) Tally {
	sum := maps.Clone(t)
	if sum == nil {
		sum = Tally{}
	}
	for word, n := range more {
		sum[word] += n
	}
	return sum
}

// running reports whether the pass is under way.
func (p Pass) running() bool { return p.Number > 0 && p.Ended.IsZero() }

// next returns the pass after this one, if it may begin at now: every after the
// last one began.
func (p Pass) next(now time.Time, every time.Duration) (Pass, bool) {
	if p.running() || p.Number > 0 && now.Sub(p.Begun) < every {
		return p, false
	}
	return Pass{
		Number: p.Number + 1, Version: p.Version, Begun: now, Stage: stages[0], Serial: p.Serial, Last: p.Last,
	}, true
}

// abandoned returns a chunk whose owner is not heard of any more.
func (p Pass) abandoned(now time.Time) (Chunk, bool) {
	at := slices.IndexFunc(p.Chunks, func(c Chunk) bool { return !c.Until.After(now) })
	if at < 0 {
		return Chunk{}, false
	}
	return p.Chunks[at], true
}

// handOut adds a chunk that goes on from the frontier.
func (p Pass) handOut(to string, last bool, owner string, until time.Time) (Pass, Chunk) {
	p.Serial++
	chunk := Chunk{Serial: p.Serial, Stage: p.Stage, From: p.Frontier, To: to, Last: last, Owner: owner, Until: until}
	p.Chunks = append(slices.Clone(p.Chunks), chunk)
	p.Frontier, p.Exhausted = to, last
	return p, chunk
}

// takeOver gives an abandoned chunk to another owner.
func (p Pass) takeOver(chunk Chunk, owner string, until time.Time) (Pass, Chunk) {
	p.Serial++
	taken := chunk
	taken.Serial, taken.Owner, taken.Until = p.Serial, owner, until
	p.Chunks = slices.Clone(p.Chunks)
	for i, c := range p.Chunks {
		if c.Serial == chunk.Serial {
			p.Chunks[i] = taken
		}
	}
	return p, taken
}

// prolong moves the end of a chunk's claim. False: somebody else has it by now.
func (p Pass) prolong(chunk Chunk, until time.Time) (Pass, bool) {
	at := slices.IndexFunc(p.Chunks, func(c Chunk) bool { return c.Serial == chunk.Serial })
	if at < 0 {
		return p, false
	}
	p.Chunks = slices.Clone(p.Chunks)
	p.Chunks[at].Until = until
	return p, true
}

// complete takes a chunk out and adds what was found in it. False: somebody else
// has it by now, and his count counts.
func (p Pass) complete(chunk Chunk, found Tally, now time.Time) (Pass, bool) {
	at := slices.IndexFunc(p.Chunks, func(c Chunk) bool { return c.Serial == chunk.Serial })
	if at < 0 {
		return p, false
	}
	p.Chunks = slices.Delete(slices.Clone(p.Chunks), at, at+1)
	p.Tally = p.Tally.Add(found)
	return p.advance(now), true
}

// advance goes on to the next stage when nothing of this one is left, and ends
// the pass behind the last.
func (p Pass) advance(now time.Time) Pass {
	if !p.Exhausted || len(p.Chunks) > 0 {
		return p
	}
	at := slices.Index(stages, p.Stage)
	if at+1 < len(stages) {
		p.Stage, p.Frontier, p.Exhausted = stages[at+1], "", false
		return p
	}
	p.Ended = now
	p.Last = Summary{Number: p.Number, Begun: p.Begun, Ended: now, Tally: p.Tally}
	return p
}
