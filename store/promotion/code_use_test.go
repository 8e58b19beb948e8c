package promotion_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/language"
	"pgregory.net/rapid"

	"portico/store"
	"portico/store/promotion/code"
	"portico/store/promotion/redeem"
	"portico/store/shop"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// TestRedeemCode tests redeem.Service.CheckCode, Redeem and Release: a code never exceeds its
// maximum uses, and its usages add up to its use count.
func TestRedeemCode(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		t.Run("a check returns all refusals", codeChecked(backend))
		t.Run("invalid requests", codeUseForms(backend))
		t.Run("uses of codes per cart and per item", codeUnits(backend))
		t.Run("a reference redeems a code once", codeReference(backend))
		t.Run("a release returns uses once", codeReleased(backend))
		t.Run("usages are listed in order", codeUsages(backend))
		t.Run("valid agrees with a check and with redeeming", codeValid(backend))
		t.Run("random requests match the model", codeModel(backend))
		t.Run("concurrent requests never exceed the maximum uses", codeRace(backend))
		t.Run("equal concurrent requests count once", codeSameReference(backend))
		t.Run("concurrent redeeming and releasing keeps the counts", codeChurn(backend))
	})
}

func reasons(check *redeem.CodeCheck) (list []code.Reason) {
	for _, r := range check.Refusals {
		list = append(list, r.Reason)
	}
	return list
}

func inEnglish(a store.CurrencyAmount) *store.Money {
	return store.NewMoney(a.Minor, a.Currency, language.English)
}

