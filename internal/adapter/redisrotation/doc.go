// Package redisrotation keeps the rotation sets and draws from them.
//
// It owns the order in which the members of a sequenced or quota code take
// customers, and the headroom that a draw consumes before the addition is
// counted in the facts. It refuses to own who belongs on the set (the verdict
// says that) and what a customer does after the draw.
//
// # Order
//
// A set is a ZSET of the members that may be drawn. A member's score is the lap
// in which his turn comes, then his position in the set; a draw takes the
// lowest and moves him to the next lap. So within one lap everyone is drawn at
// most once, in order. Lap and headroom are kept per member and survive
// Replace: who stays keeps his turn, who is new takes his place in the lap that
// runs, who leaves and comes back within a lap is not drawn twice in it. A set
// for a later round begins a lap of its own.
//
// # Headroom
//
// A draw is outstanding until the facts have counted it. Replace brings the
// headroom as the facts know it and the count that it accounts for; what that
// count has grown by is no longer outstanding. A member may be drawn while his
// headroom exceeds his outstanding draws, or is negative (no ceiling). Scans
// that never became customers are forgotten at the first Replace that comes
// DrawGrace or longer after the member's last draw.
//
// # The company's ceiling
//
// A seat's headroom cannot see the draws of the member's other codes, and those
// are on other slots of a Redis Cluster. So a member with a company's daily
// total has a ledger of his own, and a second script asks it for leave after
// each draw. The ledger holds the additions of the day over all codes, the
// highest count that any set has brought, until the day ends; and of each code
// that drew him lately what is outstanding there, as a seat does: less what the
// count of that code has grown by, forgotten DrawGrace after the code's last
// draw. Leave is given while the total exceeds both together.
//
// The counts of one code alone free what that code has drawn. The company's
// count also grows by additions that nobody drew, or that another code did.
// All these numbers only grow within a day, so it does not matter in which order
// they arrive, and a set whose facts are older does no harm. A Replace tells
// the ledgers of those who were drawn lately when their counts have changed:
// otherwise counted draws could be forgotten there before another draw from the
// same code brings the count.
//
// A member who is refused has his turn taken back, but not his place in the lap,
// and is set aside for a second or until the next Replace: with the ceiling
// reached, hardly any draw pays for that. A repeated answer is paid for once,
// also when its first attempt died before it had asked.
//
// # Version
//
// Every Replace raises the version, to Redis's clock in microseconds or one
// more than before, whichever is greater. A set that was deleted or lost and is
// written again therefore has a greater version than it ever had, unless
// Redis's clock was set back by more than the set was gone. Draws do not raise
// it: their effect is kept by Replace.
//
// # Answers
//
// A draw may carry a key. Its answer is kept for RepeatWithin, written by the
// script that draws, so that whoever asks again after an answer was lost gets
// it and nobody is drawn twice. The last draws of a code are kept for whoever
// has to say later whom a customer was given.
//
// All keys of a code carry one hash tag, those of a ledger another, and each
// script touches one code or one ledger, so the package runs on Redis Cluster. A script is atomic: a draw meets the set
// before or after a Replace and nothing in between.
package redisrotation
