// Package callback takes WeCom's callbacks over HTTP.
//
// It owns the endpoint: whose callback it is, whether it is genuine and fresh,
// what its XML says, and the answer. An answer of 200 says that everything that
// follows from the event is durable; anything else makes WeCom send it again,
// three times in all (WeCom's page 90930). It refuses to own what follows.
//
// A tenant's callbacks have a lane of their own: a flood of one tenant waits in
// its lane and is refused there, and takes no place from another's.
package callback
