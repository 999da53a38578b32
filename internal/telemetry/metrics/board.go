package metrics

import (
	"context"
	"fmt"

	"go.opentelemetry.io/otel/metric"

	"github.com/rollcall-dev/rollcall/internal/board"
)

const nameBoardLost = "rollcall.board.lost"

func reporting() []Instrument {
	return []Instrument{{
		Name: nameBoardLost, Prometheus: "rollcall_board_lost_total", Kind: Counter, Unit: "{item}",
		Labels: []Label{{"what", []string{string(board.LostReport), string(board.LostCalls), Other}}},
		What:   "What could not be told on the board, from which `rollcall status` and the console read: a process's report, which the next one makes up for, or asks of tenants for calls, which are missing from their budget over time. Nothing waits for either.",
		Action: "Redis is slow or away: see rollcall.dependency.up. calls alone: more tenants called within five seconds than a process tells.",
	}}
}

// Board records what the board has lost. It is safe for concurrent use and
// neither blocks nor fails.
type Board struct{ lost counter }

// NewBoard makes the instrument of the catalog.
func NewBoard(meter metric.Meter) (*Board, error) {
	b := builder{meter: meter}
	m := &Board{lost: b.counter(nameBoardLost)}
	if b.err != nil {
		return nil, fmt.Errorf("creating the board's metrics: %w", b.err)
	}
	return m, nil
}

// Lost records so many reports or asks that could not be told.
func (m *Board) Lost(ctx context.Context, what board.Loss, n int) {
	m.lost.addMany(ctx, n, string(what))
}
