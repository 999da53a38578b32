package mongostore

import (
	"context"
	"fmt"

	"github.com/rollcall-dev/rollcall/internal/push"
)

// TenantOf returns the tenant of a code, by one read of the code's _id. A code
// that is not there is push.ErrUnknownCode.
func (s *Store) TenantOf(ctx context.Context, code string) (string, error) {
	doc, found, err := findOne[codeDoc](ctx, s.codes, code, fields([]string{"tenant"}))
	if err == nil && !found {
		err = push.ErrUnknownCode
	}
	if err != nil {
		return "", fmt.Errorf("find the tenant of code %s: %w", code, err)
	}
	return doc.Tenant, nil
}
