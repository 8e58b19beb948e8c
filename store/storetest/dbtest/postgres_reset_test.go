package dbtest

import (
	"database/sql"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/storetest/testkit"
)

func TestMain(m *testing.M) { Main(m) }

func TestResetEmptiesDatabase(t *testing.T) {
	if err := sharedPostgres.start(); err != nil {
		testkit.SkipMissing(t, "postgres", err.Error())
	}
	backend := newBackend("postgres", sharedPostgres.database)
	for _, test := range []struct {
		name       string
		statements []string
		err        error
	}{
		{"nothing written", nil, nil},
		{"rows", []string{`INSERT INTO counter (name, value) VALUES ('x', 1)`, `UPDATE store_meta SET value = '99'`, `ANALYZE`}, nil},
		{"statistics of few rows", []string{`INSERT INTO code_claim (code, promotion_number, epoch) VALUES ('a', 1, 1), ('b', 1, 1)`, `ANALYZE`}, nil},
		{"an analyzed table of dead rows", []string{`INSERT INTO code_claim (code, promotion_number, epoch) VALUES ('a', 1, 1)`, `DELETE FROM code_claim`, `ANALYZE`}, nil},
		{"all rows of a table deleted", []string{`DELETE FROM store_meta`}, nil},
		{"a column", []string{`ALTER TABLE stock ADD COLUMN more INT`}, errSchemaChanged},
		{"a column added and dropped", []string{`ALTER TABLE stock ADD COLUMN more INT`, `ALTER TABLE stock DROP COLUMN more`}, errSchemaChanged},
		{"an index", []string{`CREATE INDEX more ON stock (available)`}, errSchemaChanged},
		{"an index created and dropped", []string{`CREATE INDEX more ON stock (available)`, `DROP INDEX more`}, nil},
		{"a table", []string{`DROP TABLE gateway`}, errSchemaChanged},
	} {
		t.Run(test.name, func(t *testing.T) {
			name := sharedPostgres.create(t, sharedPostgres.template)
			t.Cleanup(func() { sharedPostgres.drop(t, name) })
			db, err := sql.Open("pgx", sharedPostgres.urlOf(name))
			require.NoError(t, err)
			require.NoError(t, execAll(db, test.statements))
			require.NoError(t, db.Close())
			require.Equal(t, test.err, sharedPostgres.reset(name))
			if test.err != nil {
				return
			}
			dirty, err := queryTexts(backend.SQLAt(t, sharedPostgres.urlOf(name)), sharedPostgres.contents.differenceQuery(false))
			require.NoError(t, err)
			require.Empty(t, dirty)
			known, err := queryTexts(backend.SQLAt(t, sharedPostgres.urlOf(name)), `SELECT tablename FROM pg_stats WHERE schemaname = 'public'
				UNION ALL SELECT relname FROM pg_class WHERE relname = 'code_claim' AND relpages > 0`)
			require.NoError(t, err)
			require.Empty(t, known, "no plan goes by what is gone")
		})
	}
}
