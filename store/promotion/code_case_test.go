package promotion_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"portico/store"
	"portico/store/exchange"
	"portico/store/promotion/code"
	"portico/store/promotion/redeem"
	"portico/store/settings"
	"portico/store/shop"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

func TestCodeCase(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		t.Run("a new shop", func(t *testing.T) {
			s, err := shop.Open(t.Context(), shop.Config{URL: backend.BlankURL(t), Synchronous: "OFF"})
			require.NoError(t, err)
			defer s.Close()
			found, err := s.Settings.Get(t.Context())
			require.NoError(t, err)
			require.True(t, found.CodesIgnoreCase)
		})
		d := storetest.NewSharedStore(t, backend)
		d.Run(t, "any casing finds a code", anyCasing)
		d.Run(t, "conflicts", caseConflicts)
		d.Run(t, "imports", caseImports)
		d.Run(t, "switching", switchCase)
		d.Run(t, "races", caseRaces)
	})
}

// ignoreCase switches the setting.
func ignoreCase(ctx context.Context, s *shop.Store, on bool) error {
	_, err := s.Settings.Update(ctx, storetest.Actor, settings.Change{CodesIgnoreCase: &on})
	return err
}

// drawCasing draws another casing of a text.
func drawCasing(r *rapid.T, text string) string {
	return strings.Map(func(c rune) rune {
		for range rapid.IntRange(0, 2).Draw(r, "fold") {
			c = unicode.SimpleFold(c)
		}
		return c
	}, text)
}

// anyCasing: with the setting on every casing of a code finds it, and with it off only the exact one.
func anyCasing(d *storetest.SharedStore) func(*testing.T) {
	return func(t *testing.T) {
		d.Backend.FullTestsOnlyOnPostgres(t)
		n, ctx := 0, t.Context()
		rapid.Check(t, func(r *rapid.T) {
			n++
			storetest.DeleteAllRows(r, d.DB)
			on := rapid.Bool().Draw(r, "on")
			before := rapid.Bool().Draw(r, "codes come before the switch")
			written := "x" + rapid.StringMatching(`[a-cA-CsSkß\x{17f}\x{212a}é1]{1,6}`).Draw(r, "code")
			id := fmt.Sprint("p", n)
			if !before {
				require.NoError(r, ignoreCase(ctx, d.Store, on))
			}
			storetest.CreatePromotion(t, d.Store, id, d.Clock.Now())
			require.NoError(r, storetest.AddCodes(d.Store, id, written, "OTHER"))
			require.NoError(r, ignoreCase(ctx, d.Store, on))
			asked := drawCasing(r, written)
			finds := asked == written || on

			found, err := d.Codes.Get(ctx, asked)
			require.Equal(r, finds, err == nil, "%q for %q: %v", asked, written, err)
			require.True(r, !finds || found.Code == written && found.Held)
			check, err := d.Redemptions.CheckCode(ctx, redeem.CodeUse{Code: asked, Units: 1}, nil)
			require.NoError(r, err)
			require.Equal(r, finds, check.Valid())
			list, err := d.Codes.List(ctx, id, code.Filter{Codes: []string{asked}}, store.Sort{}, store.Page{First: new(10)})
			require.NoError(r, err)
			require.Equal(r, finds, len(list.Items) == 1)
			usage, err := d.Redemptions.Redeem(ctx, storetest.Actor, redeem.CodeUse{Code: asked, Units: 1, Reference: id})
			require.Equal(r, finds, err == nil, "%v", err)
			if finds {
				require.Equal(r, written, usage.Code)
				again, err := d.Redemptions.Redeem(ctx, storetest.Actor, redeem.CodeUse{Code: drawCasing(r, asked), Units: 1, Reference: id})
				require.Equal(r, on || again != nil, err == nil)
				require.True(r, err != nil || again.ID == usage.ID, "the same reference redeems once")
				usages, err := d.Redemptions.CodeUsages(ctx, redeem.UsageFilter{PromotionID: &id, Code: &asked}, store.ListQuery{Page: store.Page{First: new(10)}})
				require.NoError(r, err)
				require.Len(r, usages.Items, 1)
			}
			released, err := d.Redemptions.Release(ctx, storetest.Actor, id, &asked)
			require.Equal(r, finds, err == nil, "%v", err)
			require.True(r, !finds || len(released) == 1 && released[0].Released())
			deleted, err := d.Codes.Delete(ctx, storetest.Actor, id, []string{asked})
			require.Equal(r, finds, err == nil && deleted == 1, "%v", err)
			require.Equal(r, finds, storetest.AddCodes(d.Store, id, written) == nil, "the code is free again")
		})
	}
}

