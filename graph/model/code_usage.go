package model

import (
	"time"

	"portico/store"
	"portico/store/promotion"
)

// PromotionCodeUsage is a usage as the schema has it.
type PromotionCodeUsage struct{ *promotion.CodeUsage }

// NewPromotionCodeUsage dresses a usage.
func NewPromotionCodeUsage(u *promotion.CodeUsage) *PromotionCodeUsage { return &PromotionCodeUsage{u} }

// NewPromotionCodeUsages are several.
func NewPromotionCodeUsages(list []*promotion.CodeUsage) []*PromotionCodeUsage {
	usages := make([]*PromotionCodeUsage, len(list))
	for i, u := range list {
		usages[i] = NewPromotionCodeUsage(u)
	}
	return usages
}

// PromotionGlobalID is the promotion's id over all types; nil once that was
// deleted.
func (u *PromotionCodeUsage) PromotionGlobalID() *string {
	if u.PromotionID == "" {
		return nil
	}
	id := store.GlobalID(store.TypePromotion, u.PromotionID)
	return &id
}

// ActorName tells who redeemed it.
func (u *PromotionCodeUsage) ActorName() string { return string(u.Actor) }

// ReleasedAt is nil as long as the uses are taken.
func (u *PromotionCodeUsage) ReleasedAt() *time.Time { return nonZeroTime(u.CodeUsage.ReleasedAt) }