func codeChecked(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s, clock := storetest.OpenWithLines(t, backend,
			storetest.PromotionLine("p", `,"min_cart_value":[{"currency":"USD","amount":1000}]`), storetest.PromotionLine("off", `,"enabled":false`),
			storetest.PromotionLine("soon", `,"start":"2024-06-01"`), storetest.PromotionLine("over", `,"end":"2024-02-01"`),
			storetest.PromotionLine("percent", `,"promotion_type":"percent_discount","schema":{"percent":10,"currencies":[]}`),
			storetest.PromotionLine("bare", ``), storetest.CodeLine("bare", "BARE", ``),
			storetest.PromotionLine("outlet", `,"promotion_type":"percent_discount","schema":{"percent":10,"target_catalogs":["outlet"]}`), storetest.CodeLine("outlet", "OUTLET", ``),
			storetest.CodeLine("p", "GOOD", ``), storetest.CodeLine("p", "SPENT", `,"max_uses":2,"uses":0`),
			storetest.CodeLine("p", "MINE", `,"user":["u1","u2"]`), storetest.CodeLine("p", "ONLY", `,"user":"u1"`),
			storetest.CodeLine("p", "ITEMS", `,"consume_unit":"per_item","max_uses":5,"uses":3`),
			storetest.CodeLine("off", "OFF", `,"max_uses":1,"uses":0,"user":"u1"`),
			storetest.CodeLine("soon", "SOON", ``), storetest.CodeLine("over", "OVER", ``), storetest.CodeLine("percent", "PERCENT", ``))
		for _, c := range []struct {
			name    string
			use     redeem.CodeUse
			units   int
			reasons []code.Reason
		}{
			{"good", redeem.CodeUse{Code: "GOOD", Units: 7}, 1, nil},
			{"good for whoever", redeem.CodeUse{Code: "GOOD", User: "u9", Units: 0}, 1, nil},
			{"unknown", redeem.CodeUse{Code: "NONE", Units: 1}, 0, []code.Reason{code.CodeUnknown}},
			{"in another case", redeem.CodeUse{Code: "good", Units: 1}, 0, []code.Reason{code.CodeUnknown}},
			{"not even a code", redeem.CodeUse{Code: "\x00", Units: 1}, 0, []code.Reason{code.CodeUnknown}},
			{"expired", redeem.CodeUse{Code: "OVER", Units: 1}, 0, []code.Reason{code.CodeExpired}},
			{"not started", redeem.CodeUse{Code: "SOON", Units: 1}, 0, []code.Reason{code.CodeNotStarted}},
			{"used up", redeem.CodeUse{Code: "SPENT", Units: 1}, 0, []code.Reason{code.CodeUsedUp}},
			{"several at once", redeem.CodeUse{Code: "OFF", User: "u2", Units: 1}, 0,
				[]code.Reason{code.CodeDisabled, code.CodeUsedUp, code.CodeWrongUser}},
			{"one of its users", redeem.CodeUse{Code: "MINE", User: "u2", Units: 1}, 1, nil},
			{"nobody in particular", redeem.CodeUse{Code: "MINE", Units: 1}, 0, []code.Reason{code.CodeNeedsUser}},
			{"nobody signed in", redeem.CodeUse{Code: "ONLY", Units: 1, OfToken: true}, 0, []code.Reason{code.CodeNeedsUser}},
			{"its only user", redeem.CodeUse{Code: "ONLY", User: "u1", Units: 1}, 1, nil},
			{"items", redeem.CodeUse{Code: "ITEMS", Units: 2}, 2, nil},
			{"more items than are left", redeem.CodeUse{Code: "ITEMS", Units: 9}, 3, nil},
			{"no items", redeem.CodeUse{Code: "ITEMS", Units: 0}, 0, []code.Reason{code.CodeNoUnits}},
			{"a cart that comes to enough", redeem.CodeUse{Code: "GOOD", Units: 1, CartValue: &store.CurrencyAmount{Currency: "USD", Minor: 1000}},
				1, nil},
			{"a cart that does not", redeem.CodeUse{Code: "GOOD", Units: 1, CartValue: &store.CurrencyAmount{Currency: "USD", Minor: 999}}, 0,
				[]code.Reason{code.CodeCartTooLow}},
			{"a cart in a currency it gives nothing in", redeem.CodeUse{Code: "BARE", Units: 1,
				CartValue: &store.CurrencyAmount{Currency: "EUR", Minor: 999}}, 0, []code.Reason{code.CodeNotCurrency}},
			{"a cart in a currency without a minimum", redeem.CodeUse{Code: "GOOD", Units: 1,
				CartValue: &store.CurrencyAmount{Currency: "EUR", Minor: 999}}, 0, []code.Reason{code.CodeNotCurrency, code.CodeNotCurrency}},
			{"a cart of its catalog", redeem.CodeUse{Code: "OUTLET", Units: 1, CatalogID: "outlet"}, 1, nil},
			{"a cart of another catalog", redeem.CodeUse{Code: "OUTLET", Units: 1, CatalogID: "main"}, 0, []code.Reason{code.CodeOtherCatalog}},
			{"a cart without an item for it", redeem.CodeUse{Code: "GOOD", CatalogID: "main"}, 0, []code.Reason{code.CodeNoUnits}},
			{"a percentage in any currency", redeem.CodeUse{Code: "PERCENT", Units: 1,
				CartValue: &store.CurrencyAmount{Currency: "EUR", Minor: 999}}, 1, nil},
		} {
			check, err := s.Redemptions.CheckCode(t.Context(), c.use, inEnglish)
			require.NoError(t, err, c.name)
			require.Equal(t, c.reasons, reasons(check), c.name)
			require.Equal(t, c.units, check.UnitsApplied, c.name)
			c.use.CartValue, c.use.Reference = nil, "order"
			if c.use.Units == 0 || strings.HasPrefix(c.name, "a cart") {
				continue
			}
			_, err = s.Redemptions.Redeem(t.Context(), storetest.Actor, c.use)
			if c.reasons == nil {
				require.NoError(t, err, c.name)
				_, err = s.Redemptions.Release(t.Context(), storetest.Actor, "order", nil)
				require.NoError(t, err)
				_, err = backend.SQL(t).Exec(`DELETE FROM code_usage`)
				require.NoError(t, err)
			} else {
				var refused code.Refusals
				require.ErrorAs(t, err, &refused, c.name)
				require.Equal(t, c.reasons, reasons(&redeem.CodeCheck{Refusals: refused}), "%s: redeeming gives the same reasons", c.name)
				require.Len(t, store.AsErrors(err), len(c.reasons), c.name)
			}
		}
		clock.Set(time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC).Add(-time.Millisecond))
		check, err := s.Redemptions.CheckCode(t.Context(), redeem.CodeUse{Code: "GOOD", Units: 1}, nil)
		require.NoError(t, err)
		require.Empty(t, check.Refusals, "valid until just before the end")
		clock.Advance(time.Millisecond)
		check, err = s.Redemptions.CheckCode(t.Context(), redeem.CodeUse{Code: "GOOD", Units: 1}, nil)
		require.NoError(t, err)
		require.Equal(t, []code.Reason{code.CodeExpired}, reasons(check), "expired at the end")
		require.Equal(t, "p", check.Promotion.ID)
	}
}

