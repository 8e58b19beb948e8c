//go:build linux

package main

import (
	"crypto/rand"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// largeShop returns the shop with -large products.
func (b *bench) largeShop() (*shop, error) {
	if b.large == 0 {
		return nil, &skippedError{"-large is 0"}
	}
	return b.shop(b.large)
}

// database creates a database on the server of -postgres. drop drops it.
func (b *bench) database() (address string, drop func(), err error) {
	if b.postgres == "" {
		return "", nil, &skippedError{"needs PostgreSQL, see -postgres"}
	}
	name := "portico_bench_" + strings.ToLower(rand.Text()[:8])
	at, err := url.Parse(b.postgres)
	if err != nil {
		return "", nil, fmt.Errorf("-postgres: %w", err)
	}
	if err := execPostgres(b.postgres, "CREATE DATABASE "+name); err != nil {
		return "", nil, err
	}
	at.Path = "/" + name
	return at.String(), func() { _ = execPostgres(b.postgres, "DROP DATABASE "+name+" WITH (FORCE)") }, nil
}

// postgresShop returns the shop on PostgreSQL with a number of products, and creates it the first time.
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

// served returns the shop of most rows, with a running server of default flags.
func (b *bench) served() (*shop, error) {
	s, err := b.shop(b.products)
	if err != nil {
		return nil, err
	}
	_, err = s.serve()
	return s, err
}

// shop returns the shop on SQLite with a number of products, from the folder or created.
func (b *bench) shop(products int) (*shop, error) {
	for _, s := range b.shops {
		if s.products == products && s.file != "" {
			return s, nil
		}
	}
	file := filepath.Join(b.folder, fmt.Sprintf("shop-%d.db", products))
	s := &shop{flags: []string{"--database-url", "file:" + file}, file: file, products: products, bench: b}
	_, err := os.Stat(file)
	if err != nil {
		if err := s.fill(); err != nil {
			return nil, err
		}
	}
	b.shops = append(b.shops, s)
	return s, nil
}
