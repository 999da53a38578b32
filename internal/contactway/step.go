package contactway

import (
	"context"
	"errors"
	"log/slog"
	"slices"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/reason"
)

// announce says in the row that a call is about to be made.
func (m *Maker) announce(row *Row) {
	now := m.opts.Now()
	row.Phase, row.Owner = Adding, m.opts.Owner
	row.NotBefore = now.Add(m.opts.SendWithin + m.opts.Margin)
	row.Window = Window{From: now.Add(-m.opts.Margin), To: row.NotBefore}
}

// addAgain announces a call anew and makes it.
func (m *Maker) addAgain(ctx context.Context, row Row) (Held, error) {
	order, err := m.order(ctx, row.Key)
	switch {
	case unwanted(err):
		return Held{}, errors.Join(err, m.remove(ctx, row))
	case err != nil:
		return m.failed(ctx, row, err)
	}
	m.announce(&row)
	if err := m.replace(ctx, &row); err != nil {
		return Held{}, err
	}
	return m.add(ctx, row, order)
}

// add makes the call that the row announces. From here on it does not matter
// whether whoever asked still waits: a call that is broken off has to be looked
// for.
func (m *Maker) add(ctx context.Context, row Row, order Order) (Held, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), m.opts.SendWithin+m.opts.Margin)
	defer cancel()
	order.Remark = row.Marker
	order.SendBy = row.NotBefore.Add(-m.opts.Margin)
	way, err := m.Vendor.Add(ctx, row.Tenant, order)
	if err != nil {
		return m.notAdded(ctx, row, err)
	}
	m.Observer.WayEvent(ctx, order.Kind, EventMade)
	way.Kind, way.Remark, way.State = order.Kind, order.Remark, order.State
	held, err := m.made(ctx, row, way, nil)
	if errors.Is(err, errLost) {
		return m.overtaken(ctx, row, way)
	}
	return held, err
}

// notAdded says in the row how a call ended that did not make a contact way.
func (m *Maker) notAdded(ctx context.Context, row Row, cause error) (Held, error) {
	o := outcomeOf(cause)
	if o.unknown {
		// The row keeps its announcement: whoever comes after it looks.
		m.opts.Logger.WarnContext(ctx, "whether a contact way was made is not known; it is looked for",
			slog.String("tenant", row.Tenant), slog.String("code", row.Code), slog.String("detail", o.detail))
		return Held{}, ErrPending
	}
	if o.refusal != nil {
		return m.failed(ctx, row, o.refusal)
	}
	row.Why, row.Detail = o.why, o.detail
	return m.wait(ctx, row)
}

// wait puts a row back to Wanted until its next attempt.
func (m *Maker) wait(ctx context.Context, row Row) (Held, error) {
	row.Phase, row.Window = Wanted, Window{}
	row.Failures++
	delay := m.opts.Retry.After(row.Failures, row.Code+row.Staff)
	if row.Why == reason.Throttled {
		delay = max(delay, throttleWait)
	}
	row.NotBefore = m.opts.Now().Add(delay)
	if err := m.replace(ctx, &row); err != nil {
		return Held{}, err
	}
	return Held{}, ErrPending
}

// failed keeps a refusal in the row, so that it is not asked for again at once.
// Other errors leave the row as it is.
func (m *Maker) failed(ctx context.Context, row Row, cause error) (Held, error) {
	refusal, ok := errors.AsType[*RefusedError](cause)
	if !ok {
		return Held{}, cause
	}
	m.Observer.WayEvent(ctx, row.kind(), EventRefused)
	m.opts.Logger.WarnContext(ctx, "a contact way is refused",
		slog.String("tenant", row.Tenant), slog.String("code", row.Code), slog.String("staff", row.Staff),
		slog.String("reason", refusal.Why.String()), slog.String("detail", refusal.Detail))
	row.Phase, row.Window = Refused, Window{}
	row.Why, row.Detail = refusal.Why, refusal.Detail
	row.Failures++
	row.NotBefore = m.opts.Now().Add(m.opts.Refusal.After(row.Failures, row.Code+row.Staff))
	return Held{}, errors.Join(refusal, m.replace(ctx, &row))
}

func (k Key) kind() Kind {
	if k.OfMember() {
		return Single
	}
	return Multi
}

// made notes a contact way that is known to be at WeCom, and gives it to whom
// it is for. spare are others with the row's marker.
func (m *Maker) made(ctx context.Context, row Row, way Way, spare []string) (Held, error) {
	row.Phase, row.Window = Made, Window{}
	row.ConfigID, row.QRCode, row.Spare = way.ConfigID, way.QRCode, spare
	row.Failures, row.Why, row.Detail = 0, "", ""
	if err := m.claim(ctx, &row); err != nil {
		return Held{}, err
	}
	return m.finish(ctx, row)
}

