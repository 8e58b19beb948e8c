package promotion_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/exchange"
	"portico/store/promotion"
	"portico/store/promotion/code"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

func codesLifecycle(d *storetest.SharedStore) func(*testing.T) {
	return func(t *testing.T) {
		s, now := d.Store, d.Clock.Now()
		storetest.CreatePromotion(t, s, "p", now)
		p, codes, err := s.Codes.Create(t.Context(), storetest.Actor, "p", []code.NewCode{
			{Code: "b", MaxUses: new(5), ConsumeUnit: code.PerCart, User: code.Users([]string{"u1", "u2"})},
			{Code: "B", User: code.OneCodeUser("u1")}, {}, {Code: "é", User: code.Users([]string{"u1"})}}, code.PerItem)
		require.NoError(t, err)
		require.Equal(t, "p", p.ID)
		require.Len(t, codes, 4)
		require.Regexp(t, `^[0-9A-HJKMNP-TV-Z]{4}(-[0-9A-HJKMNP-TV-Z]{4}){2}$`, codes[2].Code)
		for i, want := range []struct {
			code  string
			unit  code.ConsumeUnit
			users []string
			json  string
		}{{"b", code.PerCart, []string{"u1", "u2"}, `["u1","u2"]`}, {"B", code.PerItem, []string{"u1"}, `"u1"`},
			{codes[2].Code, code.PerItem, nil, `null`}, {"é", code.PerItem, []string{"u1"}, `["u1"]`}} {
			c, err := s.Codes.Get(t.Context(), want.code)
			require.NoError(t, err)
			require.Equal(t, c, codes[i], "created and read codes are equal")
			require.Equal(t, []any{want.code, want.unit, want.users, want.json, true, now},
				[]any{c.Code, c.ConsumeUnit, c.Users(), string(c.User.AppendJSON(nil)), c.Valid(), *c.CreatedAt})
		}
		require.Equal(t, []any{new(5), new(5)}, []any{codes[0].MaxUses, codes[0].RemainingUses()})
		require.Nil(t, codes[1].RemainingUses())
		byID, err := s.Codes.ByID(t.Context(), []string{codes[0].ID, "none"})
		require.NoError(t, err)
		require.Equal(t, map[string]*code.PromotionCode{codes[0].ID: codes[0]}, byID)

		d.Clock.Advance(time.Minute)
		require.NoError(t, storetest.AddCodes(s, "p", "a"))
		for _, by := range []store.Sort{{}, {Descending: true}, {By: store.SortCreatedAt}, {By: store.SortCreatedAt, Descending: true}} {
			all, err := s.Codes.List(t.Context(), "p", code.Filter{}, by, store.Page{})
			require.NoError(t, err)
			var paged []*code.PromotionCode
			for after := (*string)(nil); ; {
				page, err := s.Codes.List(t.Context(), "p", code.Filter{}, by, store.Page{First: new(2), After: after})
				require.NoError(t, err)
				paged = append(paged, page.Items...)
				if !page.HasNext {
					break
				}
				after = &page.Cursors()[len(page.Cursors())-1]
			}
			require.Equal(t, all.Items, paged)
			want := slices.Sorted(slices.Values([]string{codes[2].Code, "B", "b", "é"}))
			if by.By == store.SortCreatedAt {
				want = append(want, "a") // created a minute later
			} else {
				want = slices.Sorted(slices.Values(append(want, "a")))
			}
			if by.Descending {
				slices.Reverse(want)
			}
			var got []string
			for _, c := range all.Items {
				got = append(got, c.Code)
			}
			require.Equal(t, want, got, "%v", by)
			total, err := all.Total(t.Context())
			require.NoError(t, err)
			require.Equal(t, 5, total)
		}
		some, err := s.Codes.List(t.Context(), "p", code.Filter{Codes: []string{"b", "a", "none", "\x00"}}, store.Sort{}, store.Page{})
		require.NoError(t, err)
		require.Len(t, some.Items, 2)
		_, err = s.Codes.List(t.Context(), "nowhere", code.Filter{}, store.Sort{}, store.Page{})
		storetest.RequireError(t, err, store.NotFound, "", "no promotion")

		_, err = s.Codes.Delete(t.Context(), storetest.Actor, "p", []string{"a", "none", "b", "\x00"})
		require.Len(t, store.AsErrors(err), 2)
		storetest.RequireError(t, err, store.NotFound, "codes.1", `"none"`)
		require.Len(t, codesOf(t, s, "p"), 5, "all or none")
		n, err := s.Codes.Delete(t.Context(), storetest.Actor, "p", []string{"a", "b", "a"})
		require.NoError(t, err)
		require.Equal(t, 2, n)
		_, err = s.Codes.Get(t.Context(), "a")
		storetest.RequireError(t, err, store.NotFound, "", "no promotion code")
		storetest.CreatePromotion(t, s, "q", d.Clock.Now())
		require.NoError(t, storetest.AddCodes(s, "q", "a", "b"), "the codes are free at once")
		_, err = s.Codes.Delete(t.Context(), storetest.Actor, "nowhere", []string{"a"})
		storetest.RequireError(t, err, store.NotFound, "promotion_id", "does not exist")
	}
}