func codeUseForms(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s, _ := storetest.OpenWithLines(t, backend, storetest.PromotionLine("p", ``), storetest.CodeLine("p", "A", ``))
		for _, c := range []struct {
			use    redeem.CodeUse
			code   store.Code
			member string
		}{
			{redeem.CodeUse{Code: "A", Units: 1}, store.Unprocessable, "reference"},
			{redeem.CodeUse{Code: "A", Units: 1, Reference: strings.Repeat("r", 256)}, store.Unprocessable, "reference"},
			{redeem.CodeUse{Code: "A", Units: 1, Reference: "\x00"}, store.Invalid, "reference"},
			{redeem.CodeUse{Code: "A", Units: 1, Reference: "r", User: "\xff"}, store.Invalid, "user"},
			{redeem.CodeUse{Code: "A", Units: 0, Reference: "r"}, store.Unprocessable, "units"},
			{redeem.CodeUse{Code: "A", Units: 1_000_001, Reference: "r"}, store.Unprocessable, "units"},
			{redeem.CodeUse{Code: "B", Units: 1, Reference: "r"}, store.NotFound, "code"},
		} {
			_, err := s.Redemptions.Redeem(t.Context(), storetest.Actor, c.use)
			storetest.RequireError(t, err, c.code, c.member)
		}
		for member, cart := range map[string]store.CurrencyAmount{"amount": {Currency: "USD", Minor: -1}, "currency": {Minor: 5}} {
			_, err := s.Redemptions.CheckCode(t.Context(), redeem.CodeUse{Code: "A", Units: 1, CartValue: &cart}, nil)
			storetest.RequireError(t, err, store.Unprocessable, "cart_value."+member)
		}
		_, err := s.Redemptions.Release(t.Context(), storetest.Actor, "r", nil)
		storetest.RequireError(t, err, store.NotFound, "reference", `"r"`)
		requireUsages(t, backend)
	}
}

func codeUnits(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s, _ := storetest.OpenWithLines(t, backend, storetest.PromotionLine("p", ``), storetest.CodeLine("p", "CART", `,"max_uses":2`),
			storetest.CodeLine("p", "ITEM", `,"max_uses":7,"consume_unit":"per_item"`), storetest.CodeLine("p", "ANY", `,"consume_unit":"per_item"`))
		for i, c := range []struct {
			code             string
			requested, units int
		}{{"CART", 5, 1}, {"CART", 1, 1}, {"CART", 1, 0}, {"ITEM", 3, 3}, {"ITEM", 5, 4}, {"ITEM", 1, 0}, {"ANY", 1_000_000, 1_000_000}} {
			usage, err := s.Redemptions.Redeem(t.Context(), storetest.Actor,
				redeem.CodeUse{Code: c.code, Units: c.requested, Reference: fmt.Sprint("order-", i), User: "u"})
			if c.units == 0 {
				storetest.RequireError(t, err, store.Unprocessable, "code", "used up")
				continue
			}
			require.NoError(t, err)
			require.Equal(t, &redeem.CodeUsage{ID: usage.ID, PromotionID: "p", Code: c.code, User: "u", Reference: fmt.Sprint("order-", i),
				UnitsAsked: c.requested, Units: c.units, Actor: storetest.Actor, CreatedAt: testkit.Noon}, usage)
		}
		requireUsages(t, backend)
	}
}

