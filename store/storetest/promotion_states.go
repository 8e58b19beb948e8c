package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/promotion"
	rulex "portico/store/promotion/rule"
	"portico/store/shop"
)

// promotionWalk goes through scheduled, active, expired and enabled again,
// with what becomes of the codes.
func promotionWalk(d *desk) func(*testing.T) {
	return func(t *testing.T) {
		s, now := d.Store, d.clock.Now()
		change := percentOff(now.Add(time.Hour)) // for a day
		_, err := s.CreatePromotion(t.Context(), actor, "walk", change)
		require.NoError(t, err)
		require.NoError(t, addCodes(s, "walk", "WALK"))
		stands := func(state rulex.PromotionState, valid, held bool) {
			t.Helper()
			p, err := s.Promotion(t.Context(), "walk")
			require.NoError(t, err)
			require.Equal(t, state, p.State)
			c, err := s.PromotionCode(t.Context(), "WALK")
			require.NoError(t, err)
			require.Equal(t, []any{"walk", valid, held}, []any{c.PromotionID, c.Valid(), c.Held})
			slice, err := s.Promotions(t.Context(), promotion.PromotionFilter{States: []rulex.PromotionState{state}}, store.ListQuery{})
			require.NoError(t, err)
			require.Len(t, slice.Items, 1, "the list says the same")
		}
		stands(rulex.PromotionScheduled, false, true)
		made(t, s, "other", now)
		requireDuplicate(t, addCodes(s, "other", "WALK"), "codes.0.code")
		d.clock.Set(now.Add(time.Hour))
		require.NoError(t, deletePromotion(t.Context(), s, actor, "other"))
		stands(rulex.PromotionActive, true, true)
		_, err = s.UpdatePromotion(t.Context(), actor, "walk", promotion.PromotionChange{Enabled: ptr(false)}, false)
		require.NoError(t, err)
		stands(rulex.PromotionDisabled, false, true)
		_, err = s.UpdatePromotion(t.Context(), actor, "walk", promotion.PromotionChange{Enabled: ptr(true)}, false)
		require.NoError(t, err)
		stands(rulex.PromotionActive, true, true)
		d.clock.Set(now.Add(25*time.Hour - time.Millisecond))
		stands(rulex.PromotionActive, true, true)
		d.clock.Set(now.Add(25 * time.Hour))
		stands(rulex.PromotionExpired, false, true)
		_, _, err = s.CreatePromotionCodes(t.Context(), actor, "walk", newCodes("LATE"), "")
		requireFault(t, err, store.Unprocessable, "", "ended at", "future")

		for _, change := range []promotion.PromotionChange{{Enabled: ptr(false)}, {Enabled: ptr(true)}, {Start: ptr("2024-01-01")}} {
			update, err := s.UpdatePromotion(t.Context(), actor, "walk", change, false)
			require.NoError(t, err)
			require.Zero(t, update.CodesDeleted, "its end stays past")
			stands(rulex.PromotionExpired, false, true)
		}
		update, err := s.UpdatePromotion(t.Context(), actor, "walk", promotion.PromotionChange{End: ptr(now.Add(50 * time.Hour).Format(date))}, false)
		require.NoError(t, err)
		require.Equal(t, []any{1, rulex.PromotionActive}, []any{update.CodesDeleted, update.Promotion.State})
		_, err = s.PromotionCode(t.Context(), "WALK")
		requireFault(t, err, store.NotFound, "", "no promotion code")
		require.Empty(t, codesOf(t, s, "walk"))
		require.NoError(t, addCodes(s, "walk", "WALK"), "the code is free again")
		stands(rulex.PromotionActive, true, true)

		require.Equal(t, 2, count(t, d.db, "promotion_code"), "a worker takes the old one")
		worker, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); s.Work(worker) }()
		Soon(t, 0, func() int { return count(t, d.db, "promotion_purge") })
		stop()
		<-done
		require.Equal(t, 1, count(t, d.db, "promotion_code"))
		require.Equal(t, 1, count(t, d.db, "code_claim"))
		stands(rulex.PromotionActive, true, true)
	}
}

// codesOf are a promotion's codes, as the list has them.
func codesOf(t testing.TB, s *shop.Store, promotion string) (codes []string) {
	t.Helper()
	slice, err := s.PromotionCodes(t.Context(), promotion, nil, store.Sort{}, store.Page{First: ptr(100)})
	require.NoError(t, err)
	for _, c := range slice.Items {
		codes = append(codes, c.Code)
	}
	return codes
}

