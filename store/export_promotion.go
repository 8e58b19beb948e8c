package store

import (
	"context"
	"database/sql"
)

// promotions exports promotions as they are kept.
func (e *exporter) promotions(ctx context.Context) error {
	return e.bodies("promotion", "number")(ctx)
}

// codes exports the codes of each promotion, by code; those that were done
// away with are gone.
func (e *exporter) codes(ctx context.Context) error {
	key := []string{"promotion_number", "epoch", "code"} // as the primary key has it
	scan := func(rows *sql.Rows) ([]any, *codeSource, error) {
		c := &codeSource{Type: "promotion_code"}
		var number, epoch, used, created int64
		var maxUses sql.NullInt64
		var users string
		err := rows.Scan(&number, &epoch, &c.Code, &c.PromotionID, &c.ID, &maxUses, &used, &c.ConsumeUnit, &users, &created)
		if maxUses.Valid {
			most, remain := int(maxUses.Int64), int(maxUses.Int64-used)
			c.MaxUses, c.Uses = &most, &remain
		} else {
			c.Used = int(used)
		}
		c.User = storedCodeUser(users)
		if created != 0 {
			c.CreatedAt = formatTime(fromMicros(created))
		}
		return []any{number, epoch, c.Code}, c, err
	}
	const live = `(
		SELECT promotion_code.promotion_number, promotion_code.epoch, promotion_code.code, promotion.id AS promotion_id, promotion_code.id, max_uses, used, consume_unit, users, promotion_code.created_at
		FROM promotion JOIN promotion_code ON promotion_code.promotion_number = promotion.number AND promotion_code.epoch = promotion.epoch) AS live`
	return pages(ctx, e.in, live, "promotion_number, epoch, code, promotion_id, id, max_uses, used, consume_unit, users, created_at", key, scan, writeAll[*codeSource](e))
}

// usages exports the uses of codes whose promotion is there.
func (e *exporter) usages(ctx context.Context) error {
	scan := func(rows *sql.Rows) ([]any, *usageSource, error) {
		u := &usageSource{Type: "code_usage"}
		var created int64
		var released sql.NullInt64
		err := rows.Scan(&u.ID, &u.PromotionID, &u.Epoch, &u.Code, &u.User, &u.UnitsAsked, &u.Units, &u.Reference, &u.Actor, &created, &released)
		if u.UnitsAsked == u.Units {
			u.UnitsAsked = 0
		}
		if created != 0 {
			u.CreatedAt = formatTime(fromMicros(created))
		}
		if released.Valid {
			u.ReleasedAt = formatTime(fromMicros(released.Int64))
		}
		return []any{u.ID}, u, err
	}
	const kept = `(
		SELECT code_usage.id, promotion.id AS promotion_id, code_usage.epoch, code, user_id, units_asked, units, reference, actor, code_usage.created_at, released_at
		FROM code_usage JOIN promotion ON promotion.number = code_usage.promotion_number) AS kept`
	return pages(ctx, e.in, kept, "id, promotion_id, epoch, code, user_id, units_asked, units, reference, actor, created_at, released_at", []string{"id"}, scan, writeAll[*usageSource](e))
}

// writeAll writes sources, a line each.
func writeAll[T source](e *exporter) func([]T) error {
	return func(sources []T) error {
		for _, s := range sources {
			if err := e.line(encode(s)); err != nil {
				return err
			}
		}
		return nil
	}
}
