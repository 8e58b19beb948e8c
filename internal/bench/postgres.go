//go:build linux

package main

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// execPostgres runs statements on a database.
func execPostgres(address string, statements ...string) error {
	db, err := sql.Open("pgx", address)
	if err != nil {
		return err
	}
	defer db.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, statement := range statements {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}

// createHotTable creates the table of updateHot.
func createHotTable(address string) error {
	return execPostgres(address, `DROP TABLE IF EXISTS bench_hot`,
		`CREATE TABLE bench_hot (id BIGINT PRIMARY KEY, available BIGINT NOT NULL CHECK (available >= 0), allocated BIGINT NOT NULL)`,
		`INSERT INTO bench_hot VALUES (1, 1000000000, 0)`)
}