// finish gives a contact way to whom it is for and deletes what is too much.
// The contact way is had once it is given, so what fails afterwards is left to
// the sweep.
func (m *Maker) finish(ctx context.Context, row Row) (Held, error) {
	held := Held{ConfigID: row.ConfigID, QRCode: row.QRCode}
	if row.OfMember() {
		err := m.tidy(ctx, &row)
		if err == nil {
			row.Phase = Done
			err = m.replace(ctx, &row)
		}
		m.leave(ctx, row, "tidy up after a member's contact way", err)
		return held, nil
	}
	given, err := m.Codes.Give(ctx, row.Ref, Way{ConfigID: row.ConfigID, QRCode: row.QRCode, Kind: Multi})
	if err != nil {
		return Held{}, err
	}
	if !given {
		return m.tooLate(ctx, row)
	}
	err = m.tidy(ctx, &row)
	if err == nil {
		_, err = m.Announcer.Refresh(ctx, row.Ref, whyMade)
	}
	if err == nil {
		err = m.remove(ctx, row)
	}
	m.leave(ctx, row, "tidy up after a code's contact way", err)
	return held, nil
}

// whyMade is the reason of the event that follows a creation: the first push
// writes the code's own remark.
const whyMade = "contact_way_made"

// leave tells of what the sweep has to finish.
func (m *Maker) leave(ctx context.Context, row Row, what string, err error) {
	if err == nil || errors.Is(err, errLost) {
		return
	}
	m.opts.Logger.WarnContext(ctx, "a contact way is there, but not all is done; it is tried again",
		slog.String("what", what), slog.String("tenant", row.Tenant), slog.String("code", row.Code), slog.Any("error", err))
}

// tooLate deletes a contact way whose code has another one, or is gone.
func (m *Maker) tooLate(ctx context.Context, row Row) (Held, error) {
	held, err := m.Codes.Held(ctx, row.Ref)
	if err != nil && !unwanted(err) {
		return Held{}, err
	}
	if held.ConfigID == row.ConfigID {
		return Held{}, ErrPending // given between the two reads; the next step sees it
	}
	row.Spare = append(slices.Clone(row.Spare), row.ConfigID)
	tidied := m.tidy(ctx, &row)
	if tidied == nil {
		tidied = m.remove(ctx, row)
	}
	m.leave(ctx, row, "delete a contact way that is too much", tidied)
	switch {
	case err != nil:
		return Held{}, err
	case held.ConfigID == "":
		return Held{}, push.ErrUnknownCode // deleted meanwhile
	}
	return held, nil
}

// tidy deletes the row's spare contact ways. It may be repeated.
func (m *Maker) tidy(ctx context.Context, row *Row) error {
	for _, configID := range row.Spare {
		if err := m.Vendor.Delete(ctx, row.Tenant, configID); err != nil {
			return err
		}
		m.Observer.WayEvent(ctx, row.kind(), EventSpare)
		m.opts.Logger.InfoContext(ctx, "a contact way that was one too many is deleted",
			slog.String("tenant", row.Tenant), slog.String("code", row.Code), slog.String("config_id", configID))
	}
	row.Spare = nil
	return nil
}

func (m *Maker) remove(ctx context.Context, row Row) error {
	removed, err := m.Rows.Remove(ctx, row)
	if err == nil && !removed {
		return errLost
	}
	return err
}

// overtaken is about a contact way whose row was taken over before it could be
// noted. Whoever took the row over has the marker and looks for it; only when
// the row is settled without it nobody will.
func (m *Maker) overtaken(ctx context.Context, row Row, way Way) (Held, error) {
	held, settled, err := m.settledOn(ctx, row)
	switch {
	case err != nil:
		return Held{}, err
	case !settled:
		return Held{}, ErrPending
	case held.ConfigID == way.ConfigID:
		return held, nil
	}
	row.Spare = []string{way.ConfigID}
	if err := m.tidy(ctx, &row); err != nil {
		m.opts.Logger.ErrorContext(ctx, "a contact way is one too many and could not be deleted",
			slog.String("tenant", row.Tenant), slog.String("code", row.Code), slog.String("config_id", way.ConfigID), slog.Any("error", err))
	}
	if held.ConfigID == "" {
		return Held{}, ErrPending
	}
	return held, nil
}

// settledOn is what others made of a row: the contact way they chose, if they
// have chosen. A code's row is removed after the code has its contact way, so
// without the row what the code has is final.
func (m *Maker) settledOn(ctx context.Context, row Row) (held Held, settled bool, err error) {
	now, found, err := m.Rows.Get(ctx, row.Key)
	if err != nil {
		return Held{}, false, err
	}
	if found && now.Marker == row.Marker {
		return Held{ConfigID: now.ConfigID, QRCode: now.QRCode}, now.ConfigID != "", nil
	}
	if row.OfMember() {
		return Held{}, true, nil
	}
	held, err = m.Codes.Held(ctx, row.Ref)
	if unwanted(err) {
		return Held{}, true, nil
	}
	return held, err == nil, err
}
