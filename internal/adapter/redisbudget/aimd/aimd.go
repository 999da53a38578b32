// Package aimd finds how many calls a tenant may have in flight.
//
// It owns the arithmetic of additive increase and multiplicative decrease: the
// vendor answers 45033 beyond a concurrency that it does not document
// (WeCom's page 90312), so the limit is found by trying. The package refuses to
// own the counting of calls in flight, time, and locks: a Concurrency is a
// value of one owner.
package aimd

// Concurrency is the limit of one tenant's calls in flight. It starts at its
// ceiling, halves on a refusal, and grows by one after as many successes in a
// row as the limit is. The zero value has the limit 1 for ever.
type Concurrency struct {
	limit, ceiling int
	successes      int
}

// New returns a Concurrency between 1 and ceiling calls; a ceiling below 1 is 1.
func New(ceiling int) Concurrency {
	ceiling = max(1, ceiling)
	return Concurrency{limit: ceiling, ceiling: ceiling}
}

// Limit returns how many calls may be in flight, at least 1.
func (c Concurrency) Limit() int { return max(1, c.limit) }

// Succeeded notes a call that was not refused for concurrency.
func (c *Concurrency) Succeeded() {
	if c.limit >= c.ceiling {
		return
	}
	if c.successes++; c.successes >= c.limit {
		c.successes = 0
		c.limit++
	}
}

// Refused notes an answer 45033 to a call that began when the limit was sent.
// Refusals of calls begun under a higher limit than today's are the echo of
// one that has been acted upon, and change nothing.
func (c *Concurrency) Refused(sent int) {
	if sent > c.Limit() {
		return
	}
	c.successes = 0
	c.limit = max(1, c.limit/2)
}
