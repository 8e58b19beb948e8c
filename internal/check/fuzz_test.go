package check

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestEveryFuzzTargetHasACorpus of at least 30 small files, and each corpus a target.
func TestEveryFuzzTargetHasACorpus(t *testing.T) {
	t.Parallel()
	target := regexp.MustCompile(`(?m)^func (Fuzz\w+)\(`)
	targets, corpora := map[string]bool{}, map[string]int{} // by the folder of the corpus
	require.NoError(t, filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		folder := filepath.Dir(path)
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "node_modules" || strings.HasPrefix(path, ".") && path != "."):
			return fs.SkipDir
		case strings.HasSuffix(path, "_test.go"):
			text, err := os.ReadFile(path)
			for _, found := range target.FindAllSubmatch(text, -1) {
				targets[filepath.Join(folder, "testdata", "fuzz", string(found[1]))] = true
			}
			return err
		case !entry.IsDir() && strings.HasSuffix(filepath.Dir(folder), filepath.Join("testdata", "fuzz")):
			corpora[folder]++
			text, err := os.ReadFile(path)
			require.Less(t, len(text), 2500, path)
			return err
		}
		return nil
	}))
	require.GreaterOrEqual(t, len(targets), 8)
	for folder := range targets {
		require.GreaterOrEqual(t, corpora[folder], 30, folder)
	}
	for folder := range corpora {
		require.True(t, targets[folder], "%s has no fuzz target", folder)
	}
}
