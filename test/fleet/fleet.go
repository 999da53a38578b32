package fleet

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rollcall-dev/rollcall/test/stack"
)

// Fleet is the processes of Rollcall under test. Its methods may be called from
// several goroutines.
type Fleet struct {
	launcher Launcher
	env      []string
	logDir   string

	mu      sync.Mutex
	members []*Member
	gone    Figures // last figures of processes that ended
	started int
}

// Member is one process.
type Member struct {
	name     string
	role     string
	addr     string // of its health and metrics
	web      string // of callbacks and the API, of an ingress
	launcher Launcher
	cmd      *exec.Cmd
	log      *os.File
	done     chan struct{} // closed when the process is gone
	ended    error         // how it ended, once done is closed
	figures  Figures
}

// New returns a fleet without members. They will run the binary with env added
// to this process's environment, and write their logs to files in logDir.
func New(binary string, env []string, logDir string) *Fleet {
	return Launching(Program(binary), env, logDir)
}

// Launching returns a fleet whose members a launcher runs with env, and whose
// logs are files in logDir.
func Launching(l Launcher, env []string, logDir string) *Fleet {
	return &Fleet{launcher: l, env: env, logDir: logDir, gone: Figures{}}
}

// Name is the role and a number: "refresher-1".
func (m *Member) Name() string { return m.name }

// Role is what the member was started as: "refresher", "keeper", "ingress".
func (m *Member) Role() string { return m.role }

// URL is where an ingress serves callbacks and the API.
func (m *Member) URL() string { return "http://" + m.web }

// Ops is the host and port where a member serves its health and metrics.
func (m *Member) Ops() string { return m.addr }

// OpsURL is where the process serves health and metrics.
func (m *Member) OpsURL() string { return "http://" + m.addr }

// Done is closed when the process has ended.
func (m *Member) Done() <-chan struct{} { return m.done }

// PID is the number of the process.
func (m *Member) PID() int { return m.cmd.Process.Pid }

// Start runs a role ("refresher", "keeper", "ingress") with more environment of
// its own, and returns when it is ready.
func (f *Fleet) Start(ctx context.Context, role string, env ...string) (*Member, error) {
	return f.StartAs(ctx, f.launcher, role, env...)
}

// StartAs is Start with a launcher of the member's own, such as another version
// of the program.
func (f *Fleet) StartAs(ctx context.Context, l Launcher, role string, env ...string) (*Member, error) {
	ports, err := stack.FreePorts(2)
	if err != nil {
		return nil, err
	}
	addr, web := stack.Loopback(ports[0]), stack.Loopback(ports[1])
	f.mu.Lock()
	f.started++
	m := &Member{name: fmt.Sprintf("%s-%d", role, f.started), role: role, addr: addr, web: web, launcher: l, done: make(chan struct{})}
	f.mu.Unlock()
	if m.log, err = os.Create(filepath.Join(f.logDir, m.name+".log")); err != nil {
		return nil, fmt.Errorf("open the log of %s: %w", m.name, err)
	}
	settings := append(slices.Clone(f.env), "ROLLCALL_HTTP_ADDR="+addr, "ROLLCALL_INGRESS_ADDR="+web, "ROLLCALL_REFRESHER_INSTANCE="+m.name)
	if m.cmd, err = l.Command(m.name, role, append(settings, env...)); err != nil {
		return nil, fmt.Errorf("start %s: %w", m.name, errors.Join(err, m.log.Close()))
	}
	m.cmd.Stdout, m.cmd.Stderr = m.log, m.log
	if err := m.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", m.name, err)
	}
	go func() {
		m.ended = m.cmd.Wait()
		_ = m.log.Close()
		close(m.done)
	}()
	f.mu.Lock()
	f.members = append(f.members, m)
	f.mu.Unlock()
	return m, f.ready(ctx, m)
}

// ready waits until the process says that it could do its work.
func (f *Fleet) ready(ctx context.Context, m *Member) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		if status, err := get(ctx, m.OpsURL()+"/readyz", nil); err == nil && status == http.StatusOK {
			return nil
		}
		select {
		case <-m.done:
			return fmt.Errorf("%s ended before it was ready; see %s", m.name, m.log.Name())
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready after 30s; see %s", m.name, m.log.Name())
		case <-tick.C:
		}
	}
}

// Kill ends a process as a power cut would.
func (f *Fleet) Kill(m *Member) error {
	f.read(context.Background(), m)
	if err := m.launcher.Kill(m.name, m.cmd); err != nil {
		return fmt.Errorf("kill %s: %w", m.name, err)
	}
	<-m.done
	f.forget(m)
	return nil
}

