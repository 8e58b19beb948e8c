//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
)

var allocations = regexp.MustCompile(`(?m)^BenchmarkWhole/(\S+?)(?:-\d+)?\s.*?(\d+) allocs/op`)

// allocationsRow runs the benchmark of whole requests, which counts allocations without a network.
func (b *bench) allocationsRow() (results []rowResult, err error) {
	test := exec.CommandContext(b.ctx, "go", "test", "-C", source, "-run", "-", "-bench", "^BenchmarkWhole$", "-benchtime", "200x", "./internal/app")
	test.Stderr = os.Stderr
	output, err := test.Output()
	if err != nil {
		return nil, fmt.Errorf("go test -bench BenchmarkWhole: %w: %s", err, output)
	}
	for _, found := range allocations.FindAllStringSubmatch(string(output), -1) {
		count, _ := strconv.Atoi(found[2])
		results = append(results, rowResult{name: "allocations, " + found[1], measured: found[2], verdict: verdictOf(count <= 30)})
	}
	if results == nil {
		return nil, fmt.Errorf("go test -bench BenchmarkWhole printed no allocations: %s", output)
	}
	return results, nil
}
