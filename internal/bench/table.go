//go:build linux

package main

import (
	"fmt"
	"io"
	"strings"
	"time"
)

func formatSeconds(s float64) string { return time.Duration(s * float64(time.Second)).String() }

// benchRow is a row of the table.
type benchRow struct {
	number  int
	name    string
	goal    string
	measure func(*bench) ([]rowResult, error)
}

// rowResult is one measurement of a row. Zero and empty fields are not printed.
type rowResult struct {
	name           string
	product, floor loadStats
	measured       string // the figure of the goal
	verdict        verdict
}

// verdict is whether a goal is met.
type verdict string

const (
	met    verdict = "yes"
	missed verdict = "no"
)

func verdictOf(ok bool) verdict {
	if ok {
		return met
	}
	return missed
}

// skippedError is why a row was not measured. It is not a failure.
type skippedError struct{ reason string }

func (s *skippedError) Error() string { return "skipped: " + s.reason }

// ratio is the throughput of the server relative to the floor. The ratio of CPU time is the more stable
// figure on a busy machine.
func ratio(name string, product, floor loadStats, goal float64) rowResult {
	share := product.rate() / floor.rate()
	return rowResult{name, product, floor, fmt.Sprintf("%.3f (by CPU %.3f)", share, floor.cost()/product.cost()), verdictOf(share >= goal)}
}

func printHead(out io.Writer) {
	fmt.Fprintln(out, "| # | case | req/s | floor | CPU µs | floor | measured | goal | met |")
	fmt.Fprintln(out, "|---|---|---|---|---|---|---|---|---|")
}

func (r rowResult) print(out io.Writer, row benchRow) {
	cells := []string{fmt.Sprint(row.number), r.name, "", "", "", "", r.measured, row.goal, string(r.verdict)}
	if r.product.requests > 0 {
		cells[2], cells[4] = fmt.Sprintf("%.0f", r.product.rate()), fmt.Sprintf("%.0f", r.product.cost())
	}
	if r.floor.requests > 0 {
		cells[3], cells[5] = fmt.Sprintf("%.0f", r.floor.rate()), fmt.Sprintf("%.0f", r.floor.cost())
	}
	fmt.Fprintln(out, "| "+strings.Join(cells, " | ")+" |")
}

func roundTime(d time.Duration) string { return d.Round(100 * time.Microsecond).String() }