func codeReference(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s, clock := storetest.OpenWithLines(t, backend, storetest.PromotionLine("p", ``), storetest.CodeLine("p", "A", `,"max_uses":1`),
			storetest.CodeLine("p", "B", `,"max_uses":1`))
		use := redeem.CodeUse{Code: "A", Units: 2, Reference: "order", User: "u"}
		first, err := s.Redemptions.Redeem(t.Context(), storetest.Actor, use)
		require.NoError(t, err)
		clock.Advance(100 * 365 * 24 * time.Hour) // used up and expired
		again, err := s.Redemptions.Redeem(t.Context(), "client:other", use)
		require.NoError(t, err)
		require.Equal(t, first, again)
		for member, other := range map[string]redeem.CodeUse{
			"another user": {Code: "A", Units: 2, Reference: "order", User: "v"},
			"already":      {Code: "A", Units: 3, Reference: "order", User: "u"},
		} {
			_, err := s.Redemptions.Redeem(t.Context(), storetest.Actor, other)
			storetest.RequireError(t, err, store.Conflict, "reference", member)
		}
		clock.Set(testkit.Noon)
		_, err = s.Redemptions.Redeem(t.Context(), storetest.Actor, redeem.CodeUse{Code: "B", Units: 2, Reference: "order", User: "u"})
		require.NoError(t, err, "an order may use several codes")
		requireUsages(t, backend)
	}
}

func codeReleased(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s, clock := storetest.OpenWithLines(t, backend, storetest.PromotionLine("p", ``), storetest.CodeLine("p", "A", `,"max_uses":1`),
			storetest.CodeLine("p", "B", `,"max_uses":9,"consume_unit":"per_item"`), storetest.CodeLine("p", "C", `,"max_uses":1`))
		for _, c := range []string{"A", "B"} {
			_, err := s.Redemptions.Redeem(t.Context(), storetest.Actor, redeem.CodeUse{Code: c, Units: 4, Reference: "order"})
			require.NoError(t, err)
		}
		_, err := s.Redemptions.Redeem(t.Context(), storetest.Actor, redeem.CodeUse{Code: "C", Units: 1, Reference: "other"})
		require.NoError(t, err)
		used := func(code string) int {
			c, err := s.Codes.Get(t.Context(), code)
			require.NoError(t, err)
			return c.Used
		}
		_, err = s.Redemptions.Release(t.Context(), storetest.Actor, "order", new("C"))
		storetest.RequireError(t, err, store.NotFound, "code")
		one, err := s.Redemptions.Release(t.Context(), storetest.Actor, "order", new("A"))
		require.NoError(t, err)
		require.Len(t, one, 1)
		require.Equal(t, testkit.Noon, one[0].ReleasedAt)
		require.Equal(t, []int{0, 4, 1}, []int{used("A"), used("B"), used("C")})
		clock.Advance(time.Hour)
		for range 3 {
			all, err := s.Redemptions.Release(t.Context(), storetest.Actor, "order", nil)
			require.NoError(t, err)
			require.Equal(t, []time.Time{testkit.Noon, testkit.Noon.Add(time.Hour)}, []time.Time{all[0].ReleasedAt, all[1].ReleasedAt})
			require.Equal(t, []int{0, 0, 1}, []int{used("A"), used("B"), used("C")})
		}
		_, err = s.Redemptions.Redeem(t.Context(), storetest.Actor, redeem.CodeUse{Code: "A", Units: 4, Reference: "order"})
		storetest.RequireError(t, err, store.Unprocessable, "reference", "released", "another reference")
		_, err = s.Redemptions.Redeem(t.Context(), storetest.Actor, redeem.CodeUse{Code: "A", Units: 4, Reference: "order-2"})
		require.NoError(t, err)
		requireUsages(t, backend)
	}
}

