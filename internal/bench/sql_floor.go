//go:build linux

package main

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"io"
	"slices"
	"sync/atomic"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"
	"golang.org/x/sync/errgroup"
	_ "modernc.org/sqlite"
)

// sqlFloorCommand runs this program as a floor of writes, which uses the database driver alone. The
// arguments are a key of sqlFloorWrites and a database. For each duration that it reads, it writes for so
// long, and prints the number of requests and the nanoseconds.
const sqlFloorCommand = "sql-floor"

// sqlFloorWrites are its writes. Each returns the number of requests that it stands for.
var sqlFloorWrites = map[string]struct {
	driver  string
	workers int
	write   func(db *sql.DB, number *atomic.Int64) (requests int, err error)
}{
	"codes":   {"sqlite", 1, insertCodes},
	"updates": {"pgx", 32, updateHot},
}

func serveSQLFloor(kind, database string, in io.Reader, out io.Writer) error {
	floor := sqlFloorWrites[kind]
	db, err := sql.Open(floor.driver, database)
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(floor.workers)
	db.SetMaxIdleConns(floor.workers)
	var number atomic.Int64
	for lines := bufio.NewScanner(in); lines.Scan(); {
		d, err := time.ParseDuration(lines.Text())
		if err != nil {
			return err
		}
		var done atomic.Int64
		group, failed := errgroup.WithContext(context.Background())
		begin := time.Now()
		for range floor.workers {
			group.Go(func() error {
				for time.Since(begin) < d && failed.Err() == nil {
					requests, err := floor.write(db, &number)
					if err != nil {
						return err
					}
					done.Add(int64(requests))
				}
				return nil
			})
		}
		if err := group.Wait(); err != nil {
			return err
		}
		fmt.Fprintln(out, done.Load(), time.Since(begin).Nanoseconds())
	}
	return nil
}

const codesPerTransaction = 10_000

// insertCodes inserts codes in the order of their index, one statement a row, in one durable transaction.
func insertCodes(db *sql.DB, number *atomic.Int64) (requests int, err error) {
	transaction, err := db.Begin()
	if err != nil {
		return 0, err
	}
	defer transaction.Rollback()
	claim, err := transaction.Prepare(`INSERT INTO code_claim (code, promotion_number, epoch) VALUES ($1, 999, 0)`)
	if err != nil {
		return 0, err
	}
	code, err := transaction.Prepare(`
		INSERT INTO promotion_code (promotion_number, epoch, code, id, max_uses, used, consume_unit, users, created_at)
		VALUES (999, 0, $1, $2, NULL, 0, 'per_cart', '', 1)`)
	if err != nil {
		return 0, err
	}
	texts := make([]string, codesPerTransaction)
	first := number.Add(codesPerTransaction) - codesPerTransaction
	for i := range texts {
		texts[i] = fmt.Sprintf("BENCH-%08X", uint32(first+int64(i))*2654435761) // each once
	}
	slices.Sort(texts)
	for i, text := range texts {
		if _, err := claim.Exec(text); err != nil {
			return 0, err
		}
		if _, err := code.Exec(text, fmt.Sprintf("0190a6e2-8f5e-7cc3-9d0f-%012x", first+int64(i))); err != nil {
			return 0, err
		}
	}
	return codesPerTransaction / 1000, transaction.Commit()
}

// updateHot allocates one unit of one product.
func updateHot(db *sql.DB, _ *atomic.Int64) (requests int, err error) {
	_, err = db.Exec(`UPDATE bench_hot SET available = available - 1, allocated = allocated + 1 WHERE id = 1 AND available >= 1`)
	return 1, err
}

// sqlFloor is a running floor of writes.
type sqlFloor struct{ *child }

func startSQLFloor(ctx context.Context, kind, database string) (*sqlFloor, error) {
	c, err := startChild(ctx, sqlFloorCommand, kind, database)
	return &sqlFloor{c}, err
}

func (b *sqlFloor) run(_ context.Context, d time.Duration) (t loadStats, err error) {
	spent := cpu(b.pid())
	if _, err := fmt.Fprintln(b.in, d); err != nil {
		return t, err
	}
	line, err := b.line()
	if err != nil {
		return t, err
	}
	if _, err := fmt.Sscan(line, &t.requests, &t.elapsed); err != nil {
		return t, fmt.Errorf("the SQL floor printed %q: %w", line, err)
	}
	t.cpu = cpu(b.pid()) - spent
	return t, nil
}
