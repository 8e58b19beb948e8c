//go:build linux

package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"net/url"
	"strings"
	"time"
)

// onPostgres runs a statement where a URL leads.
func onPostgres(address string, statements ...string) error {
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

// database makes a database on the server that -postgres names; drop ends it.
func (b *bench) database() (address string, drop func(), err error) {
	if b.postgres == "" {
		return "", nil, &skipped{"it needs PostgreSQL, see -postgres"}
	}
	name := "portico_bench_" + strings.ToLower(rand.Text()[:8])
	at, err := url.Parse(b.postgres)
	if err != nil {
		return "", nil, fmt.Errorf("-postgres: %w", err)
	}
	if err := onPostgres(b.postgres, "CREATE DATABASE "+name); err != nil {
		return "", nil, err
	}
	at.Path = "/" + name
	return at.String(), func() { _ = onPostgres(b.postgres, "DROP DATABASE "+name+" WITH (FORCE)") }, nil
}

// postgresShop makes a shop on PostgreSQL, or finds it.
func (b *bench) postgresShop(products int) (*shop, error) {
	for _, s := range b.shops {
		if s.products == products && s.url != "" {
			return s, nil
		}
	}
	address, drop, err := b.database()
	if err != nil {
		return nil, err
	}
	s := &shop{flags: []string{"--database-url", address}, url: address, products: products, bench: b, drop: drop}
	b.shops = append(b.shops, s)
	return s, s.fill()
}

// makeHot makes the table of plain updates.
func makeHot(address string) error {
	return onPostgres(address, `DROP TABLE IF EXISTS bench_hot`,
		`CREATE TABLE bench_hot (id BIGINT PRIMARY KEY, available BIGINT NOT NULL CHECK (available >= 0), allocated BIGINT NOT NULL)`,
		`INSERT INTO bench_hot VALUES (1, 1000000000, 0)`)
}
