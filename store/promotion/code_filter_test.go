package promotion_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/promotion/code"
	"portico/store/promotion/redeem"
	"portico/store/shop"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// TestCodeFilter compares each filter, in each order that it allows, with the codes that match one by one.
func TestCodeFilter(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s, clock := storetest.OpenWithLines(t, backend, storetest.PromotionLine("p", ``),
			strings.ReplaceAll(storetest.PromotionLine("past", ``), "2100-01-01", "2024-02-01"))
		require.Contains(t, storetest.PromotionLine("p", ``), "2100-01-01")
		for _, list := range [][]string{{"XMAS-1", "XMAS-2", "xmas-3"}, {"EASTER", "XMA", "XMAS-é", "XMAT"}, {"XMAS-4"}} {
			_, _, err := s.Codes.Create(t.Context(), storetest.Actor, "p", limited(list), "")
			require.NoError(t, err)
			clock.Advance(time.Hour)
		}
		for _, c := range []string{"XMAS-2", "EASTER", "XMAS-é"} {
			_, err := s.Redemptions.Redeem(t.Context(), storetest.Actor, redeem.CodeUse{Code: c, Units: 1, Reference: c})
			require.NoError(t, err)
		}
		storetest.Import(t, s, storetest.JoinLines(storetest.CodeLine("past", "OLD-1", ``), storetest.CodeLine("past", "OLD-2", `,"max_uses":1,"uses":0`)))
		second := testkit.Noon.Add(time.Hour)
		since := func(operator string) []store.Range {
			return []store.Range{{Attribute: store.SortCreatedAt, Operator: operator, Time: second}}
		}
		for _, promotion := range []string{"p", "past"} {
			all := codesBy(t, s, promotion, code.Filter{}, store.Sort{})
			for _, prefix := range []string{"", "X", "XMAS-", "XMAS-é", "OLD", "none", "xmas-3"} {
				for _, states := range [][]code.State{nil, {code.CodeAvailable}, {code.CodeSpent}, {code.CodeEnded}, {code.CodeEnded, code.CodeSpent}, code.States()} {
					for _, created := range [][]store.Range{nil, since("ge"), since("lt"), since("gt")} {
						filter := code.Filter{Prefix: prefix, States: states, CreatedAt: created}
						for _, sort := range []store.Sort{{}, {Descending: true}, {By: store.SortCreatedAt}, {By: store.SortCreatedAt, Descending: true}, {By: code.SortCode}} {
							unindexed := prefix != "" && created == nil && sort.By == store.SortCreatedAt || prefix == "" && created != nil && sort.By == code.SortCode
							if unindexed {
								_, err := s.Codes.List(t.Context(), promotion, filter, sort, store.Page{})
								storetest.RequireError(t, err, store.Invalid, "order_by")
								continue
							}
							want := slices.DeleteFunc(slices.Clone(all), func(c *code.PromotionCode) bool { return !matches(c, filter) })
							slices.SortFunc(want, func(a, b *code.PromotionCode) int {
								n := strings.Compare(a.Code, b.Code)
								if sort.By == store.SortCreatedAt || sort.By == "" && created != nil && prefix == "" {
									if by := a.Created().Compare(b.Created()); by != 0 {
										n = by
									}
								}
								if sort.Descending {
									return -n
								}
								return n
							})
							require.Equal(t, textsOf(want), textsOf(codesBy(t, s, promotion, filter, sort)), "%s: %+v by %s", promotion, filter, sort)
						}
					}
				}
			}
		}
		require.Equal(t, []code.State{code.CodeSpent}, statesOf(codesBy(t, s, "p", code.Filter{Codes: []string{"EASTER"}}, store.Sort{})))
		require.Equal(t, []string{"EASTER"}, textsOf(codesBy(t, s, "p", code.Filter{Codes: []string{"XMAS-2", "EASTER"}, States: []code.State{code.CodeSpent}, CreatedAt: since("ge")}, store.Sort{})))
		_, err := s.Redemptions.Release(t.Context(), storetest.Actor, "EASTER", nil)
		require.NoError(t, err)
		require.Equal(t, []code.State{code.CodeAvailable}, statesOf(codesBy(t, s, "p", code.Filter{Codes: []string{"EASTER"}, States: []code.State{code.CodeAvailable}}, store.Sort{})))
		_, err = s.Codes.List(t.Context(), "p", code.Filter{Prefix: "a\x00"}, store.Sort{}, store.Page{})
		storetest.RequireError(t, err, store.Invalid, "filter", "NUL")
	})
}

