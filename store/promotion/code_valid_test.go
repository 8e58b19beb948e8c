package promotion_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"portico/store"
	"portico/store/promotion"
	"portico/store/promotion/code"
	"portico/store/promotion/redeem"
	"portico/store/shop"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// codeValid changes two promotions that have the same code at random. In all states, the valid
// member of each read must agree with a check without a cart and with redeeming.
func codeValid(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		backend.FullTestsOnlyOnPostgres(t)
		clock := testkit.NewClock(testkit.Noon)
		s := backend.Open(t, storetest.WithClock(clock))
		round, looks := 0, 0
		rapid.Check(t, func(r *rapid.T) {
			round++
			ctx, ids, shared := context.Background(), []string{fmt.Sprint("p", round), fmt.Sprint("q", round)}, fmt.Sprint("SHARED-", round)
			hours := func(least, most int, label string) *string {
				return new(clock.Now().Add(time.Duration(rapid.IntRange(least, most).Draw(r, label)) * time.Hour).Format(storetest.TimeFormat))
			}
			for _, id := range ids {
				change := storetest.TenPercentOff(clock.Now())
				change.Start, change.End = hours(-3, 2, "start"), hours(3, 6, "end")
				_, err := s.Promotions.Create(ctx, storetest.Actor, id, change)
				require.NoError(r, err)
			}
			for range rapid.IntRange(3, 12).Draw(r, "steps") {
				id := rapid.SampledFrom(ids).Draw(r, "promotion")
				change := promotion.Change{}
				switch rapid.IntRange(0, 6).Draw(r, "step") {
				case 0, 1:
					n := code.NewCode{Code: shared, ConsumeUnit: rapid.SampledFrom([]code.ConsumeUnit{code.PerCart, code.PerItem}).Draw(r, "unit")}
					if rapid.Bool().Draw(r, "own") {
						n.Code = fmt.Sprint(id, "-", rapid.IntRange(1, 3).Draw(r, "code"))
					}
					if rapid.Bool().Draw(r, "limited") {
						n.MaxUses = new(rapid.IntRange(1, 2).Draw(r, "uses"))
					}
					if rapid.Bool().Draw(r, "named") {
						n.User = code.OneCodeUser("u")
					}
					_, _, _ = s.Codes.Create(ctx, storetest.Actor, id, []code.NewCode{n}, "") // fails if the code is in use
				case 2:
					clock.Advance(time.Hour)
				case 3:
					change.Enabled = new(rapid.Bool().Draw(r, "enabled"))
				case 4:
					change.Automatic = new(rapid.Bool().Draw(r, "automatic"))
				case 5:
					change.End = hours(1, 4, "longer")
				case 6:
					_, _ = s.Redemptions.Redeem(ctx, storetest.Actor, redeem.CodeUse{Code: shared, User: "u", Units: 1,
						Reference: fmt.Sprint("use-", rapid.Int().Draw(r, "reference"))})
				}
				_, _ = s.Promotions.Update(ctx, storetest.Actor, id, change, false) // fails if the end is before the start
				for _, id := range ids {
					looks++
					requireValidity(r, s, id, fmt.Sprint("look-", looks))
				}
			}
		})
	}
}

func requireValidity(r *rapid.T, s *shop.Store, id, look string) {
	ctx := context.Background()
	slice, err := s.Codes.List(ctx, id, code.Filter{}, store.Sort{}, store.Page{First: new(100)})
	require.NoError(r, err)
	for _, listed := range slice.Items {
		byID, err := s.Codes.ByID(ctx, []string{listed.ID})
		require.NoError(r, err)
		require.Equal(r, listed.Valid(), byID[listed.ID].Valid(), "%s by id", listed.Code)
		found, err := s.Codes.Get(ctx, listed.Code)
		require.NoError(r, err)
		use := redeem.CodeUse{Code: listed.Code, User: "u", Units: 1, Reference: look}
		check, err := s.Redemptions.CheckCode(ctx, use, nil)
		require.NoError(r, err)
		require.Equal(r, found.Valid(), check.Valid(), "%s: %v", listed.Code, check.Refusals)
		if found.ID == listed.ID {
			require.Equal(r, listed.Valid(), found.Valid(), listed.Code)
		} else {
			require.False(r, listed.Valid(), "%s is the other promotion's", listed.Code)
		}
		_, err = s.Redemptions.Redeem(ctx, storetest.Actor, use)
		require.Equal(r, check.Valid(), err == nil, "%s: %v", listed.Code, err)
		if err == nil {
			_, err = s.Redemptions.Release(ctx, storetest.Actor, use.Reference, nil)
			require.NoError(r, err)
		}
	}
}