// Replace kills the oldest member of a role and starts another.
func (f *Fleet) Replace(ctx context.Context, role string) error {
	for _, m := range f.Members() {
		if m.role == role {
			if err := f.Kill(m); err != nil {
				return err
			}
			_, err := f.Start(ctx, role)
			return err
		}
	}
	return fmt.Errorf("no %s to replace", role)
}

// Bury takes a process that ended by itself off the members.
func (f *Fleet) Bury(m *Member) {
	<-m.done
	f.forget(m)
}

// Retire takes a process off the members, as one that ends is taken off a
// service, asks it to drain, and waits. It is an error when the process does not
// end, or not in good order; one that has not ended when ctx does is killed.
func (f *Fleet) Retire(ctx context.Context, m *Member) error {
	f.read(ctx, m)
	f.mu.Lock()
	f.members = slices.DeleteFunc(f.members, func(other *Member) bool { return other == m })
	f.mu.Unlock()
	if err := m.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop %s: %w", m.name, err)
	}
	select {
	case <-m.done:
	case <-ctx.Done():
		return errors.Join(fmt.Errorf("%s did not drain in time; see %s", m.name, m.log.Name()), f.Kill(m))
	}
	f.forget(m)
	if m.ended != nil {
		return fmt.Errorf("%s did not end in good order; see %s: %w", m.name, m.log.Name(), m.ended)
	}
	return nil
}

func (f *Fleet) forget(m *Member) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.members = slices.DeleteFunc(f.members, func(other *Member) bool { return other == m })
	for name, value := range m.figures {
		if !strings.HasPrefix(name, "rollcall_backlog") {
			f.gone[name] += value
		}
	}
}

// Stop asks every process to drain and waits for all.
func (f *Fleet) Stop(ctx context.Context) error {
	var failed []error
	for _, m := range f.Members() {
		f.read(ctx, m)
		if err := m.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
			failed = append(failed, fmt.Errorf("stop %s: %w", m.name, err))
		}
	}
	for _, m := range f.Members() {
		select {
		case <-m.done:
		case <-ctx.Done():
			failed = append(failed, fmt.Errorf("%s did not drain in time", m.name), f.Kill(m))
			continue
		}
		f.forget(m)
	}
	return errors.Join(failed...)
}

// Members are the processes that have not ended, in the order of their start.
func (f *Fleet) Members() []*Member {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]*Member(nil), f.members...)
}

// Figures are metrics by their series, named as Prometheus names them, labels
// and all.
type Figures map[string]float64

// Figures sums the metrics of all processes, those that ended included.
func (f *Fleet) Figures(ctx context.Context) Figures {
	for _, m := range f.Members() {
		f.read(ctx, m)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	sum := Figures{}
	for name, value := range f.gone {
		sum[name] += value
	}
	for _, m := range f.members {
		for name, value := range m.figures {
			sum[name] += value
		}
	}
	return sum
}

// Of returns the metrics of one process; those it last told when it does not
// answer.
func (f *Fleet) Of(ctx context.Context, m *Member) Figures {
	f.read(ctx, m)
	f.mu.Lock()
	defer f.mu.Unlock()
	return m.figures // replaced by the next reading, never changed
}

// read takes in a process's metrics; one that does not answer keeps its last.
func (f *Fleet) read(ctx context.Context, m *Member) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	figures := Figures{}
	_, err := get(ctx, m.OpsURL()+"/metrics", func(line string) {
		at := strings.LastIndexByte(line, ' ')
		if at < 0 || !strings.HasPrefix(line, "rollcall_") {
			return
		}
		if value, err := strconv.ParseFloat(line[at+1:], 64); err == nil {
			figures[line[:at]] += value
		}
	})
	if err != nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	m.figures = figures
}

func get(ctx context.Context, url string, each func(line string)) (int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		if each != nil {
			each(lines.Text())
		}
	}
	return resp.StatusCode, lines.Err()
}

// Sum adds the series of a metric whose labels hold every one of the pairs,
// written label="value".
func (f Figures) Sum(metric string, pairs ...string) float64 {
	total := 0.0
series:
	for name, value := range f {
		if name != metric && !strings.HasPrefix(name, metric+"{") {
			continue
		}
		for _, pair := range pairs {
			if !strings.Contains(name, pair) {
				continue series
			}
		}
		total += value
	}
	return total
}
