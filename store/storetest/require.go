package storetest

import (
	"database/sql"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/db"
	"portico/store/promotion"
	"portico/store/release"
	"portico/store/stock"
)

// RequireError checks an error's code, its member (a path with dots) and that its message
// contains words, and the member unless its text is documented.
func RequireError(t require.TestingT, err error, code store.Code, member string, words ...string) {
	require.Error(t, err)
	first := store.AsErrors(err)[0]
	require.Equal(t, code, first.Code, "the code of %q", err)
	require.Equal(t, member, strings.Join(first.Path, "."), "the member of %q", err)
	require.True(t, store.HasCode(err, code))
	if member != "" && !first.Documented { // a documented text does not name the member
		words = append(words, member)
	}
	for _, word := range words {
		require.Contains(t, first.Error(), word)
	}
}

// RequireTotals checks the stored totals against the rows, as portico doctor does.
func RequireTotals(t require.TestingT, database *sql.DB) {
	requireChecks(t, database, slices.Concat(promotion.Checks, stock.Checks), func(rule string) bool { return strings.HasSuffix(rule, "counted right.") })
}

// requireChecks runs the checks whose rule is wanted, of which there must be one: a rule that was renamed would check nothing.
func requireChecks(t require.TestingT, from *sql.DB, checks []db.Check, wanted func(rule string) bool) {
	ran := 0
	for _, check := range checks {
		if wanted(check.Rule) {
			var n int
			require.NoError(t, from.QueryRow(check.CountSQL()).Scan(&n), check.Rule)
			require.Zero(t, n, check.Rule)
			ran++
		}
	}
	require.NotZero(t, ran, "checks whose rule is wanted")
}

// RequireLedger checks that each balance is the sum of its ledger.
func RequireLedger(t require.TestingT, database *sql.DB) {
	requireChecks(t, database, stock.Checks, func(rule string) bool { return rule == "Each ledger adds up to its stock." })
}

// RequireStockConsistent checks stock, its ledger, and all stored totals.
func RequireStockConsistent(t require.TestingT, database *sql.DB) {
	requireChecks(t, database, stock.Checks, func(string) bool { return true })
	RequireTotals(t, database)
}

// RequireNoOrphans checks that all parts of releases belong to a release.
func RequireNoOrphans(t require.TestingT, database *sql.DB) {
	requireChecks(t, database, release.Checks(), func(rule string) bool { return strings.HasSuffix(rule, "belongs to a release.") })
}
