//go:build unix

package stack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sync/errgroup"
)

// Options say where a stack lives. The zero value is a stack on free ports in
// a temporary folder that is gone with this process.
type Options struct {
	// Dir is the folder of the stack's data, logs and state; made when it is
	// missing. Empty: a temporary folder, removed by Stop.
	Dir string
	// Ports of the servers. A zero port is the one the folder's stack had
	// before, if it can be had again, or else a free one.
	// ROLLCALL_STACK_*_PORT goes before both.
	Ports Ports
	// Detours are further ways to a broker of the stack's own, through proxies.
	Detours []Detour
	// Detached servers go on when this process ends; somebody has to stop
	// them through Open. Otherwise, on Linux, they die with it.
	Detached bool
	// Cache is the folder of the downloads. Empty: rollcall in the user's
	// cache folder.
	Cache string
	// Progress is told what happens to each part, from one goroutine at a
	// time. Nil: nobody is.
	Progress func(part, message string)
	// Getenv reads the environment. Nil: os.Getenv.
	Getenv func(string) string
}

// Stack is a set of servers: Pulsar, MongoDB (or its stand-in) and Redis.
type Stack struct {
	Addresses

	Pulsar *Part
	Mongo  *Part
	Redis  *Part

	dir       string
	temporary bool
	ports     Ports
	states    *stateFile
}

// Start opens the folder's stack and returns when all its servers answer. When
// one cannot be started, those that were are stopped; a temporary folder stays
// then, for its logs.
func Start(ctx context.Context, options Options) (*Stack, error) {
	s, err := Open(options)
	if err != nil {
		return nil, err
	}
	if err := s.startOrStop(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// startOrStop starts all parts, or none.
func (s *Stack) startOrStop(ctx context.Context) error {
	err := s.start(ctx)
	if err == nil {
		return nil
	}
	s.temporary = false // the logs are needed
	err = errors.Join(err, s.Stop(context.WithoutCancel(ctx)))
	return fmt.Errorf("%w\nlogs: %s", err, s.Logs())
}

// Open returns the folder's stack as it is, running or not.
func Open(options Options) (*Stack, error) {
	getenv := options.Getenv
	if getenv == nil {
		getenv = os.Getenv
	}
	given, err := external(getenv)
	if err != nil {
		return nil, err
	}
	s := &Stack{}
	if err := s.openFolder(options.Dir); err != nil {
		return nil, err
	}
	if s.ports, err = s.choosePorts(options.Ports, getenv); err != nil {
		return nil, err
	}
	s.Addresses = given.or(s.ports)
	if err := s.build(options, given); err != nil {
		return nil, err
	}
	return s, nil
}

// openFolder makes the folder and reads its state.
func (s *Stack) openFolder(dir string) (err error) {
	s.temporary = dir == ""
	if s.temporary {
		s.dir, err = os.MkdirTemp("", "rollcall-stack-*")
	} else {
		s.dir, err = filepath.Abs(dir)
	}
	if err == nil {
		err = os.MkdirAll(s.dir, 0o700)
	}
	if err != nil {
		return fmt.Errorf("make the stack's folder: %w", err)
	}
	s.states, err = openState(s.dir)
	return err
}

// choosePorts: the environment's, the caller's, those of the last start, free
// ones.
func (s *Stack) choosePorts(wanted Ports, getenv func(string) string) (Ports, error) {
	ports, err := wanted.override(getenv)
	if err != nil {
		return Ports{}, err
	}
	if last := s.states.ports(); s.states.anyRunning() || last.available() {
		ports = ports.or(last)
	}
	return ports.fill()
}

// build makes the three parts.
func (s *Stack) build(options Options, given Addresses) error {
	cache := options.Cache
	if cache == "" {
		var err error
		if cache, err = defaultCache(); err != nil {
			return err
		}
	}
	report := serial(options.Progress)
	life := diesWithParent
	if options.Detached {
		life = outlivesParent
	}
	build := servers{
		dir: s.dir, ports: s.ports, detours: options.Detours, addresses: s.Addresses, given: given,
		install: &installer{cache: cache, report: report},
		life:    life, states: s.states, report: report,
	}
	s.Pulsar, s.Mongo, s.Redis = build.pulsar(), build.mongo(), build.redis()
	return nil
}

// serial makes a progress function that may be called from several goroutines.
func serial(progress func(part, message string)) func(part, message string) {
	if progress == nil {
		return func(string, string) {}
	}
	var mu sync.Mutex
	return func(part, message string) {
		mu.Lock()
		defer mu.Unlock()
		progress(part, message)
	}
}

// start starts the parts side by side.
func (s *Stack) start(ctx context.Context) error {
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	if s.states.ports() != s.ports {
		err = s.moveTo(ctx, s.ports)
	}
	if err == nil {
		err = s.each(ctx, (*Part).Start)
	}
	return errors.Join(err, unlock())
}

// moveTo stops servers that listen on other ports and records the new ones.
// The broker's storage knows itself by its port, so on another port the broker
// starts empty.
func (s *Stack) moveTo(ctx context.Context, ports Ports) error {
	if err := s.each(ctx, (*Part).stopIfOwn); err != nil {
		return err
	}
	if s.states.ports().Bookie != ports.Bookie {
		if err := os.RemoveAll(filepath.Join(s.dir, partPulsar)); err != nil {
			return fmt.Errorf("empty the broker: %w", err)
		}
	}
	return s.states.update(func(now *state) { now.Ports = ports })
}

// Stop ends every server of the stack and returns when they are gone. Servers
// named by the environment go on. It is safe to call more than once.
func (s *Stack) Stop(ctx context.Context) error {
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	err = errors.Join(s.each(ctx, (*Part).stopIfOwn), unlock())
	if err == nil && s.temporary {
		err = os.RemoveAll(s.dir)
	}
	return err
}

// Parts returns the three parts.
func (s *Stack) Parts() []*Part { return []*Part{s.Pulsar, s.Mongo, s.Redis} }

// Dir returns the stack's folder.
func (s *Stack) Dir() string { return s.dir }

// Logs returns the folder with a log file per server.
func (s *Stack) Logs() string { return filepath.Join(s.dir, "logs") }

// lock keeps two processes from starting and stopping one folder's stack at
// the same time.
func (s *Stack) lock(ctx context.Context) (unlock func() error, err error) {
	return lock(ctx, filepath.Join(s.dir, "stack.lock"))
}

// each does the same to all parts at once. The first failure cancels the rest.
func (s *Stack) each(ctx context.Context, do func(*Part, context.Context) error) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, part := range s.Parts() {
		group.Go(func() error { return do(part, ctx) })
	}
	return group.Wait()
}

// stopIfOwn stops a server of the stack and leaves others alone.
func (p *Part) stopIfOwn(ctx context.Context) error {
	err := p.Stop(ctx)
	if errors.Is(err, ErrExternal) {
		return nil
	}
	return err
}
