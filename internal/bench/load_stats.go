//go:build linux

package main

import (
	"context"
	"slices"
	"time"
)

// loader is one of the two sides of a comparison.
type loader interface {
	run(ctx context.Context, d time.Duration) (loadStats, error)
}

// loadStats is the result of a time under load.
type loadStats struct {
	requests  int
	elapsed   time.Duration
	cpu       time.Duration // of the server
	latencies []time.Duration
}

func (t *loadStats) add(other loadStats) {
	t.requests += other.requests
	t.elapsed += other.elapsed
	t.cpu += other.cpu
	t.latencies = append(t.latencies, other.latencies...)
}

// rate is the number of requests per second.
func (t loadStats) rate() float64 { return float64(t.requests) / t.elapsed.Seconds() }

// cost is the server's CPU per request, in microseconds.
func (t loadStats) cost() float64 {
	return float64(t.cpu.Nanoseconds()) / 1000 / float64(max(1, t.requests))
}

// p99 is the 99th percentile of the latencies.
func (t loadStats) p99() time.Duration {
	if len(t.latencies) == 0 {
		return 0
	}
	slices.Sort(t.latencies)
	return t.latencies[len(t.latencies)*99/100]
}

// busy is the fraction of the time during which the server used its core. Below 0.9, other processes ran there.
func (t loadStats) busy() float64 { return t.cpu.Seconds() / t.elapsed.Seconds() }