func promotionDryRun(d *desk) func(*testing.T) {
	return func(t *testing.T) {
		s, now := d.Store, d.clock.Now()
		made(t, s, "dry", now)
		require.NoError(t, addCodes(s, "dry", "A", "B", "C"))
		d.clock.Advance(2 * day)
		before := exported(t, s)
		change := promotion.PromotionChange{Name: ptr("Again"), End: ptr(now.Add(9 * day).Format(date))}
		update, err := s.UpdatePromotion(t.Context(), actor, "dry", change, true)
		require.NoError(t, err)
		require.Equal(t, []any{3, "Again", rulex.PromotionActive}, []any{update.CodesDeleted, update.Promotion.Name, update.Promotion.State})
		require.Equal(t, before, exported(t, s))
		require.Len(t, codesOf(t, s, "dry"), 3)
		_, err = s.UpdatePromotion(t.Context(), actor, "dry", promotion.PromotionChange{End: ptr("never")}, true)
		requireFault(t, err, store.Invalid, "end", "must be a date")
		update, err = s.UpdatePromotion(t.Context(), actor, "dry", change, false)
		require.NoError(t, err)
		require.Equal(t, 3, update.CodesDeleted, "as it was foretold")
		require.Empty(t, codesOf(t, s, "dry"))
	}
}

func promotionAutomatic(d *desk) func(*testing.T) {
	return func(t *testing.T) {
		s, now := d.Store, d.clock.Now()
		change := percentOff(now)
		change.Automatic = ptr(true)
		_, err := s.CreatePromotion(t.Context(), actor, "auto", change)
		require.NoError(t, err)
		require.Equal(t, []string{"auto_auto"}, codesOf(t, s, "auto"))
		err = addCodes(s, "auto", "MINE")
		require.Equal(t, store.Errors{{Code: store.Unprocessable, Title: "No codes allowed", Detail: "Cannot add codes to an automatic promotion", Documented: true, Reason: store.CodesNotAllowed}}, store.AsErrors(err))
		_, err = s.DeletePromotionCodes(t.Context(), actor, "auto", []string{"auto_auto"})
		requireFault(t, err, store.Unprocessable, "codes.0", "automatic code")

		update, err := s.UpdatePromotion(t.Context(), actor, "auto", promotion.PromotionChange{Automatic: ptr(false)}, false)
		require.NoError(t, err)
		require.Equal(t, 1, update.CodesDeleted)
		require.Empty(t, codesOf(t, s, "auto"))
		require.NoError(t, addCodes(s, "auto", "MINE"))
		_, err = s.UpdatePromotion(t.Context(), actor, "auto", promotion.PromotionChange{Automatic: ptr(true)}, false)
		require.NoError(t, err)
		require.Equal(t, []string{"MINE", "auto_auto"}, codesOf(t, s, "auto"), "the codes it had stay")

		d.clock.Advance(2 * day)
		_, err = s.UpdatePromotion(t.Context(), actor, "auto", promotion.PromotionChange{End: ptr(d.clock.Now().Add(day).Format(date))}, false)
		require.NoError(t, err)
		require.Equal(t, []string{"auto_auto"}, codesOf(t, s, "auto"), "a new one, and the others are gone")
		c, err := s.PromotionCode(t.Context(), "auto_auto")
		require.NoError(t, err)
		require.True(t, c.Valid())

		made(t, s, "taker", d.clock.Now())
		require.NoError(t, addCodes(s, "taker", "auto_late"))
		change = percentOff(d.clock.Now())
		change.Automatic = ptr(true)
		_, err = s.CreatePromotion(t.Context(), actor, "late", change)
		requireFault(t, err, store.Unprocessable, "automatic", `"auto_late"`, "another promotion")
	}
}

func promotionRemoved(d *desk) func(*testing.T) {
	return func(t *testing.T) {
		s := d.Store
		imported(t, s, ndjson(line("promotion", "ten-off"), line("promotion_code", "code-1"), line("promotion_code", "code-2")))
		require.NoError(t, deletePromotion(t.Context(), s, actor, "ten-off"))
		made(t, s, "next", d.clock.Now())
		require.NoError(t, addCodes(s, "next", "TEN-OFF"), "its codes are free at once")
		require.NoError(t, s.Sweep(t.Context()))
		for table, want := range map[string]int{"promotion": 1, "promotion_code": 1, "code_claim": 1, "code_usage": 0, "promotion_purge": 0, "promotion_archive": 0} {
			require.Equal(t, want, count(t, d.db, table), table)
		}
		c, err := s.PromotionCode(t.Context(), "TEN-OFF")
		require.NoError(t, err)
		require.Equal(t, []any{"next", true}, []any{c.PromotionID, c.Held}, "the sweep left the claim that was taken over")
	}
}
