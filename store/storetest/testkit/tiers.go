// Package testkit has helpers for tests that need no database: the quick and the full tests, seeds, clocks, logs and waiting. Its main
// types are Clock and LogBuffer. It imports no other package of this module, so that tests in any package can use it.
package testkit

import (
	"flag"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// FullTests reports whether the full tests run, with more draws, requests and kills:
// PORTICO_TEST_LONG is set and not 0, without -short. The quick tests cover the same rules.
func FullTests() bool {
	long := os.Getenv("PORTICO_TEST_LONG")
	return long != "" && long != "0" && !(flag.Parsed() && testing.Short())
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

// SkipMissing skips a test that needs something this machine lacks. It fails the test if
// PORTICO_TEST_REQUIRE, a comma-separated list, contains name: "postgres", "chromium", "node",
// "graphiql", "genqlient", "modules", "patroni", "script", "varnish" or "root".
func SkipMissing(t testing.TB, name, reason string) {
	t.Helper()
	for required := range strings.SplitSeq(os.Getenv("PORTICO_TEST_REQUIRE"), ",") {
		if strings.TrimSpace(required) == name {
			t.Fatalf("PORTICO_TEST_REQUIRE contains %s, which this machine lacks: %s", name, reason)
		}
	}
	t.Skipf("skipped without %s: %s", name, reason)
}

// SeedVariable is the environment variable that fixes what tests draw. SetFlags passes its number on to
// rapid, which takes 0 for a new seed. A package whose tests have no TestMain reads RAPID_SEED instead.
const SeedVariable = "PORTICO_TEST_SEED"

// Seed returns the seed of a test's random numbers: PORTICO_TEST_SEED if it is set, else the
// time. It logs the seed.
func Seed(t testing.TB) uint64 {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv(SeedVariable); text != "" {
		var err error
		seed, err = strconv.ParseUint(text, 10, 64)
		require.NoError(t, err, SeedVariable+" must be a number")
	}
	t.Logf(SeedVariable+"=%d repeats this run", seed)
	return seed
}

const (
	quickChecks = 20  // rapid's draws in the quick tests
	fullChecks  = 100 // and in the full tests
	minParallel = 4   // parallel tests at least, because some only wait
	gcPercent   = 400 // GOGC: garbage collection took a third of the tests' time
)

// SetFlags tunes the test process. Flags of the command line win.
func SetFlags() {
	if !flag.Parsed() {
		flag.Parse()
	}
	setFlagDefault("rapid.checks", strconv.Itoa(QuickOrFull(quickChecks, fullChecks)))
	if seed := os.Getenv(SeedVariable); seed != "" {
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
