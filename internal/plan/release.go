package plan

import (
	"slices"
	"time"
)

// fanOut is a change of a person on its way to his codes.
type fanOut struct {
	person int32
	codes  []int32
	next   int
}

// releaser is one process that works on fan-outs.
type releaser struct {
	pace bucket
	jobs []*fanOut
	turn int
}

// step releases what the pace allows, one code of each job in turn.
func (r *releaser) step(d time.Duration, arrive func(code int32)) {
	r.pace.fill(d)
	for len(r.jobs) > 0 && r.pace.has() {
		r.turn %= len(r.jobs)
		job := r.jobs[r.turn]
		if job.next < len(job.codes) {
			r.pace.tokens--
			arrive(job.codes[job.next])
			job.next++
		}
		if job.next == len(job.codes) {
			r.jobs = slices.Delete(r.jobs, r.turn, r.turn+1)
		} else {
			r.turn++
		}
	}
}

func (r *releaser) working(person int32) *fanOut {
	for _, job := range r.jobs {
		if job.person == person {
			return job
		}
	}
	return nil
}

// release is everybody who gives codes to the refreshers.
type release struct {
	Releasing
	ingresses []releaser
	keeper    releaser
	untaken   []*fanOut // nobody works on them yet
	asked     int       // requests so far: they go to the ingresses in turn
	pollAt    time.Duration
	due       []int32 // what the keeper has to release because time changed it
	duePace   bucket
}

func newRelease(how Releasing, rate float64) *release {
	r := &release{Releasing: how, ingresses: make([]releaser, how.Ingresses)}
	for i := range r.ingresses {
		r.ingresses[i].pace = full(rate, float64(how.Burst))
	}
	r.keeper.pace = full(rate, float64(how.Burst))
	r.duePace = full(rate, max(1, rate*how.Saved.Seconds()))
	return r
}

// request begins a fan-out, or begins it anew when it is under way.
func (r *release) request(person int32, codes []int32) {
	for i := range r.ingresses {
		if job := r.ingresses[i].working(person); job != nil {
			job.next = 0
			return
		}
	}
	if job := r.keeper.working(person); job != nil {
		job.next = 0
		return
	}
	// One that nobody works on is as good as a new one: the latest.
	r.untaken = slices.DeleteFunc(r.untaken, func(job *fanOut) bool { return job.person == person })
	at := &r.ingresses[r.asked%len(r.ingresses)]
	r.asked++
	job := &fanOut{person: person, codes: codes}
	if len(at.jobs) < r.Jobs {
		at.jobs = append(at.jobs, job)
		return
	}
	r.untaken = append(r.untaken, job)
}

// behind reports that there is something left to release.
func (r *release) behind() bool {
	if len(r.untaken) > 0 || len(r.keeper.jobs) > 0 || len(r.due) > 0 {
		return true
	}
	return slices.ContainsFunc(r.ingresses, func(one releaser) bool { return len(one.jobs) > 0 })
}

// step lets all of them release.
func (r *release) step(now, d time.Duration, arrive, dueArrives func(code int32)) {
	if now >= r.pollAt {
		r.pollAt = now + r.Poll
		for len(r.untaken) > 0 && len(r.keeper.jobs) < r.Jobs {
			r.keeper.jobs = append(r.keeper.jobs, r.untaken[0])
			r.untaken = r.untaken[1:]
		}
	}
	for i := range r.ingresses {
		r.ingresses[i].step(d, arrive)
	}
	r.keeper.step(d, arrive)
	r.duePace.fill(d)
	for len(r.due) > 0 && r.duePace.has() {
		r.duePace.tokens--
		at := r.due[0]
		r.due = r.due[1:]
		dueArrives(at)
	}
}
