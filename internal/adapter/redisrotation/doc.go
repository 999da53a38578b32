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
// All keys of a code carry one hash tag, and each script touches one code, so
// the package runs on Redis Cluster. A script is atomic: a draw meets the set
// before or after a Replace and nothing in between.
package redisrotation
