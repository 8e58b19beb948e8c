//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/storetest"
)

// TestMain lets the tests start themselves as floors.
func TestMain(m *testing.M) {
	if asked, err := play(os.Args[1:]); asked {
		exit(err)
	}
	storetest.Main(m)
}

// Every row that needs neither much time nor PostgreSQL finds what it asks
// for. What it measures in so short a time means nothing.
func TestRows(t *testing.T) {
	storetest.FullTestsOnly(t, "it builds the server and runs it under load")
	if runtime.NumCPU() < 2 {
		t.Skip("it takes two cores")
	}
	var out bytes.Buffer
	o := options{seconds: 0.05, products: 300, large: 300, distinct: 20, connections: 4, folder: t.TempDir(), only: "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18"}
	require.NoError(t, run(t.Context(), o, &out), "%s", &out)
	for number := range 18 {
		require.Contains(t, out.String(), fmt.Sprintf("\n| %d | ", number+1))
	}
}

func TestMixesFollowZipf(t *testing.T) {
	t.Parallel()
	requests := make([]request, 100)
	for i := range requests {
		requests[i].path = fmt.Sprint("/", i)
	}
	m := newMix(requests, 50)
	require.Len(t, m.requests, 50)
	times := make([]int, 50)
	for _, i := range m.order {
		times[i]++
	}
	require.NotZero(t, slices.Min(times), "every request is asked for")
	require.InEpsilon(t, 2, float64(times[0])/float64(times[1]), 0.1)
	require.InEpsilon(t, 10, float64(times[0])/float64(times[9]), 0.2)
}

func TestStampsAreNeverTheSame(t *testing.T) {
	t.Parallel()
	w := request{method: "POST", path: "/", body: stamp + " and " + stamp}.wire(7)
	require.Len(t, w.stamps, 2)
	seen, counter := map[string]bool{}, uint32(0)
	for range 1000 {
		w.number(&counter)
		for _, at := range w.stamps {
			seen[string(w.bytes[at:at+len(stamp)])] = true
		}
	}
	require.Len(t, seen, 2000)
}
