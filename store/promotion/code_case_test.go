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
)

func TestCodeCase(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		t.Run("a new shop", func(t *testing.T) {
			s, err := shop.Open(t.Context(), shop.Config{URL: backend.BlankURL(t), Synchronous: "OFF"})
			require.NoError(t, err)
			defer s.Close()
			found, err := s.Settings(t.Context())
			require.NoError(t, err)
			require.True(t, found.CodesIgnoreCase)
		})
		d := storetest.NewSharedStore(t, backend)
		d.Run(t, "any casing finds a code", anyCasing)
		d.Run(t, "conflicts", caseConflicts)
		d.Run(t, "imports", caseImports)
		d.Run(t, "imports that switch it on", caseSwitchingImports)
		d.Run(t, "switching", switchCase)
		d.Run(t, "races", caseRaces)
	})
}

// ignoreCase switches the setting.
func ignoreCase(ctx context.Context, s *shop.Store, on bool) error {
	_, err := s.UpdateSettings(ctx, storetest.Actor, settings.SettingsChange{CodesIgnoreCase: &on})
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

			found, err := d.PromotionCode(ctx, asked)
			require.Equal(r, finds, err == nil, "%q for %q: %v", asked, written, err)
			require.True(r, !finds || found.Code == written && found.Held)
			check, err := d.CheckCode(ctx, redeem.CodeUse{Code: asked, Units: 1})
			require.NoError(r, err)
			require.Equal(r, finds, check.Valid())
			list, err := d.PromotionCodes(ctx, id, code.Filter{Codes: []string{asked}}, store.Sort{}, store.Page{First: new(10)})
			require.NoError(r, err)
			require.Equal(r, finds, len(list.Items) == 1)
			usage, err := d.RedeemCode(ctx, storetest.Actor, redeem.CodeUse{Code: asked, Units: 1, Reference: id})
			require.Equal(r, finds, err == nil, "%v", err)
			if finds {
				require.Equal(r, written, usage.Code)
				again, err := d.RedeemCode(ctx, storetest.Actor, redeem.CodeUse{Code: drawCasing(r, asked), Units: 1, Reference: id})
				require.Equal(r, on || again != nil, err == nil)
				require.True(r, err != nil || again.ID == usage.ID, "the same reference redeems once")
				usages, err := d.CodeUsages(ctx, redeem.UsageFilter{PromotionID: &id, Code: &asked}, store.ListQuery{Page: store.Page{First: new(10)}})
				require.NoError(r, err)
				require.Len(r, usages.Items, 1)
			}
			released, err := d.ReleaseCode(ctx, storetest.Actor, id, &asked)
			require.Equal(r, finds, err == nil, "%v", err)
			require.True(r, !finds || len(released) == 1 && released[0].Released())
			deleted, err := d.DeletePromotionCodes(ctx, storetest.Actor, id, []string{asked})
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
				require.ErrorContains(t, err, "they differ only in case, and codes_ignore_case is on", codes)
				require.ErrorContains(t, err, fmt.Sprintf("must not be %q", codes[len(codes)-1]))
				require.Equal(t, codes[0] == "x", strings.Contains(err.Error(), `codes.0 is "x", they differ`), "of the request, or of the store")
				require.Equal(t, store.DuplicateCode, store.AsErrors(err)[0].Reason)
			}
		}
		require.ErrorContains(t, storetest.AddCodes(d.Store, "q", "SAVE"), `the code "Save" exists`)
		require.ErrorContains(t, storetest.AddCodes(d.Store, "q", "Save"), "already in use")
		require.Equal(t, 2, storetest.CodesTotal(t, t.Context(), d.Store, "p"))
		require.Zero(t, storetest.CodesTotal(t, t.Context(), d.Store, "q"), "nothing is half-written")

		d.Clock.Advance(2 * storetest.Day) // p and q end
		storetest.CreatePromotion(t, d.Store, "r", d.Clock.Now())
		require.NoError(t, storetest.AddCodes(d.Store, "r", "sAVE"), "of a promotion that has ended")
		found, err := d.PromotionCode(t.Context(), "Save")
		require.NoError(t, err)
		require.Equal(t, []string{"r", "sAVE"}, []string{found.PromotionID, found.Code}, "the held one")
		_, err = d.DeletePromotionCodes(t.Context(), storetest.Actor, "p", []string{"SAVE"})
		require.NoError(t, err, "of that promotion")
		found, err = d.PromotionCode(t.Context(), "Save")
		require.NoError(t, err)
		require.True(t, found.PromotionID == "r" && found.Held)
	}
}

