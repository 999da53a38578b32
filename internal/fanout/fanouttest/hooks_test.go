package fanouttest_test

import (
	"context"
	"errors"
	"testing"

	"github.com/rollcall-dev/rollcall/internal/fanout/fanouttest"
)

var errHook = errors.New("hook")

func TestHooks(t *testing.T) {
	fails := func(context.Context, string) error { return errHook }
	tests := map[string]struct {
		hooks   fanouttest.Hooks
		happens bool
		want    error
	}{
		"none":   {fanouttest.Hooks{}, true, nil},
		"before": {fanouttest.Hooks{Before: fails}, false, errHook},
		"after":  {fanouttest.Hooks{After: fails}, true, errHook},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			happened := false
			err := test.hooks.Do(t.Context(), "op", func() { happened = true })
			if !errors.Is(err, test.want) || happened != test.happens {
				t.Errorf("Do = %v, happened %v; want %v, %v", err, happened, test.want, test.happens)
			}
		})
	}
}

func TestProcess(t *testing.T) {
	tests := map[string]struct {
		cut  func(int) bool
		want int // effects of three operations
		op   string
	}{
		"lives":                         {fanouttest.Never, 3, ""},
		"is cut off ahead of an effect": {fanouttest.At(2), 1, "op 1"},
		"is cut off behind an effect":   {fanouttest.At(3), 2, "op 1"},
		"is cut off at once":            {fanouttest.At(0), 0, "op 0"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			process, ctx := fanouttest.NewProcess(t.Context(), test.cut)
			defer process.End()
			var hooks fanouttest.Hooks
			effects, failed := 0, false
			for _, op := range []string{"op 0", "op 1", "op 2"} {
				err := hooks.Do(context.WithoutCancel(ctx), op, func() { effects++ })
				if failed = failed || err != nil; failed && !errors.Is(err, fanouttest.ErrCutOff) {
					t.Errorf("%s = %v after the end", op, err)
				}
			}
			if effects != test.want || process.CutOff() != test.op {
				t.Errorf("%d effects, cut off in %q; want %d, %q", effects, process.CutOff(), test.want, test.op)
			}
			if (ctx.Err() != nil) != (test.op != "") {
				t.Errorf("the context says %v", ctx.Err())
			}
		})
	}
}

// One process's end is not another's, and a context that has ended ends calls.
func TestProcessesAreApart(t *testing.T) {
	var hooks fanouttest.Hooks
	dead, ctx := fanouttest.NewProcess(t.Context(), fanouttest.At(0))
	defer dead.End()
	if err := hooks.Do(ctx, "op", func() {}); !errors.Is(err, fanouttest.ErrCutOff) {
		t.Errorf("Do = %v, want %v", err, fanouttest.ErrCutOff)
	}
	other, ctx := fanouttest.NewProcess(t.Context(), fanouttest.Never)
	if err := hooks.Do(ctx, "op", func() {}); err != nil {
		t.Errorf("another process: %v", err)
	}
	other.End()
	if err := hooks.Do(ctx, "op", func() {}); !errors.Is(err, context.Canceled) {
		t.Errorf("Do = %v, want %v", err, context.Canceled)
	}
	if err := hooks.Do(t.Context(), "op", func() {}); err != nil {
		t.Errorf("nobody's call: %v", err)
	}
}
