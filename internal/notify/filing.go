package notify

import (
	"context"
	"fmt"
	"time"
)

// Filing is the Filer. It is safe for concurrent use.
type Filing struct {
	directory Directory
	ledger    Ledger
	observer  Observer
	now       func() time.Time
}

var _ Filer = (*Filing)(nil)

// NewFiling returns a Filing.
func NewFiling(directory Directory, ledger Ledger, observer Observer, now func() time.Time) *Filing {
	return &Filing{directory: directory, ledger: ledger, observer: observer, now: now}
}

// File creates the notice's deliveries. Which channels it goes to is decided by
// what is configured now: a channel that is added later is not told of it.
func (f *Filing) File(ctx context.Context, notice Notice) error {
	if err := notice.validate(); err != nil {
		return fmt.Errorf("file a notice: %w", err)
	}
	channels, err := f.directory.Channels(ctx, notice.Tenant)
	if err != nil {
		return fmt.Errorf("file notice %s: %w", notice.Key, err)
	}
	rows := f.rows(notice, channels)
	switch {
	case len(rows) == 0:
		f.observer.Filed(ctx, notice.Kind, NoChannel)
		return nil
	case !channels.Wants(notice.Kind):
		f.observer.Filed(ctx, notice.Kind, Unwanted)
		return nil
	}
	for _, row := range rows {
		if err := f.create(ctx, row); err != nil {
			return fmt.Errorf("file notice %s: %w", notice.Key, err)
		}
	}
	return nil
}

func (f *Filing) create(ctx context.Context, row Delivery) error {
	created, err := f.ledger.Create(ctx, row)
	if err != nil {
		return err
	}
	if !created {
		f.observer.Filed(ctx, row.Notice.Kind, Repeated)
		return nil
	}
	f.observer.Filed(ctx, row.Notice.Kind, Filed)
	f.observer.Moved(ctx, row.Via, Pending)
	return nil
}

func (f *Filing) rows(notice Notice, channels Channels) []Delivery {
	var rows []Delivery
	for _, via := range Vias() {
		if channels.Has(via) {
			rows = append(rows, newDelivery(notice, via, f.now()))
		}
	}
	return rows
}
