package redisrotation

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/rollcall-dev/rollcall/internal/push"
	"github.com/rollcall-dev/rollcall/internal/roster"
)

// take takes one of what the company's daily total leaves a member who was just
// drawn, and reports whether there was one. A request with a key takes one once.
func (r *Rotation) take(ctx context.Context, ref push.Ref, seat roster.Seat, key string) (bool, error) {
	if seat.Company.Total == 0 {
		return true, nil
	}
	l := r.ledgerOf(ref.Tenant, seat.Staff)
	touched := []string{l.key}
	if key != "" {
		touched = append(touched, l.proof(ref.Code, key))
	}
	granted, err := companyScript.Run(ctx, r.client, touched, r.ledgerArgs(ref, seat, 1)...).Bool()
	if err != nil {
		return false, fmt.Errorf("ask what the company's daily total leaves %s: %w", seat.Staff, err)
	}
	return granted, nil
}

// tellLedgers tells the ledgers of members who were drawn lately what a Replace
// found counted, in one round trip. When those draws are forgotten, no draw from
// another code may find that they were never made; and what others gave the
// members is known the sooner.
func (r *Rotation) tellLedgers(ctx context.Context, ref push.Ref, seats []roster.Seat, reply []int64) error {
	if len(reply) < 2 {
		return errReply
	}
	counted := reply[2:]
	if len(counted) == 0 {
		return nil
	}
	_, err := r.client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for _, n := range counted {
			if n < 1 || n > int64(len(seats)) {
				return errReply
			}
			seat := seats[n-1]
			companyScript.Eval(ctx, pipe, []string{r.ledgerOf(ref.Tenant, seat.Staff).key}, r.ledgerArgs(ref, seat, 0)...)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("tell what the company has counted of %d members: %w", len(counted), err)
	}
	return nil
}

// Tell tells a member's ledger what was counted of him just now, through
// whichever code: his draws from others end at the company's daily total without
// waiting until their sets are written again. A seat without a total has none.
func (r *Rotation) Tell(ctx context.Context, ref push.Ref, seat roster.Seat) error {
	if seat.Company.Total == 0 {
		return nil
	}
	keys := []string{r.ledgerOf(ref.Tenant, seat.Staff).key}
	if err := companyScript.Run(ctx, r.client, keys, r.ledgerArgs(ref, seat, 0)...).Err(); err != nil {
		return fmt.Errorf("tell what the company has counted of %s: %w", seat.Staff, err)
	}
	return nil
}

// ledgerArgs are the arguments of the company script; many is how many to take,
// 0 or 1.
func (r *Rotation) ledgerArgs(ref push.Ref, seat roster.Seat, many int) []any {
	day := seat.Company
	return []any{
		r.now(), r.grace.Microseconds(), ref.Code, seat.Counted, day.Total, day.Counted, day.Until, many, r.repeat.Milliseconds(),
	}
}

// ledger are the keys of a staff member, on one slot of Redis Cluster.
type ledger struct{ key string }

func (r *Rotation) ledgerOf(tenant, staff string) ledger {
	return ledger{key: r.prefix + "{t:" + escape.Replace(tenant) + ":" + escape.Replace(staff) + "}:company"}
}

// proof is the key that says that a request has taken one.
func (l ledger) proof(code, key string) string {
	return l.key + ":took:" + digest(code+"\n"+key) // a code's ID has no line break
}

// companyText is how a set keeps what is said of the company's ceiling.
func companyText(day roster.CompanyDay) string {
	if day.Total == 0 {
		return ""
	}
	return fmt.Sprintf("%d %d %d", day.Total, day.Counted, day.Until)
}

// parseCompany is the inverse of companyText.
func parseCompany(text string) (day roster.CompanyDay, ok bool) {
	if text == "" {
		return day, true
	}
	n, err := fmt.Sscanf(text, "%d %d %d", &day.Total, &day.Counted, &day.Until)
	return day, err == nil && n == 3
}
