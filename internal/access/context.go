package access

import "context"

type grantKey struct{}

// WithGrant returns a context that carries what its request may do.
func WithGrant(ctx context.Context, grant Grant) context.Context {
	return context.WithValue(ctx, grantKey{}, grant)
}

// GrantFrom returns what the request of the context may do; false when nobody
// was authenticated.
func GrantFrom(ctx context.Context) (Grant, bool) {
	grant, ok := ctx.Value(grantKey{}).(Grant)
	return grant, ok
}
