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

// Long tells whether tests take their long form, with more draws, requests and
// kills: PORTICO_LONG is set to anything but 0. The short form holds the same
// promises, and is what a person waits for.
func Long() bool {
	long := os.Getenv("PORTICO_LONG")
	return long != "" && long != "0"
}

// Pick is how many draws, requests or kills a test makes, in its short form and
// in its long one.
func Pick(short, long int) int {
	if Long() {
		return long
	}
	return short
}

// LongOnly skips what the short form has in small elsewhere.
func LongOnly(t testing.TB, reason string) {
	t.Helper()
	if !Long() {
		t.Skip("of the long form, PORTICO_LONG=1: " + reason)
	}
}

// OnceIsEnough skips on any engine but SQLite what costs seconds, and would
// hardly differ there, unless in the long form.
func OnceIsEnough(t testing.TB, e Engine) {
	t.Helper()
	if e.Name != "sqlite" {
		LongOnly(t, "SQLite has it in the short one")
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
	fewChecks  = 20  // draws of a property test in the short form
	manyChecks = 100 // and in the long one
	atOnce     = 4   // tests side by side, at least: some wait for a clock or a process
	garbage    = 400 // GOGC: tests make much that is soon forgotten, and a third of their time went into looking for it
)

// setUp fits the test process to its work; flags that are given stay as they are.
func setUp() {
	if !flag.Parsed() {
		flag.Parse()
	}
	preset("rapid.checks", Pick(fewChecks, manyChecks))
	preset("test.parallel", max(atOnce, runtime.GOMAXPROCS(0)))
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbage)
	}
}

// preset gives a flag another default.
func preset(name string, value int) {
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == name })
	if given || flag.Lookup(name) == nil {
		return
	}
	if err := flag.Set(name, strconv.Itoa(value)); err != nil {
		panic(err)
	}
}
