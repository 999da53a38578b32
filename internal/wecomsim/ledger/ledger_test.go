package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var epoch = time.Unix(1_700_000_000, 0) // 20 s into a minute

func TestLogKeepsTheNewest(t *testing.T) {
	for name, tc := range map[string]struct {
		keep, appended int
		want           []uint64
		lost           int
	}{
		"lossless":        {0, 5, []uint64{1, 2, 3, 4, 5}, 0},
		"below the bound": {3, 2, []uint64{1, 2}, 0},
		"at the bound":    {3, 3, []uint64{1, 2, 3}, 0},
		"over the bound":  {3, 8, []uint64{6, 7, 8}, 5},
		"empty":           {3, 0, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			l := filled(tc.keep, tc.appended)
			if diff := cmp.Diff(tc.want, seqs(slices.Collect(l.All()))); diff != "" {
				t.Errorf("numbers (-want +got):\n%s", diff)
			}
			if kept, lost := l.Len(); kept != len(tc.want) || lost != tc.lost {
				t.Errorf("Len: %d kept, %d lost; want %d, %d", kept, lost, len(tc.want), tc.lost)
			}
		})
	}
}

func TestLogReadsOnFromANumber(t *testing.T) {
	l := filled(0, 3*chunk+7)
	if got := slices.Collect(l.After(3 * chunk)); len(got) != 7 || got[0].Seq != 3*chunk+1 {
		t.Errorf("After: %d items from %v", len(got), seqs(got))
	}
	if got := slices.Collect(l.All()); len(got) != 3*chunk+7 {
		t.Errorf("All over several chunks: %d items", len(got))
	}
}

func TestLogClearedWhileReadEnds(t *testing.T) {
	l := filled(0, 2*chunk)
	n := 0
	for range l.All() {
		if n++; n == 10 {
			l.Clear()
			l.Append(Entry{})
		}
	}
	if n != chunk {
		t.Errorf("%d items read, want the %d that were copied before", n, chunk)
	}
	if got := seqs(slices.Collect(l.All())); !cmp.Equal(got, []uint64{2*chunk + 1}) {
		t.Errorf("numbers after Clear: %v, want them to go on", got)
	}
}

func TestLogUnderConcurrencyNumbersEachOnce(t *testing.T) {
	l := NewLog[Entry](0)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 500 {
				l.Append(Entry{})
			}
		})
		wg.Go(func() {
			for e := range l.All() {
				_ = e
			}
		})
	}
	wg.Wait()
	got := seqs(slices.Collect(l.All()))
	for i, seq := range got {
		if seq != uint64(i+1) {
			t.Fatalf("item %d has number %d", i, seq)
		}
	}
	if len(got) != 2000 {
		t.Errorf("%d items, want 2000", len(got))
	}
}

