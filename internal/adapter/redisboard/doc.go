// Package redisboard keeps in Redis what every process says of itself, and what
// tenants called of late.
//
// It owns the keys, their expiry, and the number of round trips: a report is one,
// the reading of all reports two, however many there are. It refuses to own what
// a report says (package board), and the budget itself (package redisbudget): the
// calls that it counts are for people, and admit nobody.
//
// # Keys
//
//	<prefix>{board}:index                 names of the processes, by when they told last
//	<prefix>{board}:report:<role>:<name>  one report as JSON; expires after board.ForgottenAfter
//	<prefix>{board}:hot:<minute>          tenants by their asks in one minute; expires after ten
//	<prefix>{t:<tenant>}:calls:<hour>     per minute of the hour, asks granted ("7g") and refused ("7r"); expires after 25 h
//
// A tenant that asks in every minute of a day has at most some 35 KB of them.
package redisboard
