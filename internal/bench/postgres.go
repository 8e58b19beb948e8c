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

// countStatements returns how many statements a database has run, by pg_stat_statements.
func countStatements(address string) (statements int64, err error) {
	db, err := sql.Open("pgx", address)
	if err != nil {
		return 0, err
	}
	defer db.Close()
	err = db.QueryRow(`
		SELECT COALESCE(SUM(calls), 0) FROM pg_stat_statements AS s JOIN pg_database AS d ON d.oid = s.dbid
		WHERE d.datname = current_database() AND s.query NOT LIKE '%pg_stat_statements%'`).Scan(&statements)
	return statements, err
}
