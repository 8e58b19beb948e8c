package shop

import (
	"context"
	"fmt"
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
	checks := slices.Concat([]db.Check{s.db.FileCheck(), s.db.DiskCheck(), s.db.ClockCheck()},
		catalog.Checks, release.Checks(), stock.Checks, promotion.Checks)
	return s.db.RunChecks(ctx, checks)
}

// CheckFile returns an error if the file of the database is damaged. It reads all of it.
func (s *Store) CheckFile(ctx context.Context) error {
	found, err := s.db.RunChecks(ctx, []db.Check{s.db.FileCheck()})
	if err == nil && found[0].Count > 0 {
		err = fmt.Errorf("the database is damaged: %s", found[0].Example)
	}
	return err
}
