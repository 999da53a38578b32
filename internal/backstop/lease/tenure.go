package lease

import "time"

// Tenure is the time during which a holder may work. It is not safe for
// concurrent use.
type Tenure struct {
	Token int64
	terms Terms
	asked time.Time // when the last renewal that succeeded was asked for
}

// Terms are the times of a lease.
type Terms struct {
	// TTL is how long a lease that is not renewed stays its holder's.
	TTL time.Duration
	// RenewEvery is the time between two renewals; a third of TTL or less, so
	// that one may fail.
	RenewEvery time.Duration
	// PollEvery is how often a candidate looks, and how soon a renewal that
	// failed is tried again.
	PollEvery time.Duration
}

// NewTenure begins a tenure with a taking that was asked for at an instant.
func NewTenure(token int64, terms Terms, asked time.Time) *Tenure {
	return &Tenure{Token: token, terms: terms, asked: asked}
}

// Renewed extends the tenure by a renewal that was asked for at an instant.
func (t *Tenure) Renewed(asked time.Time) { t.asked = asked }

// RenewAt is when the next renewal is due.
func (t *Tenure) RenewAt() time.Time { return t.asked.Add(t.terms.RenewEvery) }

// Ends is when the holder has to stop working unless it is renewed before: a
// third of the TTL before anybody else may take over.
func (t *Tenure) Ends() time.Time { return t.asked.Add(t.terms.TTL - t.terms.TTL/3) }
