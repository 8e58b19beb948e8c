package segment

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/db/schema"
)

// A table that is missing in Tables is never swept, and the query planner has no
// statistics of it.
func TestTablesAreComplete(t *testing.T) {
	t.Parallel()
	left := map[string]string{}
	for _, table := range Tables {
		left[table.Name] = table.Key
	}
	files, err := schema.Migrations()
	require.NoError(t, err)
	create := regexp.MustCompile(`(?s)CREATE TABLE (release_\w+) \(.*?(?:PRIMARY KEY \(release_id, ([^)]*)\)|(id) +BIGINT /\* ROWID \*/ PRIMARY KEY)`)
	gone := regexp.MustCompile(`DROP TABLE (release_\w+)`)
	dropped := map[string]bool{}
	for _, file := range files {
		text, err := schema.Files.ReadFile(file)
		require.NoError(t, err)
		for _, found := range gone.FindAllSubmatch(text, -1) {
			dropped[string(found[1])] = true
		}
	}
	for _, file := range files {
		text, err := schema.Files.ReadFile(file)
		require.NoError(t, err)
		require.Len(t, create.FindAll(text, -1), strings.Count(string(text), "CREATE TABLE release_"), "%s: the key of a table of releases must begin with release_id, or with its number", file)
		for _, found := range create.FindAllSubmatch(text, -1) {
			name := string(found[1])
			if dropped[name] {
				continue
			}
			require.Equal(t, string(found[2])+string(found[3]), left[name], "add %s to Tables, with its key", name)
			delete(left, name)
		}
	}
	require.Empty(t, left, "no migration creates these")
}