func codeUsages(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s, clock := storetest.OpenWithLines(t, backend, storetest.PromotionLine("p", ``), storetest.PromotionLine("q", ``),
			storetest.CodeLine("p", "A", ``), storetest.CodeLine("p", "B", ``), storetest.CodeLine("q", "C", ``))
		var want []*redeem.CodeUsage
		for i, c := range []string{"A", "B", "A", "C", "A"} {
			clock.Advance(time.Second)
			usage, err := s.Redemptions.Redeem(t.Context(), storetest.Actor, redeem.CodeUse{Code: c, Units: 1, Reference: fmt.Sprint(i)})
			require.NoError(t, err)
			want = append(want, usage)
		}
		for _, c := range []struct {
			promotion string
			code      *string
			want      []*redeem.CodeUsage
		}{
			{"p", nil, []*redeem.CodeUsage{want[0], want[1], want[2], want[4]}},
			{"p", new("A"), []*redeem.CodeUsage{want[0], want[2], want[4]}},
			{"q", new("C"), want[3:4]},
		} {
			page, err := s.Redemptions.CodeUsages(t.Context(), redeem.UsageFilter{PromotionID: new(c.promotion), Code: c.code}, store.ListQuery{})
			require.NoError(t, err)
			require.Equal(t, c.want, page.Items)
			n, err := page.Total(t.Context())
			require.NoError(t, err)
			require.Equal(t, len(c.want), n)
		}
		page, err := s.Redemptions.CodeUsages(t.Context(), redeem.UsageFilter{PromotionID: new("p"), Code: new("A")}, store.ListQuery{Sort: store.Sort{Descending: true},
			Page: store.Page{First: new(2)}})
		require.NoError(t, err)
		require.Equal(t, []*redeem.CodeUsage{want[4], want[2]}, page.Items)
		page, err = s.Redemptions.CodeUsages(t.Context(), redeem.UsageFilter{PromotionID: new("p"), Code: new("A")}, store.ListQuery{Sort: store.Sort{Descending: true},
			Page: store.Page{After: &page.Cursors()[1]}})
		require.NoError(t, err)
		require.Equal(t, want[:1], page.Items)
		for _, c := range []struct {
			promotion string
			code      *string
		}{{"none", nil}, {"", nil}, {"p", new("C")}, {"p", new("\x00")}} {
			_, err := s.Redemptions.CodeUsages(t.Context(), redeem.UsageFilter{PromotionID: new(c.promotion), Code: c.code}, store.ListQuery{})
			storetest.RequireError(t, err, store.NotFound, "")
		}
	}
}

// requireUsages checks the use count of each code against its usages and its maximum.
func requireUsages(t *testing.T, backend storetest.Backend) {
	t.Helper()
	rows, err := backend.SQL(t).Query(`
		SELECT code, used, COALESCE(max_uses, used), (
		    SELECT CAST(COALESCE(SUM(units), 0) AS BIGINT) FROM code_usage
		    WHERE code_usage.promotion_number = promotion_code.promotion_number AND code_usage.epoch = promotion_code.epoch
		      AND code_usage.code = promotion_code.code AND released_at IS NULL)
		FROM promotion_code`)
	require.NoError(t, err)
	defer rows.Close()
	for rows.Next() {
		var code string
		var used, most, sum int
		require.NoError(t, rows.Scan(&code, &used, &most, &sum))
		require.Equal(t, sum, used, "the usages of %s", code)
		require.LessOrEqual(t, used, most, "the uses of %s", code)
	}
	require.NoError(t, rows.Err())
	storetest.RequireTotals(t, backend.SQL(t))
}

// codeModel redeems and releases at random and compares with a model: the uses left, and the
// uses of each reference.
func codeModel(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		backend.FullTestsOnlyOnPostgres(t)
		s, _ := storetest.OpenWithLines(t, backend, storetest.PromotionLine("p", ``))
		round := 0
		rapid.Check(t, func(r *rapid.T) {
			round++
			name := fmt.Sprint("CODE-", round)
			most, perItem := rapid.IntRange(1, 9).Draw(r, "uses"), rapid.Bool().Draw(r, "per item")
			unit := "per_cart"
			if perItem {
				unit = "per_item"
			}
			storetest.Import(r, s, storetest.CodeLine("p", name, fmt.Sprintf(`,"max_uses":%d,"consume_unit":%q`, most, unit)))
			type taken struct {
				requested, units int
				released         bool
			}
			left, took := most, map[string]taken{}
			for range rapid.IntRange(1, 20).Draw(r, "steps") {
				reference := fmt.Sprint(name, rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(r, "reference"))
				was, known := took[reference]
				if rapid.IntRange(0, 3).Draw(r, "release") == 0 {
					_, err := s.Redemptions.Release(context.Background(), storetest.Actor, reference, nil)
					require.Equal(r, known, err == nil)
					if known && !was.released {
						left, took[reference] = left+was.units, taken{was.requested, was.units, true}
					}
					continue
				}
				requested := rapid.IntRange(1, 4).Draw(r, "units")
				usage, err := s.Redemptions.Redeem(context.Background(), storetest.Actor, redeem.CodeUse{Code: name, Units: requested, Reference: reference})
				switch {
				case known && was.requested != requested:
					require.True(r, store.HasCode(err, store.Conflict), "%v", err)
				case known && was.released, !known && left == 0:
					require.True(r, store.HasCode(err, store.Unprocessable), "%v", err)
				case known:
					require.NoError(r, err)
					require.Equal(r, was.units, usage.Units)
				default:
					require.NoError(r, err)
					units := 1
					if perItem {
						units = min(requested, left)
					}
					require.Equal(r, units, usage.Units)
					left, took[reference] = left-units, taken{requested, units, false}
				}
				c, err := s.Codes.Get(context.Background(), name)
				require.NoError(r, err)
				require.Equal(r, most-left, c.Used)
			}
		})
		requireUsages(t, backend)
	}
}

