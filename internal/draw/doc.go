// Package draw gives a customer who opened a code's landing page the staff
// member whose turn it is.
//
// It owns the way from a code's name to the member: whose code it is, who may
// ask, what happens when the rotation set is missing (it is made again from the
// facts) or when nobody in it has headroom, and what is written down about each
// draw. It refuses to own the order of turns, which the rotation set keeps, and
// how the answer is shown.
//
// A draw is never answered by guessing. When the set cannot be asked, nobody is
// drawn: a member picked without it could be over his ceiling.
package draw
