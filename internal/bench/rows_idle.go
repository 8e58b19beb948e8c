//go:build linux

package main

import (
	"fmt"
	"time"
)

// idleTime is how long the statements of an idle server are counted.
const idleTime = 30 * time.Second

// idleRow counts the statements of a server without requests.
func (b *bench) idleRow() ([]rowResult, error) {
	s, err := b.postgresShop(200)
	if err != nil {
		return nil, err
	}
	if err := execPostgres(s.url, `CREATE EXTENSION IF NOT EXISTS pg_stat_statements`); err != nil {
		return nil, err
	}
	if _, err := countStatements(s.url); err != nil {
		return nil, &skippedError{"needs shared_preload_libraries = 'pg_stat_statements': " + err.Error()}
	}
	if _, err := s.serve(); err != nil {
		return nil, err
	}
	time.Sleep(10 * time.Second) // the first sweeps
	before, err := countStatements(s.url)
	if err != nil {
		return nil, err
	}
	time.Sleep(idleTime)
	after, err := countStatements(s.url)
	if err != nil {
		return nil, err
	}
	rate := float64(after-before) / idleTime.Seconds()
	return []rowResult{{"statements of an idle server, PostgreSQL", loadStats{}, loadStats{}, fmt.Sprintf("%.1f/s", rate), verdictOf(rate <= 1)}}, nil
}
