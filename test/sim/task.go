package sim

import (
	"context"
	"iter"
	"time"
)

// task is a piece of product code that runs as a coroutine: between any two of
// its external steps everything else may happen.
type task struct {
	name    string
	process *process
	resume  func() (struct{}, bool)
	yield   func(struct{}) bool
	stalled time.Time
	dead    bool
	ended   bool
	worker  *worker // nil unless it is a refresher's
}

// start makes a task; it runs only when step picks it.
func (w *world) start(p *process, name string, body func(ctx context.Context)) *task {
	t := &task{name: name, process: p}
	t.resume, _ = iter.Pull(func(yield func(struct{}) bool) {
		t.yield = yield
		yield(struct{}{})
		body(lifeline{context.Background(), t})
	})
	t.resume() // to its first yield, so that a task is killed like any other
	w.tasks = append(w.tasks, t)
	return t
}

// startThreads is start for code that has goroutines of its own: whichever of
// them comes to a step waits there. Only one of them may come to one at a time.
func (w *world) startThreads(p *process, name string, body func(ctx context.Context)) *task {
	resume, parked := make(chan struct{}), make(chan bool)
	t := &task{name: name, process: p}
	t.resume = func() (struct{}, bool) {
		resume <- struct{}{}
		return struct{}{}, <-parked
	}
	t.yield = func(struct{}) bool {
		parked <- true
		<-resume
		return true
	}
	go func() {
		<-resume
		body(lifeline{context.Background(), t})
		parked <- false
	}()
	w.tasks = append(w.tasks, t)
	return t
}

// lifeline is a context that ends with its task's process.
type lifeline struct {
	context.Context
	task *task
}

// Err is context.Canceled once the process was killed.
func (l lifeline) Err() error {
	if l.task.dead {
		return context.Canceled
	}
	return nil
}

// step is the hook ahead of every operation on a model: the place where
// somebody else may run. Code of a killed process goes through without effect,
// since its context has ended.
func (w *world) step(op string) {
	t := w.current
	if t == nil || t.dead {
		return
	}
	w.note(t.name, "%s", op)
	t.yield(struct{}{})
}

func (w *world) run(t *task) {
	w.current = t
	_, more := t.resume()
	w.current = nil
	t.ended = !more
}

// kill ends a task where it stands, without any further effect.
func (w *world) kill(t *task) {
	t.dead = true
	for !t.ended {
		w.run(t)
	}
}

// runOne lets one of the tasks that can run go one step further, and reports
// whether there was one.
func (w *world) runOne() bool {
	now := w.clock.Now()
	able := w.able[:0]
	for _, t := range w.tasks {
		if !t.stalled.After(now) && !t.process.paused.After(now) {
			able = append(able, t)
		}
	}
	w.able = able
	if len(able) == 0 {
		return false
	}
	t := able[w.rnd.IntN(len(able))]
	if w.happens(w.profile.stall) {
		t.stalled = now.Add(w.pause())
		w.note(t.name, "stalls until %s", w.at(t.stalled))
		return true
	}
	w.run(t)
	w.reap()
	return true
}

// dawdle lets the current task stand still at its next step, now and then.
func (w *world) dawdle(p float64) {
	if w.current != nil && w.happens(p) {
		w.current.stalled = w.clock.Now().Add(w.pause())
		w.note(w.current.name, "stalls until %s", w.at(w.current.stalled))
	}
}

// pause is how long something stands still: a moment, or longer than an
// announced call lives.
func (w *world) pause() time.Duration {
	if w.rnd.Float64() < 0.5 {
		return w.upTo(2 * time.Second)
	}
	return w.upTo(2*w.profile.callTimeout + w.profile.margin)
}

// reap forgets the tasks that have ended.
func (w *world) reap() {
	kept := w.tasks[:0]
	for _, t := range w.tasks {
		if !t.ended {
			kept = append(kept, t)
		}
	}
	clear(w.tasks[len(kept):])
	w.tasks = kept
}

// process is something that can stall, and be killed, as a whole.
type process struct {
	name   string
	paused time.Time
}
