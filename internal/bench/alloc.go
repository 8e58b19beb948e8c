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

// allocationsRow runs the benchmark of whole requests without a network.
func (b *bench) allocationsRow() (results []result, err error) {
	test := exec.CommandContext(b.ctx, "go", "test", "-run", "-", "-bench", "^BenchmarkWhole$", "-benchtime", "200x", "portico")
	test.Stderr = os.Stderr
	output, err := test.Output()
	if err != nil {
		return nil, fmt.Errorf("go test -bench BenchmarkWhole: %w: %s", err, output)
	}
	for _, found := range allocations.FindAllStringSubmatch(string(output), -1) {
		count, _ := strconv.Atoi(found[2])
		results = append(results, result{name: "allocations, " + found[1], told: found[2], verdict: reached(count <= 30)})
	}
	if results == nil {
		return nil, fmt.Errorf("go test -bench BenchmarkWhole tells no allocations: %s", output)
	}
	return results, nil
}