func caseConflicts(d *storetest.SharedStore) func(*testing.T) {
	return func(t *testing.T) {
		require.NoError(t, ignoreCase(t.Context(), d.Store, false)) // reads the settings again
		require.NoError(t, ignoreCase(t.Context(), d.Store, true))
		for _, id := range []string{"p", "q"} {
			storetest.CreatePromotion(t, d.Store, id, d.Clock.Now())
		}
		require.NoError(t, storetest.AddCodes(d.Store, "p", "Save", "TEN"))
		for _, codes := range [][]string{{"SAVE"}, {"save"}, {"A", "ten"}, {"x", "X"}} {
			for _, id := range []string{"p", "q"} {
				err := storetest.AddCodes(d.Store, id, codes...)
				require.ErrorContains(t, err, "they differ only in case, which the settings ignore", codes)
				require.ErrorContains(t, err, fmt.Sprintf("must not be %q", codes[len(codes)-1]))
				require.Equal(t, codes[0] == "x", strings.Contains(err.Error(), `codes.0 is "x", they differ`), "of the request, or of the store")
				require.Equal(t, store.DuplicateCode, store.AsErrors(err)[0].Reason)
			}
		}
		require.ErrorContains(t, storetest.AddCodes(d.Store, "q", "SAVE"), `the code "Save" exists`)
		require.ErrorContains(t, storetest.AddCodes(d.Store, "q", "Save"), "already in use")
		require.Equal(t, 2, storetest.CodesTotal(t, t.Context(), d.Store, "p"))
		require.Zero(t, storetest.CodesTotal(t, t.Context(), d.Store, "q"), "nothing is half-written")

		d.Clock.Advance(2 * testkit.Day) // p and q end
		storetest.CreatePromotion(t, d.Store, "r", d.Clock.Now())
		require.NoError(t, storetest.AddCodes(d.Store, "r", "sAVE"), "of a promotion that has ended")
		found, err := d.Codes.Get(t.Context(), "Save")
		require.NoError(t, err)
		require.Equal(t, []string{"r", "sAVE"}, []string{found.PromotionID, found.Code}, "the held one")
		_, err = d.Codes.Delete(t.Context(), storetest.Actor, "p", []string{"SAVE"})
		require.NoError(t, err, "of that promotion")
		found, err = d.Codes.Get(t.Context(), "Save")
		require.NoError(t, err)
		require.True(t, found.PromotionID == "r" && found.Held)
	}
}

// caseImports: a file switches the setting before its other lines are written, unless codes of the store differ in case
// alone. Codes of the file fail where they are written.
func caseImports(d *storetest.SharedStore) func(*testing.T) {
	return func(t *testing.T) {
		ignore := func(on bool) string {
			return fmt.Sprintf(`{"type":"settings","page_length":25,"currency":"USD","locale":"en","codes_ignore_case":%t}`, on)
		}
		p, q, ten, other := storetest.PromotionLine("p", ""), storetest.PromotionLine("q", ""), storetest.CodeLine("p", "ten", ""), storetest.CodeLine("q", "TEN", "")
		ended := strings.Replace(p, "2100-01-01", "2024-01-02", 1)
		for _, test := range []struct {
			name   string
			stored []string // with the setting off
			file   []string
			fault  string
			on     bool // afterwards
		}{
			{"both in the store", []string{p, q, ten, other}, []string{q, ignore(true)}, `line 2: settings: codes_ignore_case cannot be true: the codes "TEN" and "ten" differ only in case`, false},
			{"one in the store", []string{p, ten}, []string{q, other, ignore(true)}, `line 2: promotion_code: code must not be "TEN": the code "ten" exists, they differ only in case`, true},
			{"none in the store", nil, []string{ignore(true), p, q, ten, other}, `must not be`, true},
			{"the same code in another case", []string{p, ten}, []string{ignore(true), strings.Replace(storetest.CodeLine("p", "TEN", ""), "id-TEN", "id-ten", 1)}, "", true},
			{"of a promotion that has ended", []string{ended, ten}, []string{ignore(true), q, other}, "", true},
			{"the last line wins", []string{p, ten}, []string{ignore(true), ignore(false), q, other}, "", false},
		} {
			storetest.DeleteAllRows(t, d.DB)
			require.NoError(t, ignoreCase(t.Context(), d.Store, false)) // reads the settings again
			storetest.Import(t, d.Store, storetest.JoinLines(test.stored...))
			before, all := storetest.Export(t, d.Store), exchange.ImportOptions{Settings: true}
			_, planned := d.Exchange.PlanImport(t.Context(), storetest.Actor, storetest.Source(storetest.JoinLines(test.file...)), all, func(exchange.PlannedChange) {})
			require.Equal(t, before, storetest.Export(t, d.Store), test.name)
			_, err := d.Exchange.Import(t.Context(), storetest.Actor, storetest.Source(storetest.JoinLines(test.file...)), all)
			if test.fault == "" {
				require.NoError(t, err, test.name)
			} else {
				require.ErrorContains(t, err, test.fault, test.name)
			}
			if strings.Contains(test.fault, "cannot be true") {
				require.Equal(t, err, planned, test.name)
				require.Equal(t, before, storetest.Export(t, d.Store), test.name)
			} else {
				require.NoError(t, planned, test.name)
			}
			require.Contains(t, storetest.Export(t, d.Store), fmt.Sprintf(`"codes_ignore_case":%t`, test.on), test.name)
		}
	}
}

