package testkit

import (
	"os"
	"os/exec"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) { SetFlags(); m.Run() }

// TestRapidSum logs what rapid draws, for TestRapidDrawsFromTheSeed.
func TestRapidSum(t *testing.T) {
	t.Parallel()
	sum := uint64(0)
	rapid.Check(t, func(t *rapid.T) { sum += rapid.Uint64().Draw(t, "number") })
	t.Logf("sum=%d", sum)
}

// TestRapidDrawsFromTheSeed requires that PORTICO_TEST_SEED fixes what rapid draws, unless the
// command line has a seed.
func TestRapidDrawsFromTheSeed(t *testing.T) {
	t.Parallel()
	sum := func(seed string, flags ...string) string {
		run := exec.Command(os.Args[0], append([]string{"-test.run=^TestRapidSum$", "-test.v"}, flags...)...)
		run.Env = append(os.Environ(), SeedVariable+"="+seed)
		output, err := run.CombinedOutput()
		require.NoError(t, err, "%s", output)
		return regexp.MustCompile(`sum=\d+`).FindString(string(output))
	}
	first := sum("7")
	require.NotEmpty(t, first)
	require.Equal(t, first, sum("7"))
	second := sum("8")
	require.NotEqual(t, first, second)
	require.Equal(t, second, sum("7", "-rapid.seed=8"))
}
