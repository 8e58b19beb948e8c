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

// FullTests reports whether the full tests run, with more draws, requests and kills:
// PORTICO_TEST_LONG is set and not 0. The quick tests cover the same rules.
func FullTests() bool {
	long := os.Getenv("PORTICO_TEST_LONG")
	return long != "" && long != "0"
}

// QuickOrFull returns the number of draws, requests or kills for the quick or the full tests.
func QuickOrFull(short, long int) int {
	if FullTests() {
		return long
	}
	return short
}

// FullTestsOnly skips a test unless the full tests run. reason says what covers the same in the
// quick tests.
func FullTestsOnly(t testing.TB, reason string) {
	t.Helper()
	if !FullTests() {
		t.Skip("full tests only (PORTICO_TEST_LONG=1): " + reason)
	}
}

// seedVariable is the environment variable that fixes what tests draw. Main passes its number on to
// rapid, which takes 0 for a new seed. A package whose tests have no Main reads RAPID_SEED instead.
const seedVariable = "PORTICO_TEST_SEED"

// Seed returns the seed of a test's random numbers: PORTICO_TEST_SEED if it is set, else the
// time. It logs the seed.
func Seed(t testing.TB) uint64 {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv(seedVariable); text != "" {
		var err error
		seed, err = strconv.ParseUint(text, 10, 64)
		require.NoError(t, err, seedVariable+" must be a number")
	}
	t.Logf(seedVariable+"=%d repeats this run", seed)
	return seed
}

const (
	quickChecks = 20  // rapid's draws in the quick tests
	fullChecks  = 100 // and in the full tests
	minParallel = 4   // parallel tests at least, because some only wait
	gcPercent   = 400 // GOGC: garbage collection took a third of the tests' time
)

// setTestFlags tunes the test process. Flags of the command line win.
func setTestFlags() {
	if !flag.Parsed() {
		flag.Parse()
	}
	setFlagDefault("rapid.checks", strconv.Itoa(QuickOrFull(quickChecks, fullChecks)))
	if seed := os.Getenv(seedVariable); seed != "" {
		setFlagDefault("rapid.seed", seed)
	}
	setFlagDefault("test.parallel", strconv.Itoa(max(minParallel, runtime.GOMAXPROCS(0))))
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
}

// setFlagDefault sets a flag unless the command line has.
func setFlagDefault(name, value string) {
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == name })
	if given || flag.Lookup(name) == nil {
		return
	}
	if err := flag.Set(name, value); err != nil {
		panic(err)
	}
}
