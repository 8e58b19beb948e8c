package promotion_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/promotion"
	"portico/store/promotion/rule"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// promotionStates moves a promotion through scheduled, active, expired and enabled again, and
// checks its codes.
func promotionStates(d *storetest.SharedStore) func(*testing.T) {
	return func(t *testing.T) {
		s, now := d.Store, d.Clock.Now()
		change := storetest.TenPercentOff(now.Add(time.Hour)) // for a day
		_, err := s.Promotions.Create(t.Context(), storetest.Actor, "walk", change)
		require.NoError(t, err)
		require.NoError(t, storetest.AddCodes(s, "walk", "WALK"))
		stands := func(state rule.PromotionState, valid, held bool) {
			t.Helper()
			p, err := s.Promotions.Get(t.Context(), "walk")
			require.NoError(t, err)
			require.Equal(t, state, p.State)
			c, err := s.Codes.Get(t.Context(), "WALK")
			require.NoError(t, err)
			require.Equal(t, []any{"walk", valid, held}, []any{c.PromotionID, c.Valid(), c.Held})
			slice, err := s.Promotions.List(t.Context(), promotion.Filter{States: []rule.PromotionState{state}}, store.ListQuery{})
			require.NoError(t, err)
			require.Len(t, slice.Items, 1, "the list filters by the same state")
		}
		stands(rule.PromotionScheduled, false, true)
		storetest.CreatePromotion(t, s, "other", now)
		requireDuplicate(t, storetest.AddCodes(s, "other", "WALK"), "codes.0.code")
		d.Clock.Set(now.Add(time.Hour))
		require.NoError(t, storetest.DeletePromotion(t.Context(), s, storetest.Actor, "other"))
		stands(rule.PromotionActive, true, true)
		_, err = s.Promotions.Update(t.Context(), storetest.Actor, "walk", promotion.Change{Enabled: new(false)}, false)
		require.NoError(t, err)
		stands(rule.PromotionDisabled, false, true)
		_, err = s.Promotions.Update(t.Context(), storetest.Actor, "walk", promotion.Change{Enabled: new(true)}, false)
		require.NoError(t, err)
		stands(rule.PromotionActive, true, true)
		d.Clock.Set(now.Add(25*time.Hour - time.Millisecond))
		stands(rule.PromotionActive, true, true)
		d.Clock.Set(now.Add(25 * time.Hour))
		stands(rule.PromotionExpired, false, true)
		_, _, err = s.Codes.Create(t.Context(), storetest.Actor, "walk", storetest.NewCodes("LATE"), "")
		storetest.RequireError(t, err, store.Unprocessable, "promotion_id", "ended at", "future")

		for _, change := range []promotion.Change{{Enabled: new(false)}, {Enabled: new(true)}, {Start: new("2024-01-01")}} {
			update, err := s.Promotions.Update(t.Context(), storetest.Actor, "walk", change, false)
			require.NoError(t, err)
			require.Zero(t, update.CodesDeleted, "its end is still past")
			stands(rule.PromotionExpired, false, true)
		}
		update, err := s.Promotions.Update(t.Context(), storetest.Actor, "walk",
			promotion.Change{End: new(now.Add(50 * time.Hour).Format(storetest.TimeFormat))}, false)
		require.NoError(t, err)
		require.Equal(t, []any{1, rule.PromotionActive}, []any{update.CodesDeleted, update.Promotion.State})
		_, err = s.Codes.Get(t.Context(), "WALK")
		storetest.RequireError(t, err, store.NotFound, "", "no promotion code")
		require.Empty(t, codesOf(t, s, "walk"))
		require.NoError(t, storetest.AddCodes(s, "walk", "WALK"), "the code is free again")
		stands(rule.PromotionActive, true, true)

		require.Equal(t, 2, storetest.CountRows(t, d.DB, "promotion_code"), "a worker deletes the old code later")
		worker, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); s.Jobs.Work(worker) }()
		testkit.Eventually(t, 0, func() int { return storetest.CountRows(t, d.DB, "promotion_purge") })
		stop()
		<-done
		require.Equal(t, 1, storetest.CountRows(t, d.DB, "promotion_code"))
		require.Equal(t, 1, storetest.CountRows(t, d.DB, "code_claim"))
		stands(rule.PromotionActive, true, true)
	}
}

func promotionDryRun(d *storetest.SharedStore) func(*testing.T) {
	return func(t *testing.T) {
		s, now := d.Store, d.Clock.Now()
		storetest.CreatePromotion(t, s, "dry", now)
		require.NoError(t, storetest.AddCodes(s, "dry", "A", "B", "C"))
		d.Clock.Advance(2 * testkit.Day)
		before := storetest.Export(t, s)
		change := promotion.Change{Name: new("Again"), End: new(now.Add(9 * testkit.Day).Format(storetest.TimeFormat))}
		update, err := s.Promotions.Update(t.Context(), storetest.Actor, "dry", change, true)
		require.NoError(t, err)
		require.Equal(t, []any{3, "Again", rule.PromotionActive}, []any{update.CodesDeleted, update.Promotion.Name, update.Promotion.State})
		require.Equal(t, before, storetest.Export(t, s))
		require.Len(t, codesOf(t, s, "dry"), 3)
		_, err = s.Promotions.Update(t.Context(), storetest.Actor, "dry", promotion.Change{End: new("never")}, true)
		storetest.RequireError(t, err, store.Invalid, "end", "must be a date")
		update, err = s.Promotions.Update(t.Context(), storetest.Actor, "dry", change, false)
		require.NoError(t, err)
		require.Equal(t, 3, update.CodesDeleted, "as many as the dry run returned")
		require.Empty(t, codesOf(t, s, "dry"))
	}
}

