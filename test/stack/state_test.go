package stack

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestStateSurvivesTheProcessThatWroteIt(t *testing.T) {
	dir := t.TempDir()
	wrote := open(t, dir)
	redis, mongo := identity{PID: 11, Started: "boot/1"}, identity{PID: 12, Started: "boot/2"}
	for _, err := range []error{
		wrote.update(func(s *state) { s.Ports = testPorts }),
		wrote.setProcess(partRedis, redis),
		wrote.setProcess(partMongo, mongo),
		wrote.dropProcess(partMongo),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	read := open(t, dir)
	want := state{Ports: testPorts, Processes: map[string]identity{partRedis: redis}}
	if diff := cmp.Diff(want, read.now); diff != "" {
		t.Errorf("state (-want +got):\n%s", diff)
	}
}

func TestAFolderWithoutAStateIsAnEmptyStack(t *testing.T) {
	s := open(t, t.TempDir())
	if _, recorded := s.process(partRedis); recorded || s.ports() != (Ports{}) || s.anyRunning() {
		t.Errorf("state %+v, want nothing in it", s.now)
	}
}

func TestABrokenStateIsAnErrorThatNamesTheFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "stack.json")
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := openState(dir); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("error %v, want one that names %s", err, path)
	}
}

func open(t *testing.T, dir string) *stateFile {
	t.Helper()
	s, err := openState(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
