package storetest

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/promotion"
	"portico/store/promotion/code"
	"portico/store/promotion/rule"
	"portico/store/shop"
)

const (
	Day        = 24 * time.Hour
	TimeFormat = "2006-01-02T15:04:05.000Z"
)

// percentOff is a promotion that is active for a day from now.
func TenPercentOff(now time.Time) promotion.PromotionChange {
	return promotion.PromotionChange{Name: new("Ten percent"), Description: new(""), Type: new(rule.PercentDiscount), Enabled: new(true),
		Start: new(now.Format(TimeFormat)), End: new(now.Add(Day).Format(TimeFormat)), Schema: json.RawMessage(`{"percent":10}`)}
}

// deletePromotion deletes a promotion, and not only as a dry run.
func DeletePromotion(ctx context.Context, s interface {
	DeletePromotion(context.Context, store.Actor, string, bool) (promotion.PromotionDeletion, error)
}, actor store.Actor, id string) error {
	_, err := s.DeletePromotion(ctx, actor, id, false)
	return err
}

func CreatePromotion(t testing.TB, s *shop.Store, id string, now time.Time) *rule.Promotion {
	t.Helper()
	p, err := s.CreatePromotion(t.Context(), Actor, id, TenPercentOff(now))
	require.NoError(t, err)
	return p
}

// newCodes are codes without anything else.
func NewCodes(codes ...string) []code.NewCode {
	list := make([]code.NewCode, len(codes))
	for i, code := range codes {
		list[i].Code = code
	}
	return list
}

func AddCodes(s *shop.Store, promotion string, codes ...string) error {
	_, _, err := s.CreatePromotionCodes(context.Background(), Actor, promotion, NewCodes(codes...), "")
	return err
}