func caseImports(d *storetest.SharedStore) func(*testing.T) {
	return func(t *testing.T) {
		require.NoError(t, ignoreCase(t.Context(), d.Store, false)) // reads the settings again
		lines := func(ignore string, lines ...string) string {
			return storetest.JoinLines(append([]string{`{"type":"settings","page_length":25,"currency":"USD","locale":"en","codes_ignore_case":` + ignore + `}`}, lines...)...)
		}
		all := exchange.ImportOptions{Settings: true}
		p, q, a, b := storetest.PromotionLine("p", ""), storetest.PromotionLine("q", ""), storetest.CodeLine("p", "ten", ""), storetest.CodeLine("q", "TEN", "")
		_, err := d.Import(t.Context(), storetest.Actor, storetest.Source(lines("true", a, b, p, q)), all)
		var faults *exchange.ImportErrors
		require.ErrorAs(t, err, &faults)
		require.Equal(t, 3, faults.Errors[0].Line)
		require.Contains(t, faults.Errors[0].Error(), `must not be "TEN": the code "ten" exists`)
		require.Zero(t, storetest.CountRows(t, d.DB, "promotion"), "nothing is written")
		found, err := d.Settings(t.Context())
		require.NoError(t, err)
		require.False(t, found.CodesIgnoreCase)

		_, err = d.Import(t.Context(), storetest.Actor, storetest.Source(lines("false", a, b, p, q)), all)
		require.NoError(t, err)
		_, err = d.Import(t.Context(), storetest.Actor, storetest.Source(lines("true")), all)
		require.ErrorAs(t, err, &faults)
		require.Contains(t, faults.Errors[0].Error(), `the codes "TEN" and "ten" differ only in case`)

		storetest.DeleteAllRows(t, d.DB)
		ended := strings.Replace(p, "2100-01-01", "2024-01-02", 1)
		_, err = d.Import(t.Context(), storetest.Actor, storetest.Source(lines("true", ended, q, a, b)), all)
		require.NoError(t, err, "the first promotion has ended")
		require.Contains(t, storetest.Export(t, d.Store), `"codes_ignore_case":true`)
		_, err = d.Import(t.Context(), storetest.Actor, storetest.Source(storetest.JoinLines(storetest.PromotionLine("new", ""), storetest.CodeLine("q", "Ten", ""))), all)
		require.ErrorContains(t, err, `must not be "Ten": the code "TEN" exists`)
		require.Equal(t, 2, storetest.CountRows(t, d.DB, "promotion"), "nothing is written")
		_, err = d.Import(t.Context(), storetest.Actor, storetest.Source(strings.Replace(storetest.CodeLine("q", "Ten", ""), "id-Ten", "id-TEN", 1)), all)
		require.NoError(t, err, "the same code in another case")
		_, err = d.PromotionCode(t.Context(), "TEN")
		require.NoError(t, err)
	}
}