func TestQuery(t *testing.T) {
	at := func(s int) time.Time { return epoch.Add(time.Duration(s) * time.Second) }
	l := NewLog[Entry](0)
	for _, e := range []Entry{
		{Received: at(0), Corp: "c1", IP: "i1", API: "update", ConfigID: "w1"},
		{Received: at(1), Corp: "c1", IP: "i2", API: "get", ConfigID: "w1", ErrCode: 41044},
		{Received: at(2), Corp: "c2", IP: "i1", API: "update", ConfigID: "w2", Fault: "timeout_after"},
		{Received: at(3), Corp: "c2", IP: "i1", API: "update", ConfigID: "w3", ErrCode: 45009},
	} {
		l.Append(e)
	}
	zero, gone := 0, 41044
	for name, tc := range map[string]struct {
		q    Query
		want []uint64
	}{
		"all":         {Query{}, []uint64{1, 2, 3, 4}},
		"corp":        {Query{Corp: "c2"}, []uint64{3, 4}},
		"ip":          {Query{IP: "i2"}, []uint64{2}},
		"api":         {Query{API: "update"}, []uint64{1, 3, 4}},
		"way":         {Query{ConfigID: "w1"}, []uint64{1, 2}},
		"fault":       {Query{Fault: "timeout_after"}, []uint64{3}},
		"errcode":     {Query{ErrCode: &gone}, []uint64{2}},
		"errcode 0":   {Query{ErrCode: &zero}, []uint64{1, 3}},
		"since":       {Query{Since: at(2)}, []uint64{3, 4}},
		"until":       {Query{Until: at(2)}, []uint64{1, 2}},
		"after":       {Query{After: 3}, []uint64{4}},
		"limit":       {Query{API: "update", Limit: 2}, []uint64{1, 3}},
		"all at once": {Query{Corp: "c2", IP: "i1", API: "update", Since: at(3), ErrCode: nil, Limit: 9}, []uint64{4}},
		"none":        {Query{Corp: "c9"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, seqs(slices.Collect(tc.q.Select(l.All())))); diff != "" {
				t.Errorf("selected (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSelectStopsWhenItsReaderDoes(t *testing.T) {
	for range (Query{}).Select(filled(0, 5).All()) {
		break
	}
}

func TestNDJSON(t *testing.T) {
	l := NewLog[Entry](0)
	l.Append(Entry{
		Received: epoch.UTC(), Applied: epoch.Add(time.Second).UTC(), Corp: "c", IP: "i", API: "update_contact_way",
		ConfigID: "w", Members: []string{"u1", "u2"}, Version: 2, HTTPStatus: 200,
	})
	l.Append(Entry{Received: epoch.UTC(), API: "gettoken", IP: "i", ErrCode: 40001, HTTPStatus: 200})
	var out bytes.Buffer
	if err := WriteNDJSON(&out, l.All()); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if strings.Contains(lines[1], "applied") || len(lines) != 2 {
		t.Errorf("a call without an effect says when it was applied: %s", lines[1])
	}
	var got []Entry
	for _, line := range lines {
		var e Entry
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		got = append(got, e)
	}
	if diff := cmp.Diff(slices.Collect(l.All()), got); diff != "" {
		t.Errorf("read back (-want +got):\n%s", diff)
	}
}

func TestNDJSONReportsABrokenWriter(t *testing.T) {
	if err := WriteNDJSON(brokenWriter{}, filled(0, 1).All()); !errors.Is(err, errBroken) {
		t.Errorf("error %v, want %v", err, errBroken)
	}
}

func TestPeaks(t *testing.T) {
	l := NewLog[Entry](0)
	call := func(corp, ip, api string, seconds ...float64) {
		for _, s := range seconds {
			l.Append(Entry{Corp: corp, IP: ip, API: api, Received: epoch.Add(time.Duration(s * float64(time.Second)))})
		}
	}
	call("c1", "i1", "update", 30, 39, 41, 50, 99, 101) // 40 s is the turn of the minute
	call("c2", "i1", "update", 0, 60, 120)              // exactly a window apart
	call("c1", "i1", "get", 7)
	call("", "i2", "gettoken", 1, 2)

	at := func(s float64) time.Time { return epoch.Add(time.Duration(s * float64(time.Second))) }
	want := []Peak{
		{Owner: "c1", API: "update", Calls: 6, Sliding: 4, SlidingFrom: at(30), Fixed: 3, FixedFrom: at(40)},
		{Owner: "c1", API: "get", Calls: 1, Sliding: 1, SlidingFrom: at(7), Fixed: 1, FixedFrom: at(-20)},
		{Owner: "c2", API: "update", Calls: 3, Sliding: 1, SlidingFrom: at(0), Fixed: 1, FixedFrom: at(-20)},
	}
	if diff := cmp.Diff(want, Peaks(l.All(), ByCorp, time.Minute)); diff != "" {
		t.Errorf("by corp (-want +got):\n%s", diff)
	}
	byIP := Peaks(l.All(), ByIP, time.Minute)
	if byIP[0].Owner != "i1" || byIP[0].Calls != 9 || byIP[0].Sliding != 5 || len(byIP) != 3 {
		t.Errorf("by IP: %+v", byIP)
	}
	if got := Peaks(l.All(), ByCorp, 0); got != nil {
		t.Errorf("peaks of windows without a length: %+v", got)
	}
}

// The checker against the definition: for each call, count the calls in the
// window that starts with it.
func TestPeaksAgreeWithThePlainDefinition(t *testing.T) {
	for seed := range uint64(100) {
		rng := rand.New(rand.NewPCG(seed, 2))
		length := time.Duration(1+rng.IntN(20)) * time.Second
		l := NewLog[Entry](0)
		for range 1 + rng.IntN(60) {
			l.Append(Entry{Corp: "c", API: "a", Received: epoch.Add(time.Duration(rng.IntN(120)) * 500 * time.Millisecond)})
		}
		all := slices.Collect(l.All())
		sliding, fixed := 0, 0
		for _, from := range all {
			n, m := 0, 0
			for _, e := range all {
				if !e.Received.Before(from.Received) && e.Received.Before(from.Received.Add(length)) {
					n++
				}
				if e.Received.UnixNano()/int64(length) == from.Received.UnixNano()/int64(length) {
					m++
				}
			}
			sliding, fixed = max(sliding, n), max(fixed, m)
		}
		got := Peaks(l.All(), ByCorp, length)[0]
		if got.Sliding != sliding || got.Fixed != fixed {
			t.Fatalf("seed %d, length %v: sliding %d fixed %d, want %d and %d", seed, length, got.Sliding, got.Fixed, sliding, fixed)
		}
	}
}

func TestByReceivedSortsAndKeepsTies(t *testing.T) {
	l := NewLog[Entry](0)
	for _, s := range []int{2, 1, 2, 0} {
		l.Append(Entry{Received: epoch.Add(time.Duration(s))})
	}
	if diff := cmp.Diff([]uint64{4, 2, 1, 3}, seqs(ByReceived(l.All()))); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

func BenchmarkAppend(b *testing.B) {
	l := NewLog[Entry](1 << 16)
	for b.Loop() {
		l.Append(Entry{Corp: "c", API: "update_contact_way"})
	}
}

var errBroken = errors.New("broken")

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }

func filled(keep, n int) *Log[Entry] {
	l := NewLog[Entry](keep)
	for range n {
		l.Append(Entry{})
	}
	return l
}

func seqs(entries []Entry) (out []uint64) {
	for _, e := range entries {
		out = append(out, e.Seq)
	}
	return out
}
