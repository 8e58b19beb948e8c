//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMain lets the test binary start itself as a floor.
func TestMain(m *testing.M) {
	if isRole, err := runRole(os.Args[1:]); isRole {
		exit(err)
	}
	m.Run()
}

// TestRows runs every row that needs neither much time nor PostgreSQL, too briefly for figures that mean
// something.
func TestRows(t *testing.T) {
	if long := os.Getenv("PORTICO_TEST_LONG"); long == "" || long == "0" {
		t.Skip("full tests only (PORTICO_TEST_LONG=1): it builds the server and loads it")
	}
	if runtime.NumCPU() < 2 {
		t.Skip("needs two cores")
	}
	var out bytes.Buffer
	o := options{seconds: 0.05, products: 300, large: 300, distinct: 20, connections: 4, folder: t.TempDir(), only: "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18"}
	require.NoError(t, run(t.Context(), o, &out), "%s", &out)
	for number := range 18 {
		require.Contains(t, out.String(), fmt.Sprintf("\n| %d | ", number+1))
	}
}

func TestMixesFollowZipfsLaw(t *testing.T) {
	t.Parallel()
	requests := make([]loadRequest, 100)
	for i := range requests {
		requests[i].path = fmt.Sprint("/", i)
	}
	m := newMix(requests, 50)
	require.Len(t, m.requests, 50)
	times := make([]int, 50)
	for _, i := range m.order {
		times[i]++
	}
	require.NotZero(t, slices.Min(times), "every request is sent")
	require.InEpsilon(t, 2, float64(times[0])/float64(times[1]), 0.1)
	require.InEpsilon(t, 10, float64(times[0])/float64(times[9]), 0.2)
}

func TestStampsAreUnique(t *testing.T) {
	t.Parallel()
	w := loadRequest{method: "POST", path: "/", body: stamp + " and " + stamp}.encode(7)
	require.Len(t, w.stamps, 2)
	seen, counter := map[string]bool{}, uint32(0)
	for range 1000 {
		w.fillStamps(&counter)
		for _, at := range w.stamps {
			seen[string(w.bytes[at:at+len(stamp)])] = true
		}
	}
	require.Len(t, seen, 2000)
}

// TestDriversAreThoseOfTheServer ensures that the floors do not compare two versions of a driver.
func TestDriversAreThoseOfTheServer(t *testing.T) {
	t.Parallel()
	server, err := os.ReadFile(filepath.Join(source, "go.mod"))
	require.NoError(t, err)
	own, err := os.ReadFile("go.mod")
	require.NoError(t, err)
	for _, module := range []string{"github.com/jackc/pgx/v5", "modernc.org/sqlite", "modernc.org/libc"} {
		line := regexp.MustCompile(regexp.QuoteMeta(module) + ` v\S+`)
		require.Equal(t, string(line.Find(server)), string(line.Find(own)))
	}
}
