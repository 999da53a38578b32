package stack

import (
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
)

func TestADownloadIsBuiltOnceHoweverManyAskForIt(t *testing.T) {
	const askers = 8
	in := testInstaller(t)
	lockFile := filepath.Join(in.cache, "thing-1.lock")
	unlock, err := lock(t.Context(), lockFile)
	if err != nil {
		t.Fatal(err)
	}

	var builds atomic.Int32
	var asking sync.WaitGroup
	for range askers {
		asking.Go(func() {
			dir, err := in.once(t.Context(), partMongo, "thing-1", func(dir string) error {
				builds.Add(1)
				return os.WriteFile(filepath.Join(dir, "jar"), nil, 0o600)
			})
			if err != nil || !exists(filepath.Join(dir, "jar")) {
				t.Errorf("once = %q, %v; want a folder with the jar", dir, err)
			}
		})
	}
	// All have seen that nothing is there, and wait.
	eventually(t, "everybody at the lock", func() bool { return descriptors(lockFile) == askers+1 })
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	asking.Wait()
	if builds.Load() != 1 {
		t.Errorf("built %d times, want once", builds.Load())
	}
}

// descriptors counts how often this process has the file open.
func descriptors(path string) (count int) {
	links, _ := filepath.Glob("/proc/self/fd/*")
	for _, link := range links {
		if target, err := os.Readlink(link); err == nil && target == path {
			count++
		}
	}
	return count
}
