package store

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
)

// RedeemCode takes uses of a code: one of a per_cart code, of a per_item code
// as many as there are units, or as are left, but at least one. Whatever is
// redeemed at once, a code is never used more often than it may be.
//
// It is idempotent by reference: again, with the same user and units, it is
// answered as the first time, even when the code is used up by then.
//
// NOT_FOUND for an unknown code; UNPROCESSABLE, with every reason, for one
// that is not good, and for a reference whose uses were released; CONFLICT for
// a reference that was used with another user or other units.
func (s *Store) RedeemCode(ctx context.Context, actor Actor, use CodeUse) (*CodeUsage, error) {
	if use.Reference == "" {
		return nil, unprocessable([]string{"reference"}, "must be 1 to 255 bytes of your own, an order number for instance")
	}
	if err := use.check(1); err != nil {
		return nil, err
	}
	var usage *CodeUsage
	err := s.update(ctx, actor, func(ctx context.Context, t *tx) (err error) {
		usage, err = t.redeem(ctx, use)
		return err
	}, &usage)
	if err != nil {
		return nil, err
	}
	return usage, nil
}

// redeem takes the uses by a conditional update, again and again until it is
// done, or must not be.
func (t *tx) redeem(ctx context.Context, use CodeUse) (*CodeUsage, error) {
	for {
		o, err := codeOfferOf(ctx, t.session, use.Code, t.now)
		if err != nil {
			return nil, err
		}
		// Read after the code: if the same reference took the last use just
		// now, its usage is seen here.
		usages, err := t.usages(ctx, use.Reference, &use.Code)
		if err != nil {
			return nil, err
		}
		if len(usages) > 0 {
			return usages[0], usages[0].check(use)
		}
		if refusals := o.refusals(use, t.now); len(refusals) > 0 {
			return nil, refused(refusals)
		}
		units := o.units(use.Units)
		taken, err := t.exec(ctx, `
			UPDATE promotion_code SET used = used + CAST($4 AS BIGINT)
			WHERE promotion_number = $1 AND epoch = $2 AND code = $3
			  AND (max_uses IS NULL OR used + CAST($4 AS BIGINT) <= max_uses)
			  AND (consume_unit <> $6 OR CAST($4 AS BIGINT) = CAST($5 AS BIGINT) OR used + CAST($4 AS BIGINT) = max_uses) -- all units, or all that were left
			  AND EXISTS (
			      SELECT 1 FROM promotion
			      JOIN code_claim ON code_claim.promotion_number = promotion.number AND code_claim.epoch = promotion.epoch
			      WHERE promotion.number = $1 AND promotion.epoch = $2 AND code_claim.code = $3
			        AND (promotion_code.consume_unit <> $6 OR NOT automatic)
			        AND enabled AND start_at <= $7 AND end_at > $7)`,
			o.promotion.number, o.promotion.epoch, use.Code, units, use.Units, string(PerItem), micros(t.now))
		if err != nil {
			return nil, err
		}
		if taken == 0 {
			continue // another write came between
		}
		return t.writeUsage(ctx, o, use, units)
	}
}

// check tells whether a usage is what it is asked for once more.
func (u *CodeUsage) check(use CodeUse) error {
	path := []string{"reference"}
	switch {
	case u.User != use.User:
		return &Error{Code: Conflict, Path: path, Detail: "redeemed this code for another user already; take another reference"}
	case u.UnitsAsked != use.Units:
		return &Error{Code: Conflict, Path: path, Detail: "redeemed this code for " + itoa(u.UnitsAsked) + " units already, not " + itoa(use.Units) +
			"; take another reference, or release this one"}
	case u.Released():
		return unprocessable(path, "redeemed this code and was released; take another reference")
	}
	return nil
}

func refused(refusals []CodeRefusal) error {
	var list Errors
	for _, r := range refusals {
		list = append(list, r.Fault)
	}
	return list
}

// writeUsage writes what was taken, unless the same reference did so just now:
// then the uses are not to be taken once more.
func (t *tx) writeUsage(ctx context.Context, o codeOffer, use CodeUse, units int) (*CodeUsage, error) {
	u := &CodeUsage{ID: newID(), PromotionID: o.promotion.ID, Code: use.Code, User: use.User, Reference: use.Reference,
		UnitsAsked: use.Units, Units: units, Actor: t.actor, CreatedAt: t.now}
	written, err := t.exec(ctx, `
		INSERT INTO code_usage (id, promotion_number, epoch, code, user_id, reference, units_asked, units, actor, created_at, released_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, NULL)
		ON CONFLICT DO NOTHING`,
		u.ID, o.promotion.number, o.promotion.epoch, u.Code, u.User, u.Reference, u.UnitsAsked, u.Units, string(u.Actor), micros(u.CreatedAt))
	if err == nil && written == 0 {
		err = errRaced
	}
	return u, err
}

// ReleaseCode gives back what a reference redeemed: of one code, or of all
// with a nil code. It is idempotent; what was given back is not given back
// once more. The answer is every usage of the reference, the oldest first.
// NOT_FOUND when it redeemed nothing.
func (s *Store) ReleaseCode(ctx context.Context, actor Actor, reference string, code *string) ([]*CodeUsage, error) {
	var usages []*CodeUsage
	unknown := notFound([]string{"reference"}, "redeemed no such code: %q", short(reference))
	if !cleanText(reference) || code != nil && !cleanText(*code) {
		return nil, unknown
	}
	err := s.update(ctx, actor, func(ctx context.Context, t *tx) (err error) {
		if err := t.release(ctx, reference, code); err != nil {
			return err
		}
		usages, err = t.usages(ctx, reference, code)
		if err == nil && len(usages) == 0 {
			err = unknown
		}
		return err
	}, &usages)
	if err != nil {
		return nil, err
	}
	return usages, nil
}

func (t *tx) release(ctx context.Context, reference string, code *string) error {
	type back struct {
		number, epoch int64
		code          string
		units         int
	}
	list, err := collect(ctx, t.session, func(rows *sql.Rows) (b back, err error) {
		return b, rows.Scan(&b.number, &b.epoch, &b.code, &b.units)
	}, `
		UPDATE code_usage SET released_at = $2
		WHERE reference = $1 AND released_at IS NULL AND (CAST($3 AS TEXT) IS NULL OR code = CAST($3 AS TEXT))
		RETURNING promotion_number, epoch, code, units`, reference, micros(t.now), code)
	if err != nil {
		return err
	}
	slices.SortFunc(list, func(a, b back) int { // in one order everywhere, or two releases deadlock
		return cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(a.epoch, b.epoch), cmp.Compare(a.code, b.code))
	})
	for _, b := range list {
		// A code that was deleted meanwhile has nothing to give back to; one
		// that was imported anew may have less.
		if _, err := t.exec(ctx, `
			UPDATE promotion_code SET used = CASE WHEN used >= $4 THEN used - $4 ELSE 0 END
			WHERE promotion_number = $1 AND epoch = $2 AND code = $3`, b.number, b.epoch, b.code, b.units); err != nil {
			return err
		}
	}
	return nil
}

// usages are those of a reference, of one code or of all.
func (t *tx) usages(ctx context.Context, reference string, code *string) ([]*CodeUsage, error) {
	return collect(ctx, t.session, scanUsage, `
		SELECT `+usageColumns+` FROM code_usage
		WHERE reference = $1 AND (CAST($2 AS TEXT) IS NULL OR code = CAST($2 AS TEXT))
		ORDER BY created_at, id`, reference, code)
}
