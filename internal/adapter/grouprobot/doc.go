// Package grouprobot shows messages to a group of people through WeCom's group
// robots (page 91770).
//
// It owns the call and what its answer means, and keeps the robot's key, which
// is all that it takes to write to the group, out of every error, log line and
// span. It refuses to own what is told, how often, and what becomes of a
// message that was not taken: it makes one attempt a call.
package grouprobot
