// Package robotchannel tells a tenant's people of a notice in their WeCom group,
// through the group's robot.
//
// It owns the pace at which a robot is used and what its answers mean for a
// delivery. It refuses to own the call (package grouprobot does), what is told,
// how often it is tried and what becomes of it.
package robotchannel
