//go:build unix

package stack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// lock takes the file's lock, waiting until ctx ends, and returns what gives
// it back. The kernel gives it back too when the process dies, so a crash
// leaves nothing locked.
func lock(ctx context.Context, path string) (unlock func() error, err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the lock: %w", err)
	}
	var failure error
	err = poll(ctx, 100*time.Millisecond, func() bool {
		failure = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		return failure == nil || !errors.Is(failure, syscall.EWOULDBLOCK)
	})
	if err = errors.Join(err, failure); err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), file.Close())
	}
	return file.Close, nil
}
