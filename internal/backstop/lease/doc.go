// Package lease lets one process of several hold a role, and another one take
// over within seconds when it dies.
//
// It owns the rules (when a lease may be taken, how long its holder may work,
// when it renews) and the loop that follows them. The rules are pure: time is
// passed in. It refuses to own what the holder does and where the lease lies.
//
// # Clocks
//
// No instant that one machine wrote is compared with the clock of another. A
// candidate watches the lease's token and count of renewals, and takes it when
// neither has changed for the TTL by the candidate's own monotonic clock. The
// holder counts from before it asked for its last renewal, the candidate from
// after it first saw it, and the holder stops a third of the TTL before that:
// the third is for clocks that run at different speeds and for work that takes
// a moment to stop.
//
// # What a lease cannot do
//
// A process that is paused (a stopped process, a virtual machine that is moved)
// does not notice when its time is up, and may finish a write long after
// somebody else took over. So the lease makes it rare that two work at once,
// never impossible, and every write of a holder has to be harmless when it
// comes late. Either the write is conditional on what it was decided from (the
// dirty set's versions, see package backstop), or it carries the token, which
// grows with every taking, and the place it goes to refuses an older one.
package lease
