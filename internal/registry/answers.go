package registry

import (
	"context"
	"time"
)

// Claim is one request's right to answer a key.
type Claim struct {
	// Scope is the tenant of the token, "" of one for all tenants: keys of
	// different scopes have nothing to do with each other.
	Scope string
	Key   string
	// Fingerprint tells the request from others: method, path and body.
	Fingerprint string
	Until       time.Time // when the right ends if no answer is stored
	Expires     time.Time // when the key is forgotten
}

// Answer is a stored answer.
type Answer struct {
	Status   int
	Body     []byte
	Location string
}

// ClaimState says what became of a Claim.
type ClaimState int

// The states.
const (
	Claimed    ClaimState = iota // the request is the first: it answers
	Answered                     // there is an answer already
	InProgress                   // another request is at it
	Reused                       // the key belongs to a request that is another
)

// Answers keeps answers by key. After an error nothing is known to have
// happened.
type Answers interface {
	// Claim takes the key for the request at an instant, or says why not. The
	// answer is that of the state Answered.
	Claim(ctx context.Context, claim Claim, now time.Time) (ClaimState, Answer, error)
	// Store keeps the answer of a claim that still holds.
	Store(ctx context.Context, claim Claim, answer Answer) error
	// Drop gives a claim up: the next request with its key is the first.
	Drop(ctx context.Context, claim Claim) error
}