func promotionAutomatic(d *storetest.SharedStore) func(*testing.T) {
	return func(t *testing.T) {
		s, now := d.Store, d.Clock.Now()
		change := storetest.TenPercentOff(now)
		change.Automatic = new(true)
		_, err := s.Promotions.Create(t.Context(), storetest.Actor, "auto", change)
		require.NoError(t, err)
		require.Equal(t, []string{"auto_auto"}, codesOf(t, s, "auto"))
		err = storetest.AddCodes(s, "auto", "MINE")
		require.Equal(t, store.Errors{{Code: store.Unprocessable, Title: "No codes allowed",
			Path: []string{"promotion_id"}, Detail: "Cannot add codes to an automatic promotion", Documented: true, Reason: store.CodesNotAllowed}}, store.AsErrors(err))
		_, err = s.Codes.Delete(t.Context(), storetest.Actor, "auto", []string{"auto_auto"})
		storetest.RequireError(t, err, store.Unprocessable, "codes.0", "must not be the code of an automatic promotion")

		update, err := s.Promotions.Update(t.Context(), storetest.Actor, "auto", promotion.Change{Automatic: new(false)}, false)
		require.NoError(t, err)
		require.Equal(t, 1, update.CodesDeleted)
		require.Empty(t, codesOf(t, s, "auto"))
		require.NoError(t, storetest.AddCodes(s, "auto", "MINE"))
		update, err = s.Promotions.Update(t.Context(), storetest.Actor, "auto", promotion.Change{Automatic: new(true)}, true)
		require.NoError(t, err)
		require.Equal(t, 1, update.CodesDeleted, "a dry run")
		require.Equal(t, []string{"MINE"}, codesOf(t, s, "auto"))
		update, err = s.Promotions.Update(t.Context(), storetest.Actor, "auto", promotion.Change{Automatic: new(true)}, false)
		require.NoError(t, err)
		require.Equal(t, 1, update.CodesDeleted)
		require.Equal(t, []string{"auto_auto"}, codesOf(t, s, "auto"), "it has no codes of its own")
		storetest.CreatePromotion(t, s, "heir", d.Clock.Now())
		require.NoError(t, storetest.AddCodes(s, "heir", "MINE"), "the code is free")

		d.Clock.Advance(2 * testkit.Day)
		_, err = s.Promotions.Update(t.Context(), storetest.Actor, "auto",
			promotion.Change{End: new(d.Clock.Now().Add(testkit.Day).Format(storetest.TimeFormat))}, false)
		require.NoError(t, err)
		require.Equal(t, []string{"auto_auto"}, codesOf(t, s, "auto"), "a new code, without the others")
		c, err := s.Codes.Get(t.Context(), "auto_auto")
		require.NoError(t, err)
		require.True(t, c.Valid())

		storetest.CreatePromotion(t, s, "taker", d.Clock.Now())
		require.NoError(t, storetest.AddCodes(s, "taker", "auto_late"))
		change = storetest.TenPercentOff(d.Clock.Now())
		change.Automatic = new(true)
		_, err = s.Promotions.Create(t.Context(), storetest.Actor, "late", change)
		storetest.RequireError(t, err, store.Unprocessable, "automatic", `"auto_late"`, "another promotion")
	}
}

func promotionRemoved(d *storetest.SharedStore) func(*testing.T) {
	return func(t *testing.T) {
		s := d.Store
		storetest.Import(t, s, storetest.JoinLines(storetest.ShopLine("promotion", "ten-off"), storetest.ShopLine("promotion_code", "code-1"),
			storetest.ShopLine("promotion_code", "code-2")))
		require.NoError(t, storetest.DeletePromotion(t.Context(), s, storetest.Actor, "ten-off"))
		storetest.CreatePromotion(t, s, "next", d.Clock.Now())
		require.NoError(t, storetest.AddCodes(s, "next", "TEN-OFF"), "its codes are free at once")
		require.NoError(t, s.Sweep(t.Context()))
		for table, want := range map[string]int{"promotion": 1, "promotion_code": 1, "code_claim": 1, "code_usage": 0, "promotion_purge": 0,
			"promotion_archive": 0} {
			require.Equal(t, want, storetest.CountRows(t, d.DB, table), table)
		}
		c, err := s.Codes.Get(t.Context(), "TEN-OFF")
		require.NoError(t, err)
		require.Equal(t, []any{"next", true}, []any{c.PromotionID, c.Held}, "the sweep keeps the claim of the next promotion")
	}
}
