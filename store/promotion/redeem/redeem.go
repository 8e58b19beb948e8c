// Package redeem checks and redeems promotion codes, and never more often than a code may be used.
// RedeemService takes a CodeUse and returns a CodeCheck or a CodeUsage. It must not import
// promotion.
package redeem

import (
	"context"

	"portico/store"
	"portico/store/db"
)

// RedeemService checks, redeems and releases promotion codes, and lists their usages.
type RedeemService struct {
	db      *db.DB
	redeems *redeemQueue
}

// NewRedeemService returns a service on a database.
func NewRedeemService(d *db.DB) *RedeemService {
	return &RedeemService{db: d, redeems: newRedeemQueue()}
}

// CheckCode tells what a code would do, and changes nothing. What it says may
// be outdated by the time the code is redeemed. INVALID and UNPROCESSABLE for
// a use that makes no sense.
func (s *RedeemService) CheckCode(ctx context.Context, use CodeUse) (*CodeCheck, error) {
	if err := use.check(0); err != nil {
		return nil, err
	}
	now := s.db.Now()
	o, err := codeOfferOf(ctx, s.db.Reader, use.Code, now)
	if err != nil {
		return nil, err
	}
	check := &CodeCheck{Refusals: o.refusals(use, now), Code: o.code, Promotion: o.promotion}
	if len(check.Refusals) == 0 {
		check.UnitsApplied = o.units(use.Units)
	}
	return check, nil
}

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
func (s *RedeemService) RedeemCode(ctx context.Context, actor store.Actor, use CodeUse) (*CodeUsage, error) {
	if use.Reference == "" {
		return nil, store.Unprocessablef([]string{"reference"}, "must be 1 to 255 bytes of your own, an order number for instance")
	}
	if err := use.check(1); err != nil {
		return nil, err
	}
	return s.redeems.Do(ctx, s.db, actor, use)
}
