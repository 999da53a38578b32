// Package keeper runs keepers as real processes on the real servers: kills
// them, stops them, freezes them in the middle of a sweep, and counts what
// becomes of dirty codes meanwhile. It holds tests only.
package keeper
