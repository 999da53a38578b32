package stack

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// state is what a stack's folder says about its servers, so that another
// process can find and stop them. It holds no address: one from the
// environment may carry a password.
type state struct {
	Ports     Ports               `json:"ports"`
	Processes map[string]identity `json:"processes"` // by part
}

// stateFile keeps the state of one folder. It is written before a server is
// waited for: a crash in between leaves no unknown process.
type stateFile struct {
	path string

	mu  sync.Mutex
	now state
}

// openState reads the folder's state; a folder without one has an empty state.
func openState(dir string) (*stateFile, error) {
	f := &stateFile{path: filepath.Join(dir, "stack.json")}
	f.now.Processes = map[string]identity{}
	data, err := os.ReadFile(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the stack's state: %w", err)
	}
	if err := json.Unmarshal(data, &f.now); err != nil {
		return nil, fmt.Errorf("read the stack's state in %s: %w", f.path, err)
	}
	return f, nil
}

// ports returns the ports of the last start; zero when there was none.
func (f *stateFile) ports() Ports {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now.Ports
}

// process returns the recorded process of a part.
func (f *stateFile) process(part string) (identity, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	id, recorded := f.now.Processes[part]
	return id, recorded
}

// anyRunning reports whether a recorded process is alive.
func (f *stateFile) anyRunning() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, id := range f.now.Processes {
		if id.running() {
			return true
		}
	}
	return false
}

// update changes the state and writes it.
func (f *stateFile) update(change func(*state)) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(&f.now)
	data, err := json.MarshalIndent(f.now, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the stack's state: %w", err)
	}
	// A reader never sees half a file.
	if err := os.WriteFile(f.path+".new", data, 0o600); err != nil {
		return fmt.Errorf("write the stack's state: %w", err)
	}
	if err := os.Rename(f.path+".new", f.path); err != nil {
		return fmt.Errorf("write the stack's state: %w", err)
	}
	return nil
}

// setProcess records a part's process.
func (f *stateFile) setProcess(part string, id identity) error {
	return f.update(func(s *state) { s.Processes[part] = id })
}

// dropProcess forgets a part's process.
func (f *stateFile) dropProcess(part string) error {
	return f.update(func(s *state) { delete(s.Processes, part) })
}
