package db

import (
	"strings"
	"sync"
	"time"
)

// slowStatement is the time from which a statement is slow: with the wait for a connection, and for a read until its
// last row.
const slowStatement = 100 * time.Millisecond

// slowStatements counts slow statements by name. A nil one counts nothing.
type slowStatements struct {
	mu     sync.Mutex
	counts map[string]int64
}

// newSlowStatements begins with a zero for the statement by which each server looks for jobs, because a metric without any
// value is not exposed.
func newSlowStatements() *slowStatements {
	return &slowStatements{counts: map[string]int64{"SELECT job": 0}}
}

// record counts a statement that ends now, if it was slow.
func (s *slowStatements) record(query string, began time.Time) {
	if s == nil || time.Since(began) < slowStatement {
		return
	}
	name := statementName(query)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts[name]++
}

// statementName returns the operation of a statement and its first table, such as "SELECT product". There are few,
// because all texts come from this module.
func statementName(query string) string {
	words := strings.Fields(query)
	if len(words) == 0 {
		return ""
	}
	for i, word := range words[:len(words)-1] {
		table := strings.Trim(words[i+1], "(),;")
		if (word == "FROM" || word == "INTO" || word == "UPDATE") && table != "" && table != "SELECT" {
			return words[0] + " " + table
		}
	}
	return words[0]
}