// caseSwitchingImports: a dry run of a file that switches the setting on has the errors of the import.
func caseSwitchingImports(d *storetest.SharedStore) func(*testing.T) {
	return func(t *testing.T) {
		on, p, q := `{"type":"settings","page_length":25,"currency":"USD","locale":"en","codes_ignore_case":true}`, storetest.PromotionLine("p", ""), storetest.PromotionLine("q", "")
		line := func(promotion, id, text string) string {
			return strings.Replace(storetest.CodeLine(promotion, text, ""), "id-"+text, id, 1)
		}
		ended := strings.Replace(p, "2100-01-01", "2024-01-02", 1)
		for _, test := range []struct {
			name, stored, file string
			errors             []string // in order
		}{
			{"one in the store", storetest.JoinLines(p, line("p", "1", "ten")), storetest.JoinLines(on, q, line("q", "2", "TEN")), []string{`line 3: promotion_code: code must not be "TEN": the code "ten" exists`}},
			{"the other way round", storetest.JoinLines(p, line("p", "1", "TEN")), storetest.JoinLines(on, q, line("q", "2", "ten")), []string{`line 3: promotion_code: code must not be "ten": the code "TEN" exists`}},
			{"both have lower-case letters", storetest.JoinLines(p, line("p", "1", "Straße")), storetest.JoinLines(on, line("p", "2", "STRAẞe")), []string{`the code "Straße" exists`}},
			{"the settings come last", storetest.JoinLines(p, line("p", "1", "ten")), storetest.JoinLines(q, line("q", "2", "TEN"), line("q", "3", "six"), line("q", "4", "Six"), on), []string{`line 2: promotion_code: code must not be "TEN"`, `line 4: promotion_code: code must not be "Six"`}},
			{"both in the store", storetest.JoinLines(p, line("p", "1", "ten"), line("p", "2", "Ten")), on, []string{`line 1: settings: codes_ignore_case cannot be true: the codes "Ten" and "ten" differ only in case`}},
			{"the same code", storetest.JoinLines(p, line("p", "1", "ten")), storetest.JoinLines(on, line("p", "1", "TEN")), nil},
			{"as it is", storetest.JoinLines(p, line("p", "1", "ten")), storetest.JoinLines(on, line("p", "1", "ten")), nil},
			{"ended", storetest.JoinLines(ended, line("p", "1", "ten")), storetest.JoinLines(on, q, line("q", "2", "TEN")), nil},
			{"ended by the file", storetest.JoinLines(p, line("p", "1", "five")), storetest.JoinLines(on, ended, q, line("p", "2", "FIVE")), nil},
			{"switched off again", storetest.JoinLines(p, line("p", "1", "ten")), storetest.JoinLines(on, strings.Replace(on, "true", "false", 1), q, line("q", "2", "TEN")), nil},
		} {
			storetest.DeleteAllRows(t, d.DB)
			require.NoError(t, ignoreCase(t.Context(), d.Store, false))
			_, err := d.Import(t.Context(), storetest.Actor, storetest.Source(test.stored), exchange.ImportOptions{})
			require.NoError(t, err, test.name)
			before := storetest.Export(t, d.Store)
			options := exchange.ImportOptions{Settings: true}
			_, planned := d.PlanImport(t.Context(), storetest.Actor, storetest.Source(test.file), options, func(exchange.PlannedChange) {})
			require.Equal(t, before, storetest.Export(t, d.Store), test.name)
			_, err = d.Import(t.Context(), storetest.Actor, storetest.Source(test.file), options)
			if test.errors == nil {
				require.NoError(t, planned, test.name)
				require.NoError(t, err, test.name)
				continue
			}
			require.Equal(t, before, storetest.Export(t, d.Store), test.name)
			require.Equal(t, err, planned, test.name)
			var faults *exchange.ImportErrors
			require.ErrorAs(t, planned, &faults, test.name)
			require.Len(t, faults.Errors, len(test.errors), test.name)
			for i, want := range test.errors {
				require.Contains(t, faults.Errors[i].Error(), want, test.name)
			}
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
		require.Len(t, store.AsErrors(err), 2)
		require.NoError(t, storetest.AddCodes(d.Store, "q", "FIVE"), "no claim of a key is left")
		_, err = d.DeletePromotionCodes(t.Context(), storetest.Actor, "p", []string{"ten", "TEN"})
		require.NoError(t, err)
		require.ErrorContains(t, ignoreCase(t.Context(), d.Store, true), `"FIVE" and "five"`)
		_, err = d.DeletePromotionCodes(t.Context(), storetest.Actor, "q", []string{"FIVE"})
		require.NoError(t, err)
		for range 2 {
			require.NoError(t, ignoreCase(t.Context(), d.Store, true))
			_, err = d.PromotionCode(t.Context(), "FiVE")
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
		for n := range storetest.QuickOrFull(5, 30) {
			require.Equal(t, 1, create(n))
		}
		require.NoError(t, ignoreCase(t.Context(), d.Store, false))
		for n := range storetest.QuickOrFull(5, 30) {
			var wg sync.WaitGroup
			var switched error
			wg.Go(func() { switched = ignoreCase(t.Context(), d.Store, true) })
			created := create(1000 + n)
			wg.Wait()
			shared := storetest.QueryText(t, d.DB, fmt.Sprintf(`SELECT COUNT(*) FROM promotion_code WHERE COALESCE(code_key, code) = 'SAVE%d'`, 1000+n))
			require.Equal(t, fmt.Sprint(created), shared)
			found, err := d.Settings(t.Context())
			require.NoError(t, err)
			require.Equal(t, switched == nil, found.CodesIgnoreCase, "%v", switched)
			require.True(t, switched != nil || created == 1, "%d codes that conflict", created)
			require.NoError(t, ignoreCase(t.Context(), d.Store, false))
			for i := range 2 {
				for _, spelling := range spellings {
					_, _ = d.DeletePromotionCodes(t.Context(), storetest.Actor, fmt.Sprint("p", i), []string{fmt.Sprint(spelling, 1000+n)})
				}
			}
		}
	}
}
