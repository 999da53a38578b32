package fanout

import (
	"context"
	"log/slog"
	"maps"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Options of a Runner. All but Poll are required.
type Options struct {
	// Owner names this process in claims, for a person.
	Owner string
	// Lease is how long a claim holds without a renewal. A job whose process
	// died goes on that long after its last step. No batch is sent later than
	// Margin before its end.
	Lease  time.Duration
	Margin time.Duration
	// TenantRate is how many codes a second a tenant's fan-outs release in
	// this process, beyond Burst at once.
	TenantRate float64
	Burst      int
	// Batch is the most codes handed to the broker together.
	Batch int
	// Jobs is how many jobs are worked on at once, and TenantJobs how many of
	// one tenant.
	Jobs       int
	TenantJobs int
	// Poll is how often jobs are looked for that nobody works on; 0 is never:
	// only those that Kick names are worked on.
	Poll   time.Duration
	Now    func() time.Time
	Logger *slog.Logger
}

// Ports are what a Runner needs. All are required.
type Ports struct {
	Store    Store
	Codes    Codes
	Topic    Topic
	Observer Observer
}

// Runner works on fan-outs. Any number of them may run at once, in any number
// of processes: claims keep them apart, and what one leaves behind another one
// completes.
type Runner struct {
	Ports
	opts  Options
	kicks chan string

	mu     sync.Mutex
	paces  map[string]*pace
	active map[string]bool // jobs worked on here
	jobsOf map[string]int  // the same, by tenant
}

// pace is what a tenant's jobs share.
type pace struct {
	*rate.Limiter
	users int
}

// New returns a Runner.
func New(ports Ports, opts Options) *Runner {
	return &Runner{
		Ports: ports, opts: opts, kicks: make(chan string, kicksKept),
		paces: map[string]*pace{}, active: map[string]bool{}, jobsOf: map[string]int{},
	}
}

// kicksKept is how many kicks may wait. One that finds no room is no loss:
// somebody who polls finds its job.
const kicksKept = 1024

// Kick asks for a job to be worked on now. It never waits.
func (r *Runner) Kick(id string) {
	select {
	case r.kicks <- id:
	default:
	}
}

// Run works until ctx ends, and waits for what it has begun to stop.
func (r *Runner) Run(ctx context.Context) {
	var running sync.WaitGroup
	defer running.Wait()
	room := make(chan struct{}, r.opts.Jobs)
	tick, stop := r.ticks()
	defer stop()
	for {
		select {
		case <-ctx.Done():
			return
		case id := <-r.kicks:
			job, found, err := r.Store.Job(ctx, id)
			if err != nil || !found {
				continue // who polls finds it
			}
			r.start(ctx, &running, room, job)
		case <-tick:
			if err := r.poll(ctx, &running, room); err != nil && ctx.Err() == nil {
				r.opts.Logger.WarnContext(ctx, "fan-outs were not looked for; it is tried again", "error", err)
			}
		}
	}
}

func (r *Runner) ticks() (<-chan time.Time, func()) {
	if r.opts.Poll == 0 {
		return nil, func() {}
	}
	ticker := time.NewTicker(r.opts.Poll)
	return ticker.C, ticker.Stop
}

// poll starts jobs that nobody works on, as many as there is room for. It looks
// again without the tenants that have enough going on, so that one with many
// jobs does not keep others from being seen.
func (r *Runner) poll(ctx context.Context, running *sync.WaitGroup, room chan struct{}) error {
	tried := map[string]bool{} // one that ends at once is not begun again before the next poll
	for len(room) < cap(room) {
		open, err := r.Store.Open(ctx, r.opts.Now(), r.busy(), r.opts.Jobs)
		if err != nil {
			return err
		}
		started := 0
		for _, job := range open {
			if !tried[job.ID] && r.start(ctx, running, room, job) {
				tried[job.ID] = true
				started++
			}
		}
		if started == 0 || len(open) < r.opts.Jobs {
			return nil
		}
	}
	return nil
}

// start works on a job in a goroutine of its own, unless it is worked on here
// already or there is no room; then somebody finds it later.
func (r *Runner) start(ctx context.Context, running *sync.WaitGroup, room chan struct{}, job Job) bool {
	if !r.begin(job) {
		return false
	}
	select {
	case room <- struct{}{}:
	default:
		r.end(job)
		return false
	}
	running.Go(func() {
		again := r.work(ctx, job)
		r.end(job)
		<-room
		if again {
			r.Kick(job.ID)
		}
	})
	return true
}

func (r *Runner) begin(job Job) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.active[job.ID] || r.jobsOf[job.Tenant] >= r.opts.TenantJobs {
		return false
	}
	r.active[job.ID] = true
	r.jobsOf[job.Tenant]++
	return true
}

func (r *Runner) end(job Job) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.active, job.ID)
	if r.jobsOf[job.Tenant]--; r.jobsOf[job.Tenant] == 0 {
		delete(r.jobsOf, job.Tenant)
	}
}

// busy are the tenants that may have no more jobs worked on here.
func (r *Runner) busy() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var busy []string
	for tenant, jobs := range r.jobsOf {
		if jobs >= r.opts.TenantJobs {
			busy = append(busy, tenant)
		}
	}
	return busy
}

// work does one run of a job, tells how it ended, and reports whether the job
// should be looked at again.
func (r *Runner) work(ctx context.Context, job Job) (again bool) {
	run := &run{Runner: r, job: job}
	claimed, err := run.claim(ctx)
	if err == nil && !claimed {
		return false // somebody else has it
	}
	if err == nil {
		err = run.carryOut(ctx)
		run.release(ctx)
	}
	end := run.end(ctx, err)
	r.Observer.Ended(ctx, run.job, end)
	return end == Superseded
}

// lend returns the tenant's pace; give it back.
func (r *Runner) lend(tenant string) *pace {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.paces[tenant]
	if p == nil {
		p = &pace{Limiter: rate.NewLimiter(rate.Limit(r.opts.TenantRate), r.opts.Burst)}
		r.paces[tenant] = p
	}
	p.users++
	return p
}

// giveBack ends one use of a tenant's pace, and forgets the paces that nobody
// uses and that are as new ones would be: those of tenants whose last codes went
// a while ago.
func (r *Runner) giveBack(tenant string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.paces[tenant].users--
	now := r.opts.Now()
	maps.DeleteFunc(r.paces, func(_ string, p *pace) bool {
		return p.users == 0 && p.TokensAt(now) >= float64(r.opts.Burst)
	})
}
