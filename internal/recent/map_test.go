package recent_test

import (
	"strconv"
	"sync"
	"testing"

	"github.com/rollcall-dev/rollcall/internal/recent"
)

func TestTheLastUsedAreKept(t *testing.T) {
	for puts := range 60 {
		m := recent.NewMap[int, string](10)
		for i := range puts {
			m.Put(i, strconv.Itoa(i))
		}
		for i := max(0, puts-10); i < puts; i++ {
			if got, ok := m.Get(i); !ok || got != strconv.Itoa(i) {
				t.Errorf("after %d entries, number %d is %q, %v", puts, i, got, ok)
			}
		}
	}
}

func TestReadingIsUsing(t *testing.T) {
	m := recent.NewMap[int, string](10)
	m.Put(0, "zero")
	for i := 1; i < 1000; i++ {
		m.Put(i, "other")
		if got, ok := m.Get(0); !ok || got != "zero" {
			t.Fatalf("after %d others the entry is %q, %v", i, got, ok)
		}
	}
}

func TestItsMemoryIsBounded(t *testing.T) {
	m := recent.NewMap[int, int](10)
	for i := range 1000 {
		m.Put(i, i)
	}
	kept := 0
	for i := range 1000 {
		if _, ok := m.Get(i); ok {
			kept++
		}
	}
	if kept != 10 || m.Len() != 10 {
		t.Errorf("%d of 1000 entries are kept, want 10", kept)
	}
}

func TestWhatWasNotUsedLongestIsForgotten(t *testing.T) {
	m := recent.NewMap[string, string](2)
	constant := func(value string) func() string { return func() string { return value } }
	m.GetOrPut("a", constant("1"))
	m.GetOrPut("b", constant("2"))
	m.Get("a")
	m.GetOrPut("c", constant("3")) // b was not asked for longest
	if _, ok := m.Get("b"); ok {
		t.Error("b is still there")
	}
	if got, ok := m.Get("a"); !ok || got != "1" {
		t.Error("a is gone")
	}
	if got := m.GetOrPut("a", constant("9")); got != "1" {
		t.Error("a was made anew")
	}
	m.Put("c", "3")
	m.Update("d", func(string, bool) string { return "4" })
	if _, ok := m.Get("a"); ok {
		t.Error("writing c was not using it")
	}
}

func TestADeletedEntryTakesNoRoom(t *testing.T) {
	m := recent.NewMap[string, int](2)
	m.Put("a", 1)
	m.Put("b", 2)
	m.Delete("b")
	m.Delete("none")
	m.Put("c", 3)
	if _, ok := m.Get("b"); ok {
		t.Error("b is still there")
	}
	if got, ok := m.Get("a"); !ok || got != 1 {
		t.Errorf("a is %d, %t: it gave way although there was room", got, ok)
	}
}

func TestAnEntryIsReplaced(t *testing.T) {
	m := recent.NewMap[string, int](2)
	m.Put("a", 1)
	m.Put("b", 1)
	m.Put("a", 2)
	add := func(n int, _ bool) int { return n + 1 }
	m.Update("a", add)
	m.Update("c", add)
	if a, _ := m.Get("a"); a != 3 {
		t.Errorf("a = %d, want 3", a)
	}
	if c, _ := m.Get("c"); c != 1 {
		t.Errorf("c = %d, want 1", c)
	}
}

func TestAllGetTheSame(t *testing.T) {
	m := recent.NewMap[string, *int](4)
	var wg sync.WaitGroup
	got := make([]*int, 64)
	for i := range got {
		wg.Go(func() { got[i] = m.GetOrPut("a", func() *int { return new(int) }) })
	}
	wg.Wait()
	for _, p := range got {
		if p != got[0] {
			t.Fatal("two made an entry of one key")
		}
	}
}
