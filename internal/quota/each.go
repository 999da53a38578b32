package quota

import (
	"context"
	"errors"
	"sync"
)

// parallel is how many pairs a sweep works on at once.
const parallel = 16

// each does something with every item, some at a time, and returns for how many
// it went well. One that fails does not keep the others back.
func each[T any](ctx context.Context, items []T, do func(context.Context, T) error) (int, error) {
	var mu sync.Mutex
	var failed []error
	var wg sync.WaitGroup
	todo := make(chan T)
	for range min(parallel, len(items)) {
		wg.Go(func() {
			for item := range todo {
				if err := do(ctx, item); err != nil {
					mu.Lock()
					failed = append(failed, err)
					mu.Unlock()
				}
			}
		})
	}
	for _, item := range items {
		todo <- item
	}
	close(todo)
	wg.Wait()
	return len(items) - len(failed), errors.Join(failed...)
}
