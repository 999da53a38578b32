package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const dir = "../../charts/rollcall/files/dashboards"

func TestFilesAreWhatTheCodeSays(t *testing.T) {
	for name, d := range all() {
		want, err := d.marshal()
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s is not what the code says: run make dashboards\n%s", name, diff)
		}
	}
}

func TestNoFileIsLeftOver(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if _, ok := all()[filepath.Base(path)]; !ok {
			t.Errorf("nothing makes %s", path)
		}
	}
}

func TestPanelsBeginANewLineWhenThereIsNoRoom(t *testing.T) {
	d := dashboard{rows: []row{
		{"one", []panel{{width: 16, height: 4}, {width: 8, height: 6}, {width: 8, height: 2}}},
		{"two", []panel{{width: 24, height: 3}}},
	}}
	var got [][4]int
	for _, p := range d.panels() {
		at, _ := p["gridPos"].(object)
		got = append(got, [4]int{at["x"].(int), at["y"].(int), at["w"].(int), at["h"].(int)})
	}
	want := [][4]int{{0, 0, 24, 1}, {0, 1, 16, 4}, {16, 1, 8, 6}, {0, 7, 8, 2}, {0, 9, 24, 1}, {0, 10, 24, 3}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
