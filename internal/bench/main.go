//go:build linux

// Command bench compares the server with a floor: a bare net/http server that writes the same
// responses. Compare the two of one run, not the rates of two runs.
//
//	go run -C internal/bench .
//
// It needs two cores and takes two minutes. -only selects rows of rows.go. It is a module of its own
// and starts the server as a process, so it must not import the server's packages outside of tests.
package main

//	core 0   portico (built, with a generated shop)  |  floor   in turns, in short slices; the other one waits
//	              ^                                  |    ^
//	core 1   load: 16 connections, a Zipf mix of a thousand requests
//
// A process runs on the core of the thread that started it (pin).

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

func main() {
	if isRole, err := runRole(os.Args[1:]); isRole {
		exit(err)
	}
	var o options
	flag.Float64Var(&o.seconds, "seconds", 4, "seconds of load for each side of a row")
	flag.IntVar(&o.products, "products", 4000, "products of the shop")
	flag.IntVar(&o.large, "large", 100_000, "products of the shop of rows 9 to 11 and 16 to 18, which takes long to import; 0 skips these rows")
	flag.IntVar(&o.distinct, "distinct", 1200, "maximum number of different requests of a mix")
	flag.IntVar(&o.connections, "connections", 16, "concurrent connections, except for rows with a number of their own")
	flag.StringVar(&o.only, "only", "", "rows to measure, for example 1,2,7; all by default")
	flag.StringVar(&o.postgres, "postgres", "", "URL of a PostgreSQL server, for row 14 and parts of 11 and 18; it creates a database there and drops it")
	flag.StringVar(&o.folder, "folder", "", "folder that keeps the shops for the next run; a temporary folder by default")
	flag.StringVar(&o.profile, "profile", "", "measure nothing, and write a profile of the server under load to this file, for -pgo and releases")
	flag.StringVar(&o.pgo, "pgo", "off", "profile to build the server with, or off")
	flag.Parse()
	if flag.NArg() > 0 {
		exit(fmt.Errorf("unknown argument %q; see -help", flag.Arg(0)))
	}
	if err := restartOnCore(loadCore); err != nil {
		exit(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	exit(run(ctx, o, os.Stdout))
}

// runRole runs the floor that args name, when the program started itself as one.
func runRole(args []string) (isRole bool, err error) {
	switch {
	case len(args) == 1 && args[0] == floorCommand:
		return true, serveFloor(os.Stdin, os.Stdout)
	case len(args) == 3 && args[0] == sqlFloorCommand:
		return true, serveSQLFloor(args[1], args[2], os.Stdin, os.Stdout)
	}
	return false, nil
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// sealKey seals the secrets of the generated shops.
const sealKey = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="

// run measures the selected rows, and prints each as it ends.
func run(ctx context.Context, o options, out io.Writer) error {
	chosen, err := chooseRows(o.only)
	if err != nil {
		return err
	}
	if o.folder == "" {
		if o.folder, err = os.MkdirTemp("", "portico-bench-*"); err != nil {
			return err
		}
		defer os.RemoveAll(o.folder)
	} else if err := os.MkdirAll(o.folder, 0o755); err != nil {
		return err
	}
	folder, err := filepath.Abs(o.folder)
	if err != nil {
		return err
	}
	if err := os.Setenv("PORTICO_SEAL_KEY", sealKey); err != nil {
		return err
	}
	b := &bench{options: o, ctx: ctx, folder: folder, portico: filepath.Join(folder, "portico")}
	defer b.close()
	if err := b.build(); err != nil {
		return err
	}
	if o.profile != "" {
		return b.profile(o.profile)
	}
	fmt.Fprintf(out, "%d products, Zipf mix, %d connections, %s a side, one core for the server\n\n", o.products, o.connections, formatSeconds(o.seconds))
	printHead(out)
	failed, coreShared := false, false
	for _, row := range chosen {
		results, err := row.measure(b)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			failed = failed || !errors.As(err, new(*skippedError))
			results = append(results, rowResult{name: row.name, measured: err.Error()})
		}
		for _, result := range results {
			result.print(out, row)
			coreShared = coreShared || (row.number <= 8 || row.number == 22) && result.product.requests > 0 && min(result.product.busy(), result.floor.busy()) < 0.9
		}
	}
	if coreShared {
		fmt.Fprintln(out, "\nOther processes ran on the core of the servers: measure again when the machine is idle, or compare by CPU.")
	}
	if failed {
		return errors.New("rows failed, see the table")
	}
	return nil
}

// chooseRows returns the rows with these numbers, in order; all for an empty list.
func chooseRows(only string) (chosen []benchRow, err error) {
	if only == "" {
		return allRows(), nil
	}
	var numbers []int
	for text := range strings.SplitSeq(only, ",") {
		number, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || number < 1 || number > len(allRows()) {
			return nil, fmt.Errorf("-only: must be row numbers from 1 to %d, got %q", len(allRows()), text)
		}
		numbers = append(numbers, number)
	}
	for _, row := range allRows() {
		if slices.Contains(numbers, row.number) {
			chosen = append(chosen, row)
		}
	}
	return chosen, nil
}
