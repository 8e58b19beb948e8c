// Package redeem checks and redeems promotion codes, and never more often than a code may be used.
// Service takes a CodeUse and returns a CodeCheck or a CodeUsage. It must not import
// promotion.
package redeem

import (
	"context"
	"time"

	"portico/store"
	"portico/store/db"
	"portico/store/promotion/code"
	"portico/store/promotion/rule"
)

// Service checks, redeems and releases promotion codes, and lists their usages.
type Service struct {
	db      *db.DB
	redeems *redeemQueue
}

// NewService returns a service on a database.
func NewService(d *db.DB) *Service {
	return &Service{db: d, redeems: newRedeemQueue(d)}
}

// CheckCode tells whether a code would be accepted, and changes nothing. The result may be
// outdated when the code is redeemed. It returns INVALID or UNPROCESSABLE for an invalid use. format is needed for a use
// with a cart value.
func (s *Service) CheckCode(ctx context.Context, use CodeUse, format FormatMoney) (*CodeCheck, error) {
	if err := use.Validate(0); err != nil {
		return nil, err
	}
	now := s.db.Now()
	offers, err := s.CodeOffers(ctx, []string{use.Code}, now)
	if err != nil {
		return nil, err
	}
	return offers[0].Check(use, now, format), nil
}

// CodeOffers reads codes and their promotions, with their state at a time, in two statements, or three without regard to
// case. The result
// has an offer for each text, in order.
func (s *Service) CodeOffers(ctx context.Context, texts []string, at time.Time) ([]CodeOffer, error) {
	found, err := code.FindAll(ctx, s.db, texts, at)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, c := range found {
		ids = append(ids, c.PromotionID)
	}
	offers := make([]CodeOffer, len(texts))
	if len(ids) == 0 {
		return offers, nil
	}
	byID, err := rule.ReadPromotions(ctx, s.db.Reader, at, store.Unique(ids))
	for i, text := range texts {
		if c := found[text]; c != nil && byID[c.PromotionID] != nil {
			offers[i] = CodeOffer{c, byID[c.PromotionID]}
		}
	}
	return offers, err
}

// Redeem consumes uses of a code: one of a per_cart code. A per_item code consumes as many as
// there are units, or as remain, but at least one. Concurrent redemptions never exceed the code's
// limit.
//
// It is idempotent by reference: repeated with the same user and units it returns the first
// result, even if the code is used up by then.
//
// It returns code.Refusals with every reason for a code that cannot be used: NOT_FOUND for an unknown code, CONFLICT for a
// reference that redeemed it with another user or other units, else UNPROCESSABLE, also for a reference whose uses were
// released.
func (s *Service) Redeem(ctx context.Context, actor store.Actor, use CodeUse) (*CodeUsage, error) {
	if use.Reference == "" {
		return nil, store.Unprocessablef([]string{"reference"}, "is required: 1 to 255 bytes, such as an order number")
	}
	if err := use.Validate(1); err != nil {
		return nil, err
	}
	return s.redeems.Do(ctx, s.db, actor, use)
}
