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

// bareCommand is the role of a writer that has nothing but the driver. What
// it does and where are its arguments; each line it reads is a time, in which
// it writes, and it answers with how often it did, and nanoseconds.
const bareCommand = "bare"

// bareWrites are what it can do: each makes one piece of work and returns how
// many requests that would have been.
var bareWrites = map[string]struct {
	driver  string
	workers int
	write   func(db *sql.DB, number *atomic.Int64) (requests int, err error)
}{
	"codes":   {"sqlite", 1, insertCodes},
	"updates": {"pgx", 32, updateHot},
}

func serveBare(what, where string, in io.Reader, out io.Writer) error {
	bare := bareWrites[what]
	db, err := sql.Open(bare.driver, where)
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(bare.workers)
	db.SetMaxIdleConns(bare.workers)
	var number atomic.Int64
	for lines := bufio.NewScanner(in); lines.Scan(); {
		d, err := time.ParseDuration(lines.Text())
		if err != nil {
			return err
		}
		var done atomic.Int64
		group, failed := errgroup.WithContext(context.Background())
		begin := time.Now()
		for range bare.workers {
			group.Go(func() error {
				for time.Since(begin) < d && failed.Err() == nil {
					requests, err := bare.write(db, &number)
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

// codesAtOnce are how many codes are in a transaction.
const codesAtOnce = 10_000

// insertCodes writes the rows of codes, one statement a row, sorted as their
// indexes like it best, in one durable transaction.
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
	texts := make([]string, codesAtOnce)
	first := number.Add(codesAtOnce) - codesAtOnce
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
	return codesAtOnce / 1000, transaction.Commit()
}

// updateHot allocates one of a product, plainly.
func updateHot(db *sql.DB, _ *atomic.Int64) (requests int, err error) {
	_, err = db.Exec(`UPDATE bench_hot SET available = available - 1, allocated = allocated + 1 WHERE id = 1 AND available >= 1`)
	return 1, err
}

// bareLoad is the child's side of a comparison.
type bareLoad struct{ *child }

func startBare(ctx context.Context, what, where string) (*bareLoad, error) {
	c, err := startChild(ctx, bareCommand, what, where)
	return &bareLoad{c}, err
}

func (b *bareLoad) run(_ context.Context, d time.Duration) (t tally, err error) {
	spent := cpu(b.pid())
	if _, err := fmt.Fprintln(b.in, d); err != nil {
		return t, err
	}
	line, err := b.line()
	if err != nil {
		return t, err
	}
	if _, err := fmt.Sscan(line, &t.requests, &t.elapsed); err != nil {
		return t, fmt.Errorf("the bare writer said %q: %w", line, err)
	}
	t.cpu = cpu(b.pid()) - spent
	return t, nil
}
