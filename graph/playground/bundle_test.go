package playground

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// editor.js is committed, so that go build needs no npm. Its first line is the hash of its
// sources. .ci/run bundles it again and compares all bytes.
func TestEditorBundleMatchesItsSources(t *testing.T) {
	t.Parallel()
	sum := sha256.New()
	for _, name := range []string{"build.js", "editor.js", "licenses.js", "package-lock.json"} {
		source, err := os.ReadFile(filepath.Join("../editor", name))
		require.NoError(t, err)
		sum.Write(source)
	}
	bundle, err := pageFiles.ReadFile("editor.js")
	require.NoError(t, err)
	require.Equal(t, fmt.Sprintf("// %x Licenses: licenses.txt\n", sum.Sum(nil)), string(bundle[:len("// ")+64+len(" Licenses: licenses.txt\n")]),
		"run npm run bundle --prefix graph/editor, and commit what it writes")
	licenses, err := pageFiles.ReadFile("licenses.txt")
	require.NoError(t, err)
	for _, name := range []string{"@codemirror/view ", "cm6-graphql ", "graphql ", "style-mod "} {
		require.Contains(t, string(licenses), "\n"+name)
	}
}
