package model

import (
	"time"

	"portico/store"
	"portico/store/promotion/redeem"
)

// PromotionCodeUsage is a redemption of a code.
type PromotionCodeUsage struct {
	*redeem.CodeUsage
	BatchRow[*PromotionCodeUsage]
}

// Init implements Row.
func (u *PromotionCodeUsage) Init(source *redeem.CodeUsage, position BatchRow[*PromotionCodeUsage]) {
	u.CodeUsage, u.BatchRow = source, position
}

// OfPromotion returns the promotion's id.
func (u *PromotionCodeUsage) OfPromotion() string { return u.PromotionID }

// PromotionGlobalID returns the global id of the promotion, which may be deleted.
func (u *PromotionCodeUsage) PromotionGlobalID() string {
	return store.GlobalID(store.TypePromotion, u.PromotionID)
}

// ActorName returns the actor that redeemed the code.
func (u *PromotionCodeUsage) ActorName() string { return string(u.Actor) }

// ReleasedAt returns when the redemption was released, or nil if it was not.
func (u *PromotionCodeUsage) ReleasedAt() *time.Time { return NonZeroTime(u.CodeUsage.ReleasedAt) }
