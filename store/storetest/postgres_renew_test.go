package storetest

import (
	"database/sql"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) { Main(m) }

func TestADatabaseIsUsedAgainAsItWas(t *testing.T) {
	if err := shared.start(); err != nil {
		Require(t, "postgres", err.Error())
	}
	e := newEngine("postgres", shared.database)
	for _, test := range []struct {
		name   string
		orders []string
		err    error
	}{
		{"nothing written", nil, nil},
		{"rows", []string{`INSERT INTO counter (name, value) VALUES ('x', 1)`, `UPDATE store_meta SET value = '99'`, `ANALYZE`}, nil},
		{"a table's rows", []string{`DELETE FROM store_meta`}, nil},
		{"a column", []string{`ALTER TABLE stock ADD COLUMN more INT`}, errChanged},
		{"a column that went again", []string{`ALTER TABLE stock ADD COLUMN more INT`, `ALTER TABLE stock DROP COLUMN more`}, errChanged},
		{"an index", []string{`CREATE INDEX more ON stock (available)`}, errChanged},
		{"an index that went again", []string{`CREATE INDEX more ON stock (available)`, `DROP INDEX more`}, nil},
		{"a table", []string{`DROP TABLE gateway`}, errChanged},
	} {
		t.Run(test.name, func(t *testing.T) {
			name := shared.create(t, shared.template)
			t.Cleanup(func() { shared.drop(t, name) })
			db, err := sql.Open("pgx", shared.urlOf(name))
			require.NoError(t, err)
			require.NoError(t, inTurn(db, test.orders))
			require.NoError(t, db.Close())
			require.Equal(t, test.err, shared.renew(name))
			if test.err != nil {
				return
			}
			dirty, err := texts(e.SQLAt(t, shared.urlOf(name)), shared.pristine.differs(false))
			require.NoError(t, err)
			require.Empty(t, dirty)
		})
	}
}
