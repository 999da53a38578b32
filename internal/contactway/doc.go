// Package contactway gives codes their contact way at WeCom, once.
//
// It owns the procedure that makes a contact way although no call at WeCom is
// idempotent: a row is written before the call, and whoever finds a row whose
// call may have been applied looks for its contact way before he makes
// another. It owns the adoption of a contact way that exists, and the ways of
// single members that landing pages show. It refuses to own who is on a code's
// list after the first moment: that is decided by package roster and written
// by package push, and the first push of a code follows its creation.
//
// # The row
//
// A row is the truth about one contact way that somebody wants. Every step
// replaces the row under the condition that it is still the one that was read,
// so of several processes at most one goes on. A row is left alone until its
// NotBefore, which covers the step that its owner has begun.
//
//	Wanted   nothing is at WeCom: the next step makes it
//	Adding   add_contact_way was announced: look for it before adding again
//	Made     it is at WeCom and known: give it to the code, tidy up, announce
//	Done     a member's way, kept so that it is made once
//	Refused  WeCom does not take it; a person has to change something
//
// The announcement is written before the call and names the last instant at
// which the call may be sent. Nobody looks for its effect before that instant
// plus a margin, so what is not found then is not there.
//
// # The marker
//
// What is looked for has to be told from everything else that the company has
// at WeCom. A state is not unique (all ways of a code share it) and is the
// company's own. The remark is free at creation: the first push of a code
// writes the code's own remark over it. So a new contact way carries "rollcall:"
// and 21 random characters (105 bits) in its remark, 30 in all, which is what
// WeCom takes. Each row has its own marker and keeps it over all attempts.
package contactway
