// Package mongostore keeps Rollcall's facts and records in MongoDB.
//
// It owns the shape of the documents (docs/facts.md describes those that
// producers write), the reads of the hot path, the conditional updates that
// make a record the fence of its code, and the dirty set. It refuses to own
// what the documents mean: that is for roster and push.
//
// The hot path reads by _id alone, in two waves of round trips whatever the
// number of members, from the primary, without a session. Everything is
// written with majority. No write is a transaction or a pipeline: each is one
// conditional update of one document, so an outcome is either known or an
// error, and after an error it is unknown. Queries by other fields serve the
// slow loops, and EnsureIndexes makes their indexes.
//
// A primary that has been cut off may answer a read with the past for some
// seconds. A push is safe from that: it writes with majority between its two
// reads of the facts, which a primary of the past cannot do. A decision that
// nothing has to be sent is not; the local audit is what finds such a code.
package mongostore