// limited returns new codes, of which every second can be used twice, the others once.
func limited(codes []string) []code.NewCode {
	list := storetest.NewCodes(codes...)
	for i := range list {
		list[i].MaxUses = new(1 + i%2)
	}
	return list
}

// matches is the filter's meaning, for one code.
func matches(c *code.PromotionCode, f code.Filter) bool {
	for _, r := range f.CreatedAt {
		by := c.Created().Compare(r.Time)
		if !map[string]bool{"ge": by >= 0, "gt": by > 0, "lt": by < 0, "le": by <= 0}[r.Operator] {
			return false
		}
	}
	return strings.HasPrefix(c.Code, f.Prefix) && (f.States == nil || slices.Contains(f.States, c.State()))
}

// codesBy reads a whole list in pages of two, and checks its total.
func codesBy(t *testing.T, s *shop.Store, promotion string, filter code.Filter, sort store.Sort) (all []*code.PromotionCode) {
	t.Helper()
	for after := (*string)(nil); ; {
		page, err := s.Codes.List(t.Context(), promotion, filter, sort, store.Page{First: new(2), After: after})
		require.NoError(t, err)
		all = append(all, page.Items...)
		if !page.HasNext {
			n, err := page.Total(t.Context())
			require.NoError(t, err)
			require.Equal(t, len(all), n, "the total of %+v", filter)
			return all
		}
		after = new(page.Cursor(1))
	}
}

func textsOf(codes []*code.PromotionCode) []string {
	texts := []string{}
	for _, c := range codes {
		texts = append(texts, c.Code)
	}
	return texts
}

func statesOf(codes []*code.PromotionCode) (states []code.State) {
	for _, c := range codes {
		states = append(states, c.State())
	}
	return states
}

// TestUsagesOfAllPromotions: usages are found by order without the promotion.
func TestUsagesOfAllPromotions(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s, clock := storetest.OpenWithLines(t, backend, storetest.PromotionLine("p", ``), storetest.PromotionLine("q", ``),
			storetest.CodeLine("p", "A", ``), storetest.CodeLine("p", "B", ``), storetest.CodeLine("q", "C", ``))
		for i, c := range []string{"A", "B", "C", "A", "C"} {
			clock.Advance(time.Second)
			_, err := s.Redemptions.Redeem(t.Context(), storetest.Actor, redeem.CodeUse{Code: c, Units: 1, Reference: fmt.Sprint("order-", i/3)})
			require.NoError(t, err)
		}
		require.NoError(t, storetest.DeletePromotion(t.Context(), s, storetest.Actor, "q"))
		for _, c := range []struct {
			name   string
			filter redeem.UsageFilter
			want   string
		}{
			{"all", redeem.UsageFilter{}, "A0 B0 C0 A1 C1"},
			{"an order", redeem.UsageFilter{Reference: new("order-0")}, "A0 B0 C0"},
			{"an order's codes of a promotion", redeem.UsageFilter{Reference: new("order-1"), PromotionID: new("p")}, "A1"},
			{"an order's codes of a deleted promotion", redeem.UsageFilter{Reference: new("order-1"), PromotionID: new("q")}, "C1"},
			{"a code's usage by an order", redeem.UsageFilter{Reference: new("order-0"), PromotionID: new("p"), Code: new("B")}, "B0"},
			{"an unknown order", redeem.UsageFilter{Reference: new("order")}, ""},
		} {
			for _, sort := range []store.Sort{{}, {Descending: true}} {
				var got []string
				for after := (*string)(nil); ; {
					page, err := s.Redemptions.CodeUsages(t.Context(), c.filter, store.ListQuery{Sort: sort, Page: store.Page{First: new(2), After: after}})
					require.NoError(t, err, c.name)
					for _, u := range page.Items {
						got = append(got, u.Code+strings.TrimPrefix(u.Reference, "order-"))
					}
					if !page.HasNext {
						n, err := page.Total(t.Context())
						require.NoError(t, err, c.name)
						require.Equal(t, len(got), n, c.name)
						break
					}
					after = new(page.Cursor(1))
				}
				if sort.Descending {
					slices.Reverse(got)
				}
				require.Equal(t, c.want, strings.Join(got, " "), c.name)
			}
		}
		for member, filter := range map[string]redeem.UsageFilter{"code": {Code: new("A")}, "reference": {Reference: new("")}} {
			_, err := s.Redemptions.CodeUsages(t.Context(), filter, store.ListQuery{})
			storetest.RequireError(t, err, store.Invalid, member)
		}
		_, err := s.Redemptions.CodeUsages(t.Context(), redeem.UsageFilter{Reference: new("\x00")}, store.ListQuery{})
		storetest.RequireError(t, err, store.Invalid, "reference", "NUL")
	})
}
