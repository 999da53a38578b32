package intake

import "context"

// maxGraves bounds the poison messages that wait for the dead-letter topic.
const maxGraves = 256

// queueBurial hands a poison message to the one goroutine that stores dead
// letters, so that neither a flood of them nor a dead-letter topic that hangs
// stops the intake. When too many wait already, the message goes back to the
// broker and comes again.
func (in *Intake) queueBurial(d Delivery) {
	select {
	case in.graves <- d:
	default:
		in.Subscription.Nack(d.ID)
	}
}

func (in *Intake) buryAll(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case d := <-in.graves:
			in.bury(ctx, d)
		}
	}
}

// bury stores a dead letter; until that succeeds its message stays un-acked
// and comes back.
func (in *Intake) bury(ctx context.Context, d Delivery) {
	log := in.opts.Logger.With("message", d.ID.String(), "reason", d.Poison.Cause, "detail", d.Poison.Detail)
	if err := in.Subscription.DeadLetter(ctx, d); err != nil {
		log.ErrorContext(ctx, "dead letter not stored, the message will come back", "error", err)
		in.Subscription.Nack(d.ID)
		return
	}
	in.Subscription.Ack(d.ID)
	in.Observer.DeadLettered(ctx, d.Poison.Cause)
	log.WarnContext(ctx, "dead letter stored")
}
