package store

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A table of releases that is forgotten here is never swept, nor known to the
// planner.
func TestReleaseTablesAreAllThereAre(t *testing.T) {
	t.Parallel()
	left := map[string]string{}
	for _, table := range releaseTables {
		left[table.name] = table.key
	}
	files, err := migrations()
	require.NoError(t, err)
	create := regexp.MustCompile(`(?s)CREATE TABLE (release_\w+) \(.*?PRIMARY KEY \(release_id, ([^)]*)\)`)
	for _, file := range files {
		text, err := migrationFiles.ReadFile(file)
		require.NoError(t, err)
		require.Len(t, create.FindAll(text, -1), strings.Count(string(text), "CREATE TABLE release_"), "%s: a table of releases has a key that begins with release_id", file)
		for _, found := range create.FindAllSubmatch(text, -1) {
			name := string(found[1])
			require.Equal(t, string(found[2]), left[name], "%s is to stand in releaseTables, with its key", name)
			delete(left, name)
		}
	}
	require.Empty(t, left, "releaseTables has what no migration makes")
}

// ReleaseFormat is releaseFormat.
const ReleaseFormat = releaseFormat

// ReleaseTableTexts are a query of all rows of each table that releases are kept
// in, by key.
func ReleaseTableTexts() (queries []string) {
	for _, table := range releaseTables {
		queries = append(queries, fmt.Sprintf("SELECT * FROM %s ORDER BY release_id, %s", table.name, table.key))
	}
	return append(queries, "SELECT * FROM document ORDER BY id")
}
