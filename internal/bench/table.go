//go:build linux

package main

import (
	"fmt"
	"io"
	"strings"
)

// row is a line of the table of goals.
type row struct {
	number  int
	name    string
	goal    string
	measure func(*bench) ([]result, error)
}

// result is one measurement of a row; what is zero or empty is not shown.
type result struct {
	name           string
	product, floor tally
	told           string // the figure that the goal is about
	verdict        verdict
}

// verdict tells whether a goal is met.
type verdict string

const (
	met     verdict = "yes"
	missed  verdict = "no"
	unknown verdict = ""
)

func reached(ok bool) verdict {
	if ok {
		return met
	}
	return missed
}

// skipped is why a row was not measured; it is no failure.
type skipped struct{ reason string }

func (s *skipped) Error() string { return "skipped: " + s.reason }

// busy is the part of the time that a server had its core: less than most of
// it, and others were there too.
func (t tally) busy() float64 { return t.cpu.Seconds() / t.elapsed.Seconds() }

// ratio is a result by the product's share of the floor's requests a second.
// Where the machine has other work the share of CPU is the steadier figure.
func ratio(name string, product, floor tally, goal float64) result {
	share := product.rate() / floor.rate()
	return result{name, product, floor, fmt.Sprintf("%.3f (by CPU %.3f)", share, floor.cost()/product.cost()), reached(share >= goal)}
}

func printHead(out io.Writer) {
	fmt.Fprintln(out, "| # | case | req/s | floor | CPU µs | floor | measured | goal | met |")
	fmt.Fprintln(out, "|---|---|---|---|---|---|---|---|---|")
}

func (r result) print(out io.Writer, row row) {
	cells := []string{fmt.Sprint(row.number), r.name, "", "", "", "", r.told, row.goal, string(r.verdict)}
	if r.product.requests > 0 {
		cells[2], cells[4] = fmt.Sprintf("%.0f", r.product.rate()), fmt.Sprintf("%.0f", r.product.cost())
	}
	if r.floor.requests > 0 {
		cells[3], cells[5] = fmt.Sprintf("%.0f", r.floor.rate()), fmt.Sprintf("%.0f", r.floor.cost())
	}
	fmt.Fprintln(out, "| "+strings.Join(cells, " | ")+" |")
}
