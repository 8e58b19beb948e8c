package storetest

import (
	"flag"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// FullTests tells whether tests take their long form, with more draws, requests and
// kills: PORTICO_LONG is set to anything but 0. The short form holds the same
// promises, and is what a person waits for.
func FullTests() bool {
	long := os.Getenv("PORTICO_LONG")
	return long != "" && long != "0"
}

// QuickOrFull is how many draws, requests or kills a test makes, in its short form and
// in its long one.
func QuickOrFull(short, long int) int {
	if FullTests() {
		return long
	}
	return short
}

// FullTestsOnly skips what the short form has in small elsewhere.
func FullTestsOnly(t testing.TB, reason string) {
	t.Helper()
	if !FullTests() {
		t.Skip("of the long form, PORTICO_LONG=1: " + reason)
	}
}

// FullTestsOnlyOnPostgres skips on any engine but SQLite what costs seconds, and would
// hardly differ there, unless in the long form.
func FullTestsOnlyOnPostgres(t testing.TB, e Backend) {
	t.Helper()
	if e.Name != "sqlite" {
		FullTestsOnly(t, "SQLite has it in the short one")
	}
}

// Seed is what a test draws its random numbers from: another one in each run,
// which is told, or the one that an environment variable gives.
func Seed(t testing.TB, variable string) uint64 {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv(variable); text != "" {
		var err error
		seed, err = strconv.ParseUint(text, 10, 64)
		require.NoError(t, err, variable)
	}
	t.Logf("%s=%d repeats this run", variable, seed)
	return seed
}

const (
	quickChecks = 20  // draws of a property test in the short form
	fullChecks  = 100 // and in the long one
	minParallel = 4   // tests side by side, at least: some wait for a clock or a process
	gcPercent   = 400 // GOGC: tests make much that is soon forgotten, and a third of their time went into looking for it
)

// setTestFlags fits the test process to its work; flags that are given stay as they are.
func setTestFlags() {
	if !flag.Parsed() {
		flag.Parse()
	}
	setFlagDefault("rapid.checks", QuickOrFull(quickChecks, fullChecks))
	setFlagDefault("test.parallel", max(minParallel, runtime.GOMAXPROCS(0)))
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
}

// setFlagDefault gives a flag another default.
func setFlagDefault(name string, value int) {
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == name })
	if given || flag.Lookup(name) == nil {
		return
	}
	if err := flag.Set(name, strconv.Itoa(value)); err != nil {
		panic(err)
	}
}
