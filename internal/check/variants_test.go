package check

import (
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// variants lists the packages that are compiled again for the tests of another package, because test files inside that package make it
// differ from the one that production code imports. To keep a package out of the list, put its tests into an external test package,
// or import less there: testkit and dbtest instead of storetest.
var variants = []struct{ tested, compiled, reason string }{
	{"graph/executor", "graph/graphtest graph/transport", "Tests compare plans with an executor whose unexported steps they name."},
	{"internal/web/server", "internal/web/middleware", "Tests replace the connection under a deadline."},
	{"rest", "rest/resttest", "Tests read the table of routes, so that no route lacks a test."},
	{"store/db", "store/storetest/dbtest", "Tests replace what the poll loop receives, and read the cache's charge."},
	{"store/exchange", "store/shop store/storetest", "Tests compare the two decoders of an import line."},
	{"store/release", "store/cart store/publish store/publish/compare store/shop store/storetest", "Tests compare the two decoders of a document."},
	{"store/shop", "store/storetest", "Tests read the statements of every list, so that each uses an index."},
}

// testVariant is the import path of a package as the test binary of another one has it.
var testVariant = regexp.MustCompile(`(?m)^portico/(\S+) \[portico/(\S+)\.test\]$`)

// TestNoPackageIsCompiledTwice requires that a test binary uses the packages that production code uses, except for variants.
func TestNoPackageIsCompiledTwice(t *testing.T) {
	t.Parallel()
	want := map[string]string{}
	for _, v := range variants {
		want[v.tested] = v.compiled
		require.NotEmpty(t, v.reason, v.tested)
	}
	output, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-test", "-f", "{{.ImportPath}}", "./...").Output()
	require.NoError(t, err)
	compiled := map[string][]string{}
	for _, match := range testVariant.FindAllStringSubmatch(string(output), -1) {
		if name, tested := match[1], match[2]; name != tested && name != tested+"_test" {
			compiled[tested] = append(compiled[tested], name)
		}
	}
	got := map[string]string{}
	for tested, names := range compiled {
		slices.Sort(names)
		got[tested] = strings.Join(slices.Compact(names), " ")
	}
	require.Equal(t, want, got)
}

// TestPureTestsLinkNoDatabase requires that the tests of packages that compute, or that serve HTTP alone, link no driver: linking
// SQLite takes a third of a second for each binary. Package drivers brings the drivers, through store/shop or dbtest.
func TestPureTestsLinkNoDatabase(t *testing.T) {
	t.Parallel()
	pure := strings.Fields(`graph/audience graph/document graph/limits graph/model graph/opctx graph/plan graph/playground internal/cachekey
		internal/web/accesslog internal/web/frontcache internal/web/problem internal/web/server store/exchange/check store/exchange/sheet
		store/index store/promotion/code store/promotion/discount store/promotion/rule store/release/price store/release/routing`)
	arguments := []string{"list", "-test", "-f", `{{.ImportPath}} {{join .Deps " "}}`}
	for _, name := range pure {
		arguments = append(arguments, "./"+name)
	}
	output, err := exec.CommandContext(t.Context(), "go", arguments...).Output()
	require.NoError(t, err)
	tests := 0
	for line := range strings.Lines(string(output)) {
		if name, linked, _ := strings.Cut(line, " "); strings.HasSuffix(name, ".test") {
			require.NotContains(t, linked, "portico/store/db/drivers", name)
			tests++
		}
	}
	require.Equal(t, len(pure), tests)
}
