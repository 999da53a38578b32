package httpapi

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/rollcall-dev/rollcall/internal/registry"
)

// The header of RFC draft "Idempotency-Key", and the one that tells a stored
// answer from a fresh one.
const (
	keyHeader    = "Idempotency-Key"
	replayHeader = "Idempotent-Replayed"
)

const (
	maxKey = 128
	// keptFor is how long an answer can be asked for again.
	keptFor = 24 * time.Hour
	// claimTime is how long a request may take; one that died is taken for
	// such after it.
	claimTime = time.Minute
)

// once handles a write, and with an Idempotency-Key no more than once: a repeat
// gets the same answer again.
func (a *API) once(ctx context.Context, r *request, one route) (answer, error) {
	key := r.Header.Get(keyHeader)
	if key == "" {
		return one.handle(ctx, r)
	}
	claim, err := a.claimOf(r, key)
	if err != nil {
		return answer{}, err
	}
	state, stored, err := a.o.Answers.Claim(ctx, claim, a.o.Now())
	if err != nil {
		return answer{}, fmt.Errorf("look the idempotency key up: %w", err)
	}
	switch state {
	case registry.Answered:
		r.w.Header().Set(replayHeader, "true")
		return answer{status: stored.Status, body: stored.Body, location: stored.Location}, nil
	case registry.InProgress:
		p := newProblem(http.StatusConflict, codeInProgress, "the first request with this key is still being worked on")
		p.retryAfter = time.Second
		return answer{}, p
	case registry.Reused:
		return answer{}, wrong(http.StatusUnprocessableEntity, codeKeyReused, keyHeader, "", "another key: this one was used with another request")
	case registry.Claimed:
	}
	return a.keep(ctx, r, one, claim)
}

// keep handles the request and stores an answer that stays true. A problem is
// not stored: nothing was changed, or a repeat has to do the rest.
func (a *API) keep(ctx context.Context, r *request, one route, claim registry.Claim) (answer, error) {
	ans, err := one.handle(ctx, r)
	// The client may be gone; the key is to be settled all the same.
	settling, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
	defer cancel()
	var settled error
	if err != nil {
		settled = a.o.Answers.Drop(settling, claim)
	} else {
		settled = a.o.Answers.Store(settling, claim, registry.Answer{Status: ans.status, Body: ans.body, Location: ans.location})
	}
	if settled != nil {
		// The claim ends by itself; until then repeats are told to wait.
		a.o.Logger.WarnContext(ctx, "an idempotency key could not be settled", "error", settled)
	}
	return ans, err
}

// settleTime bounds the end of a request with a key.
const settleTime = 5 * time.Second

func (a *API) claimOf(r *request, key string) (registry.Claim, error) {
	printable := !strings.ContainsFunc(key, func(c rune) bool { return c <= ' ' || c > '~' })
	if len(key) > maxKey || !printable {
		return registry.Claim{}, wrong(http.StatusBadRequest, codeMalformed, keyHeader, "", fmt.Sprintf("1 to %d printable ASCII characters", maxKey))
	}
	now := a.o.Now()
	return registry.Claim{
		Scope: r.grant.Tenant, Key: key, Fingerprint: fingerprint(r), Until: now.Add(claimTime), Expires: now.Add(keptFor),
	}, nil
}

func fingerprint(r *request) string {
	sum := sha256.New()
	// A hash takes everything.
	_, _ = io.WriteString(sum, r.Method+" "+r.URL.EscapedPath()+"\n")
	_, _ = sum.Write(r.body)
	return hex.EncodeToString(sum.Sum(nil))
}
