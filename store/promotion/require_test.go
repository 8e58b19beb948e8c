package promotion_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/promotion/code"
	"portico/store/promotion/rule"
	"portico/store/shop"
)

// requireErrors checks all errors by code and member.
func requireErrors(t *testing.T, err error, want ...string) {
	t.Helper()
	require.Error(t, err)
	var found []string
	for _, e := range store.AsErrors(err) {
		found = append(found, fmt.Sprint(e.Code, " ", strings.Join(e.Path, ".")))
	}
	require.Equal(t, want, found, "%v", err)
}

// requireDuplicate checks the error for each of the members, which names the code.
func requireDuplicate(t require.TestingT, err error, members ...string) {
	require.Error(t, err)
	var found []string
	for _, e := range store.AsErrors(err) {
		require.Equal(t, []any{store.Unprocessable, "Duplicate code", store.DuplicateCode}, []any{e.Code, e.Title, e.Reason})
		require.Regexp(t, `^Promotion code already in use: "[^"]+"$|^codes\.\d+\.code is in the request twice: "[^"]+" is codes\.\d+ too\. Send it once\.$`, e.Error())
		found = append(found, strings.Join(e.Path, "."))
	}
	require.Equal(t, members, found)
}

// codesOf returns a promotion's codes from the list.
func codesOf(t testing.TB, s *shop.Store, promotion string) (codes []string) {
	t.Helper()
	slice, err := s.Codes.List(t.Context(), promotion, code.Filter{}, store.Sort{}, store.Page{First: new(100)})
	require.NoError(t, err)
	for _, c := range slice.Items {
		codes = append(codes, c.Code)
	}
	return codes
}

// givenAmounts returns amounts as callers send them.
func givenAmounts(amounts ...store.CurrencyAmount) []rule.AmountInput {
	list := make([]rule.AmountInput, len(amounts))
	for i, a := range amounts {
		list[i] = rule.AmountInput{Currency: a.Currency, Minor: &a.Minor}
	}
	return list
}