func switchCase(d *storetest.SharedStore) func(*testing.T) {
	return func(t *testing.T) {
		require.NoError(t, ignoreCase(t.Context(), d.Store, false)) // reads the settings again
		for _, id := range []string{"p", "q"} {
			storetest.CreatePromotion(t, d.Store, id, d.Clock.Now())
		}
		require.NoError(t, storetest.AddCodes(d.Store, "p", "ten", "five", "TEN"))
		require.NoError(t, storetest.AddCodes(d.Store, "q", "Ten", "Six"))
		err := ignoreCase(t.Context(), d.Store, true)
		require.ErrorContains(t, err, `codes_ignore_case cannot be true: the codes "TEN" and "ten" differ only in case`)
		require.NoError(t, storetest.AddCodes(d.Store, "q", "FIVE"), "no claim of a key is left")
		_, err = d.Codes.Delete(t.Context(), storetest.Actor, "p", []string{"ten", "TEN"})
		require.NoError(t, err)
		require.ErrorContains(t, ignoreCase(t.Context(), d.Store, true), `"FIVE" and "five"`)
		_, err = d.Codes.Delete(t.Context(), storetest.Actor, "q", []string{"FIVE"})
		require.NoError(t, err)
		for range 2 {
			require.NoError(t, ignoreCase(t.Context(), d.Store, true))
			_, err = d.Codes.Get(t.Context(), "FiVE")
			require.NoError(t, err)
		}
		require.ErrorContains(t, storetest.AddCodes(d.Store, "q", "FIVE"), `the code "five" exists`)
		require.NoError(t, ignoreCase(t.Context(), d.Store, false))
		require.NoError(t, storetest.AddCodes(d.Store, "q", "FIVE"))
		require.Equal(t, storetest.CountRows(t, d.DB, "promotion_code"), storetest.CountRows(t, d.DB, "code_claim"), "each code claims itself alone")
	}
}

// caseRaces: of creators of codes that differ in case one wins, and the setting never ends on with two such codes.
func caseRaces(d *storetest.SharedStore) func(*testing.T) {
	return func(t *testing.T) {
		spellings := []string{"save", "Save", "SAVE", "sAvE"}
		create := func(n int) (created int) {
			var wg sync.WaitGroup
			var mu sync.Mutex
			for i, spelling := range spellings {
				wg.Go(func() {
					err := storetest.AddCodes(d.Store, fmt.Sprint("p", i%2), fmt.Sprint(spelling, n))
					mu.Lock()
					defer mu.Unlock()
					if err == nil {
						created++
					} else if !errors.Is(err, context.Canceled) {
						require.Equal(t, store.DuplicateCode, store.AsErrors(err)[0].Reason, "%v", err)
					}
				})
			}
			wg.Wait()
			return created
		}
		for i := range 2 {
			storetest.CreatePromotion(t, d.Store, fmt.Sprint("p", i), d.Clock.Now())
		}
		require.NoError(t, ignoreCase(t.Context(), d.Store, true))
		for n := range testkit.QuickOrFull(5, 30) {
			require.Equal(t, 1, create(n))
		}
		require.NoError(t, ignoreCase(t.Context(), d.Store, false))
		for n := range testkit.QuickOrFull(5, 30) {
			var wg sync.WaitGroup
			var switched error
			wg.Go(func() { switched = ignoreCase(t.Context(), d.Store, true) })
			created := create(1000 + n)
			wg.Wait()
			shared := storetest.QueryText(t, d.DB, fmt.Sprintf(`SELECT COUNT(*) FROM promotion_code WHERE COALESCE(code_key, code) = 'SAVE%d'`, 1000+n))
			require.Equal(t, fmt.Sprint(created), shared)
			found, err := d.Settings.Get(t.Context())
			require.NoError(t, err)
			require.Equal(t, switched == nil, found.CodesIgnoreCase, "%v", switched)
			require.True(t, switched != nil || created == 1, "%d codes that conflict", created)
			require.NoError(t, ignoreCase(t.Context(), d.Store, false))
			for i := range 2 {
				for _, spelling := range spellings {
					_, _ = d.Codes.Delete(t.Context(), storetest.Actor, fmt.Sprint("p", i), []string{fmt.Sprint(spelling, 1000+n)})
				}
			}
		}
	}
}
