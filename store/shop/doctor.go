package shop

import (
	"context"
	"slices"

	"portico/store/catalog"
	"portico/store/db"
	"portico/store/promotion"
	"portico/store/release"
	"portico/store/stock"
)

// Doctor runs the checks of all packages, in one snapshot. It reads whole tables, which
// takes seconds for 100,000 products, and blocks nobody.
func (s *Store) Doctor(ctx context.Context) ([]db.CheckResult, error) {
	checks := slices.Concat([]db.Check{s.db.FileCheck(), s.db.ClockCheck()},
		catalog.Checks, release.Checks(), stock.Checks, promotion.Checks)
	return s.db.RunChecks(ctx, checks)
}