func codesRefused(d *storetest.SharedStore) func(*testing.T) {
	return func(t *testing.T) {
		s := d.Store
		storetest.CreatePromotion(t, s, "p", d.Clock.Now())
		storetest.CreatePromotion(t, s, "q", d.Clock.Now())
		require.NoError(t, storetest.AddCodes(s, "q", "taken"))
		require.NoError(t, storetest.AddCodes(s, "p", "own"))
		before := storetest.Export(t, s)
		requireDuplicate(t, storetest.AddCodes(s, "p", "z", "taken", "y", "own", "y", "x", "z"), "codes.1.code", "codes.3.code", "codes.4.code",
			"codes.6.code")
		refused := store.AsErrors(storetest.AddCodes(s, "p", "z", "taken", "y", "own", "y"))
		require.Equal(t, []string{`Promotion code already in use: "taken"`, `Promotion code already in use: "own"`, `codes.4.code is in the request twice: "y" is codes.2 too. Send it once.`},
			[]string{refused[0].Error(), refused[1].Error(), refused[2].Error()})
		_, _, err := s.Codes.Create(t.Context(), storetest.Actor, "p", nil, "")
		storetest.RequireError(t, err, store.Unprocessable, "codes", "is required")
		_, _, err = s.Codes.Create(t.Context(), storetest.Actor, "p", make([]code.NewCode, code.MaxCodesPerRequest+1), "")
		storetest.RequireError(t, err, store.Unprocessable, "codes", "at most 10000")
		_, _, err = s.Codes.Create(t.Context(), storetest.Actor, "nowhere", nil, "")
		storetest.RequireError(t, err, store.NotFound, "promotion_id", `"nowhere"`)
		require.Equal(t, before, storetest.Export(t, s), "nothing was written")
	}
}

// codesMaximum creates the maximum number of codes of a request. It takes few statements, and one
// duplicate undoes all.
func codesMaximum(d *storetest.SharedStore) func(*testing.T) {
	return func(t *testing.T) {
		d.Backend.FullTestsOnlyOnPostgres(t)
		s := d.Store
		storetest.CreatePromotion(t, s, "p", d.Clock.Now())
		ctx, counter := store.CountStatements(t.Context())
		_, codes, err := s.Codes.Create(ctx, storetest.Actor, "p", make([]code.NewCode, code.MaxCodesPerRequest), "")
		require.NoError(t, err)
		require.Len(t, codes, code.MaxCodesPerRequest)
		require.Less(t, counter.Count(), 120)
		require.Equal(t, code.MaxCodesPerRequest, storetest.CountRows(t, d.DB, "promotion_code"))

		storetest.CreatePromotion(t, s, "q", d.Clock.Now())
		again := make([]code.NewCode, code.MaxCodesPerRequest)
		again[7654].Code = codes[1234].Code
		_, _, err = s.Codes.Create(t.Context(), storetest.Actor, "q", again, "")
		requireDuplicate(t, err, "codes.7654.code")
		require.Equal(t, code.MaxCodesPerRequest, storetest.CountRows(t, d.DB, "promotion_code"))
		require.Equal(t, code.MaxCodesPerRequest, storetest.CountRows(t, d.DB, "code_claim"))

		d.Clock.Advance(2 * testkit.Day)
		update, err := s.Promotions.Update(t.Context(), storetest.Actor, "p",
			promotion.Change{End: new(d.Clock.Now().Add(testkit.Day).Format(storetest.TimeFormat))}, false)
		require.NoError(t, err)
		require.Equal(t, code.MaxCodesPerRequest, update.CodesDeleted)
		require.NoError(t, s.Sweep(t.Context()), "in several batches")
		require.Zero(t, storetest.CountRows(t, d.DB, "promotion_code"))
		require.Zero(t, storetest.CountRows(t, d.DB, "code_claim"))
	}
}

