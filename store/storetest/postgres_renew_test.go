package storetest

import (
	"database/sql"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) { Main(m) }

func TestADatabaseIsUsedAgainAsItWas(t *testing.T) {
	if err := sharedPostgres.start(); err != nil {
		SkipMissing(t, "postgres", err.Error())
	}
	e := newBackend("postgres", sharedPostgres.database)
	for _, test := range []struct {
		name   string
		orders []string
		err    error
	}{
		{"nothing written", nil, nil},
		{"rows", []string{`INSERT INTO counter (name, value) VALUES ('x', 1)`, `UPDATE store_meta SET value = '99'`, `ANALYZE`}, nil},
		{"a table's rows", []string{`DELETE FROM store_meta`}, nil},
		{"a column", []string{`ALTER TABLE stock ADD COLUMN more INT`}, errSchemaChanged},
		{"a column that went again", []string{`ALTER TABLE stock ADD COLUMN more INT`, `ALTER TABLE stock DROP COLUMN more`}, errSchemaChanged},
		{"an index", []string{`CREATE INDEX more ON stock (available)`}, errSchemaChanged},
		{"an index that went again", []string{`CREATE INDEX more ON stock (available)`, `DROP INDEX more`}, nil},
		{"a table", []string{`DROP TABLE gateway`}, errSchemaChanged},
	} {
		t.Run(test.name, func(t *testing.T) {
			name := sharedPostgres.create(t, sharedPostgres.template)
			t.Cleanup(func() { sharedPostgres.drop(t, name) })
			db, err := sql.Open("pgx", sharedPostgres.urlOf(name))
			require.NoError(t, err)
			require.NoError(t, execAll(db, test.orders))
			require.NoError(t, db.Close())
			require.Equal(t, test.err, sharedPostgres.reset(name))
			if test.err != nil {
				return
			}
			dirty, err := queryTexts(e.SQLAt(t, sharedPostgres.urlOf(name)), sharedPostgres.contents.differenceQuery(false))
			require.NoError(t, err)
			require.Empty(t, dirty)
		})
	}
}
