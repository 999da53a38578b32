// Package broker proves, on a real Pulsar, what the intake and its
// subscription promise together: one un-acked message for a held code, a
// negative ack that comes back to the key's owner at its deadline, and a
// sibling that joins while thousands of codes are held. It holds tests only.
package broker
