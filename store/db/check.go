package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"portico/store"
)

// Check is a rule that the rows of a database follow. Packages declare those of their
// tables, and shop.Store.Doctor runs them all.
type Check struct {
	Rule    string        // as a sentence: "Each ledger adds up to its stock."
	Broken  string        // SQL that selects a text for each row that breaks the rule
	Now     func() string // SQL instead of Broken that contains a time: RunChecks calls it when the check runs
	Advice  string        // what to do, as a sentence
	Warning bool          // the shop works all the same
}

// CountSQL is a query of the number of rows that break the rule.
func (c Check) CountSQL() string { return `SELECT COUNT(*) FROM (` + c.Broken + `) AS broken` }

// CheckResult is what a check found.
type CheckResult struct {
	Check
	Count   int    // rows that break the rule
	Example string // the first of them
}

// RunChecks runs checks one after the other, in one snapshot. It reads whole tables.
func (s *DB) RunChecks(ctx context.Context, checks []Check) (results []CheckResult, err error) {
	err = s.Snapshot(ctx, func(in Session) error {
		for _, check := range checks {
			if check.Now != nil {
				check.Broken = check.Now()
			}
			found, _, err := One(ctx, in, func(rows *sql.Rows) (r CheckResult, err error) {
				err = rows.Scan(&r.Count, &r.Example)
				return r, err
			}, `WITH broken(name) AS (`+check.Broken+`) SELECT COUNT(*), COALESCE(MIN(CAST(name AS TEXT)), '') FROM broken`)
			if err != nil {
				return fmt.Errorf("%s: %w", check.Rule, err)
			}
			found.Check = check
			results = append(results, found)
		}
		return nil
	})
	return results, err
}

// FileCheck checks the database itself: its pages on SQLite, its indexes on PostgreSQL.
func (s *DB) FileCheck() Check {
	return Check{
		Rule: "The database file and its indexes are intact.", Broken: s.dialect.Damage(),
		Advice: "Restore the last backup on SQLite. On PostgreSQL run REINDEX for the named index.",
	}
}

// DiskCheck checks that WriteTrouble finds no full disk.
func (s *DB) DiskCheck() Check {
	broken := `SELECT 'writes fail' WHERE 1 = 0`
	if errors.Is(s.WriteTrouble(), store.ErrDiskFull) {
		broken = `SELECT 'writes fail'`
	}
	return Check{Rule: "The disk of the database has space.", Broken: broken, Advice: "Free space on the disk, or move the database to a larger one."}
}

// ClockCheck checks that the clocks of this process and the database agree within a
// second.
func (s *DB) ClockCheck() Check {
	return Check{
		Rule: "The clocks of this machine and the database agree within a second.",
		Now: func() string {
			return fmt.Sprintf(`SELECT 'they differ by ' || CAST(skew / 1000 AS TEXT) || ' ms' FROM (SELECT %s - %d AS skew) AS clocks WHERE skew > 1000000 OR skew < -1000000`, s.TruncatedClockSQL(), s.Now().UnixMicro())
		},
		Advice: "Run an NTP client on both machines.", Warning: true,
	}
}
