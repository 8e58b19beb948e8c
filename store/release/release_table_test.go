package release

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/db"
)

// A table of releases that is forgotten here is never swept, nor known to the
// planner.
func TestReleaseTablesAreAllThereAre(t *testing.T) {
	t.Parallel()
	left := map[string]string{}
	for _, table := range ReleaseTables {
		left[table.Name] = table.Key
	}
	files, err := db.Migrations()
	require.NoError(t, err)
	create := regexp.MustCompile(`(?s)CREATE TABLE (release_\w+) \(.*?(?:PRIMARY KEY \(release_id, ([^)]*)\)|(id) +BIGINT /\* ROWID \*/ PRIMARY KEY)`)
	gone := regexp.MustCompile(`DROP TABLE (release_\w+)`)
	dropped := map[string]bool{}
	for _, file := range files {
		text, err := db.MigrationFiles.ReadFile(file)
		require.NoError(t, err)
		for _, found := range gone.FindAllSubmatch(text, -1) {
			dropped[string(found[1])] = true
		}
	}
	for _, file := range files {
		text, err := db.MigrationFiles.ReadFile(file)
		require.NoError(t, err)
		require.Len(t, create.FindAll(text, -1), strings.Count(string(text), "CREATE TABLE release_"), "%s: a table of releases has a key that begins with release_id, or with its number", file)
		for _, found := range create.FindAllSubmatch(text, -1) {
			name := string(found[1])
			if dropped[name] {
				continue
			}
			require.Equal(t, string(found[2])+string(found[3]), left[name], "%s is to stand in releaseTables, with its key", name)
			delete(left, name)
		}
	}
	require.Empty(t, left, "releaseTables has what no migration makes")
}

// ReleaseTableTexts are a query of all rows of each table that releases are kept
// in, by key.
func ReleaseTableTexts() (queries []string) {
	for _, table := range ReleaseTables {
		order := "release_id, " + table.Key
		if table.Key == "id" {
			order = table.Key
		}
		queries = append(queries, fmt.Sprintf("SELECT * FROM %s ORDER BY %s", table.Name, order))
	}
	return append(queries, "SELECT * FROM document ORDER BY id")
}
