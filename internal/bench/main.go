//go:build linux

// Command bench measures the server beside its own floor: a bare net/http
// server that writes the very same answers. Compare the two of one run, never
// the rates of two.
//
//	go run ./internal/bench
//
// It needs two cores, and takes two minutes; -only picks rows.
package main

//	core 0   portico (built, with a generated shop)  |  floor   each in turn, in short slices; the other one waits
//	              ^                                  |    ^
//	core 1   load: 16 connections, a Zipf mix of a thousand requests
//
// What is on which core is a matter of where a process is started (pin); a
// process's own threads stay where it was. The rows are in rows.go.

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// options are the flags.
type options struct {
	seconds     float64
	products    int
	large       int
	distinct    int
	connections int
	only        string
	postgres    string
	folder      string
	profile     string
	pgo         string
}

func main() {
	if asked, err := play(os.Args[1:]); asked {
		exit(err)
	}
	var o options
	flag.Float64Var(&o.seconds, "seconds", 4, "how long each side of a row is under load")
	flag.IntVar(&o.products, "products", 4000, "products of the shop")
	flag.IntVar(&o.large, "large", 100_000, "products of the shop of rows 9 to 11 and 16 to 18, whose import takes its time; 0 leaves them out")
	flag.IntVar(&o.distinct, "distinct", 1200, "different requests of a mix, at most")
	flag.IntVar(&o.connections, "connections", 16, "connections at once, but for rows that say otherwise")
	flag.StringVar(&o.only, "only", "", "the rows to measure, such as 1,2,7; all unless given")
	flag.StringVar(&o.postgres, "postgres", "", "URL of a PostgreSQL server, for row 14 and parts of 11 and 18; a database is made there and dropped again")
	flag.StringVar(&o.folder, "folder", "", "where to keep the shops for the next run; a temporary folder unless given")
	flag.StringVar(&o.profile, "profile", "", "measure nothing: write a profile of the server under load to this file, for -pgo and releases")
	flag.StringVar(&o.pgo, "pgo", "off", "the profile that the server is built with, or off")
	flag.Parse()
	if flag.NArg() > 0 {
		exit(fmt.Errorf("unknown argument %q; see -help", flag.Arg(0)))
	}
	if err := keepTo(loadCore); err != nil {
		exit(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	exit(run(ctx, o, os.Stdout))
}

// play plays the role that this program was started in by itself, if any.
func play(args []string) (asked bool, err error) {
	switch {
	case len(args) == 1 && args[0] == floorCommand:
		return true, serveFloor(os.Stdin, os.Stdout)
	case len(args) == 3 && args[0] == bareCommand:
		return true, serveBare(args[1], args[2], os.Stdin, os.Stdout)
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

// sealKey seals what is nobody's secret.
const sealKey = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="

// run measures the rows that are asked for, and prints each as it comes.
func run(ctx context.Context, o options, out io.Writer) error {
	chosen, err := choose(o.only)
	if err != nil {
		return err
	}
	folder := o.folder
	if folder == "" {
		if folder, err = os.MkdirTemp("", "portico-bench-*"); err != nil {
			return err
		}
		defer os.RemoveAll(folder)
	} else if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	if err := os.Setenv("PORTICO_SEAL_KEY", sealKey); err != nil {
		return err
	}
	b := &bench{options: o, ctx: ctx, folder: folder, portico: filepath.Join(folder, "portico"), memo: map[string]float64{}}
	defer b.close()
	build := exec.CommandContext(ctx, "go", "build", "-pgo", cmp.Or(o.pgo, "off"), "-o", b.portico, "portico")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("build the server: %w", err)
	}
	if o.profile != "" {
		return b.profile(o.profile)
	}
	fmt.Fprintf(out, "%d products, Zipf mix, %d connections, %s a side, one core for the server\n\n", o.products, o.connections, seconds(o.seconds))
	printHead(out)
	failed, others := false, false
	for _, row := range chosen {
		results, err := row.measure(b)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			failed = failed || !errors.As(err, new(*skipped))
			results = append(results, result{name: row.name, told: err.Error()})
		}
		for _, result := range results {
			result.print(out, row)
			others = others || row.number <= 8 && result.product.requests > 0 && min(result.product.busy(), result.floor.busy()) < 0.9
		}
	}
	if others {
		fmt.Fprintln(out, "\nServers did not have their core for themselves: measure again when the machine is quiet, or compare by CPU.")
	}
	if failed {
		return errors.New("rows failed, see the table")
	}
	return nil
}

// choose is the rows by their numbers, in order; all when none is named.
func choose(only string) (chosen []row, err error) {
	if only == "" {
		return rows(), nil
	}
	var numbers []int
	for text := range strings.SplitSeq(only, ",") {
		number, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || number < 1 || number > len(rows()) {
			return nil, fmt.Errorf("-only: there are rows 1 to %d, and no %q", len(rows()), text)
		}
		numbers = append(numbers, number)
	}
	for _, row := range rows() {
		if slices.Contains(numbers, row.number) {
			chosen = append(chosen, row)
		}
	}
	return chosen, nil
}

// bench is what rows share.
type bench struct {
	options
	ctx     context.Context
	folder  string
	portico string             // the binary
	memo    map[string]float64 // what rows found that later ones compare with
	shops   []*shop
}

func (b *bench) close() {
	for _, s := range b.shops {
		s.stop()
		if s.drop != nil {
			s.drop()
		}
	}
}

func seconds(s float64) string { return time.Duration(s * float64(time.Second)).String() }