func codesStatements(d *storetest.SharedStore) func(*testing.T) {
	return func(t *testing.T) {
		s := d.Store
		storetest.CreatePromotion(t, s, "p", d.Clock.Now())
		_, codes, err := s.Codes.Create(t.Context(), storetest.Actor, "p", make([]code.NewCode, 100), "")
		require.NoError(t, err)
		var ids []string
		for _, c := range codes {
			ids = append(ids, c.ID)
		}
		_, err = s.Settings.Get(t.Context()) // cached from now on
		require.NoError(t, err)
		for _, size := range []int{1, 100} {
			ctx, counter := store.CountStatements(t.Context())
			_, err := s.Codes.List(ctx, "p", code.Filter{}, store.Sort{}, store.Page{First: &size})
			require.NoError(t, err)
			require.Equal(t, 2, counter.Count(), "%q", counter.Queries())
			ctx, counter = store.CountStatements(t.Context())
			_, err = s.Codes.ByID(ctx, ids[:size])
			require.NoError(t, err)
			require.Equal(t, 2, counter.Count(), "%q", counter.Queries())
			ctx, counter = store.CountStatements(t.Context())
			_, err = s.Promotions.List(ctx, promotion.Filter{}, store.ListQuery{Page: store.Page{First: &size}})
			require.NoError(t, err)
			require.Equal(t, 1, counter.Count(), "%q", counter.Queries())
		}
	}
}

func codesImported(d *storetest.SharedStore) func(*testing.T) {
	return func(t *testing.T) {
		s := d.Store
		storetest.Import(t, s, storetest.ShopFile)
		text := storetest.Export(t, s)
		_, err := s.Exchange.Import(t.Context(), storetest.Actor, storetest.Source(storetest.JoinLines("",
			strings.ReplaceAll(storetest.ShopLine("promotion", "ten-off"), `"ten-off"`, `"other"`),
			`{"type":"promotion_code","id":"code-9","promotion_id":"other","code":"TEN-OFF"}`)), exchange.ImportOptions{})
		errs := storetest.ImportErrors(t, err)
		require.Equal(t, []any{3, "promotion_code", "code"}, []any{errs[0].Line, errs[0].Type, strings.Join(errs[0].Err.Path, ".")})
		require.ErrorContains(t, err, "in use by another promotion")
		require.NoError(t, storetest.DeletePromotion(t.Context(), s, storetest.Actor, "other")) // imported before its code failed
		require.Equal(t, text, storetest.Export(t, s))

		storetest.Import(t, s, storetest.JoinLines(strings.Replace(storetest.ShopLine("promotion_code", "code-2"), `"code":"ten-off"`,
			`"code":"renamed"`, 1)))
		require.Equal(t, []string{"TEN-OFF", "renamed"}, codesOf(t, s, "ten-off"), "the ID identifies a code")
		storetest.Import(t, s, text)
		require.Equal(t, text, storetest.Export(t, s))

		d.Clock.Set(time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC))
		storetest.Import(t, s, storetest.JoinLines(strings.Replace(storetest.ShopLine("promotion", "ten-off"), `2026-12-31`, `2027-12-31`, 1)))
		require.Empty(t, codesOf(t, s, "ten-off"), "an import that moves the end into the future removes old codes")
		storetest.Import(t, s, storetest.JoinLines(storetest.ShopLine("promotion_code", "code-1")))
		require.Equal(t, []string{"TEN-OFF"}, codesOf(t, s, "ten-off"))
		require.Contains(t, storetest.Export(t, s), storetest.ShopLine("promotion_code", "code-1"))
		d.Clock.Set(testkit.Noon)
	}
}
