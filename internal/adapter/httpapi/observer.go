package httpapi

import (
	"context"
	"time"
)

// Observer is told what the API does. Its methods are quick and safe for
// concurrent use.
type Observer interface {
	// Answered is told of every answer of a route: its pattern, such as
	// "GET /v1/tenants/{tenant}", the status and how long it took.
	Answered(ctx context.Context, route string, status int, took time.Duration)
	// Refused is told of every problem, by its code.
	Refused(ctx context.Context, cause string)
}
