package redeem

import (
	"context"
	"strconv"

	"portico/store"
	"portico/store/db"
)

type (
	redeemQueue   = db.WriteQueue[CodeUse, *CodeUsage]
	redeemRequest = db.QueuedRequest[CodeUse, *CodeUsage]
)

const redeemGroup = 256 // redemptions that are written together

// newRedeemQueue has one write make the redemptions that wait: it reads each
// code once and writes it once, however often it is used.
func newRedeemQueue() *redeemQueue {
	return &redeemQueue{MaxSize: redeemGroup, Size: func(CodeUse) int { return 1 },
		Write: func(ctx context.Context, t *db.Tx, group []*redeemRequest) error {
			return (&redemption{Tx: t}).redeemAll(ctx, group)
		}}
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

// check tells whether a usage is what it is asked for once more.
func (u *CodeUsage) check(use CodeUse) error {
	path := []string{"reference"}
	switch {
	case u.User != use.User:
		return &store.Error{Code: store.Conflict, Path: path, Detail: "redeemed this code for another user already; take another reference"}
	case u.UnitsAsked != use.Units:
		return &store.Error{Code: store.Conflict, Path: path, Detail: "redeemed this code for " + strconv.Itoa(u.UnitsAsked) + " units already, not " + strconv.Itoa(use.Units) +
			"; take another reference, or release this one"}
	case u.Released():
		return store.Unprocessablef(path, "redeemed this code and was released; take another reference")
	}
	return nil
}