func codeRace(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		const uses = 50
		storetest.OpenWithLines(t, backend, storetest.PromotionLine("p", ``),
			storetest.CodeLine("p", "CART", fmt.Sprintf(`,"max_uses":%d`, uses)),
			storetest.CodeLine("p", "ITEM", fmt.Sprintf(`,"max_uses":%d,"consume_unit":"per_item"`, uses)))
		for name, units := range map[string]int{"CART": 1, "ITEM": 3} {
			var took atomic.Int64
			redeemers(t, backend, func(s *shop.Store, redeemer int) {
				for n := 0; ; n++ {
					usage, err := s.Redemptions.Redeem(t.Context(), storetest.Actor,
						redeem.CodeUse{Code: name, Units: units, Reference: fmt.Sprintf("%s-%d-%d", name, redeemer, n)})
					if err != nil {
						if !store.HasCode(err, store.Unprocessable) || !strings.Contains(err.Error(), "used up") {
							t.Errorf("redeeming returned %v", err)
						}
						return
					}
					took.Add(int64(usage.Units))
				}
			})
			require.EqualValues(t, uses, took.Load(), "all uses, each once")
		}
		requireUsages(t, backend)
	}
}

// redeemers runs 64 concurrent calls on two stores.
func redeemers(t *testing.T, backend storetest.Backend, do func(s *shop.Store, redeemer int)) {
	storetest.RunWriters(t, backend, func(s *shop.Store, writer int) {
		both := make(chan struct{})
		go func() { defer close(both); do(s, writer+storetest.WriterCount) }()
		do(s, writer)
		<-both
	})
}

func codeSameReference(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s, _ := storetest.OpenWithLines(t, backend, storetest.PromotionLine("p", ``), storetest.CodeLine("p", "A", `,"max_uses":1`),
			storetest.CodeLine("p", "B", `,"max_uses":7,"consume_unit":"per_item"`))
		for name, units := range map[string]int{"A": 1, "B": 4} {
			redeemers(t, backend, func(s *shop.Store, _ int) {
				usage, err := s.Redemptions.Redeem(t.Context(), storetest.Actor, redeem.CodeUse{Code: name, Units: 4, Reference: "order"})
				if err != nil || usage.Units != units {
					t.Errorf("redeeming returned %v, %v", usage, err)
				}
			})
			c, err := s.Codes.Get(t.Context(), name)
			require.NoError(t, err)
			require.Equal(t, units, c.Used)
		}
		requireUsages(t, backend)
	}
}

func codeChurn(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s, _ := storetest.OpenWithLines(t, backend, storetest.PromotionLine("p", ``), storetest.CodeLine("p", "A", `,"max_uses":5`),
			storetest.CodeLine("p", "B", `,"max_uses":9,"consume_unit":"per_item"`))
		redeemers(t, backend, func(s *shop.Store, redeemer int) {
			for n := range 5 {
				reference := fmt.Sprintf("%d-%d", redeemer, n)
				for _, name := range []string{"A", "B"} {
					_, err := s.Redemptions.Redeem(t.Context(), storetest.Actor, redeem.CodeUse{Code: name, Units: 2, Reference: reference})
					if err != nil && !store.HasCode(err, store.Unprocessable) {
						t.Errorf("redeeming returned %v", err)
					}
				}
				for range 2 {
					if _, err := s.Redemptions.Release(t.Context(), storetest.Actor, reference, nil); err != nil && !store.HasCode(err, store.NotFound) {
						t.Errorf("releasing returned %v", err)
					}
				}
			}
		})
		requireUsages(t, backend)
		for _, name := range []string{"A", "B"} {
			c, err := s.Codes.Get(t.Context(), name)
			require.NoError(t, err)
			require.Zero(t, c.Used, "all uses were returned")
		}
	}
}
