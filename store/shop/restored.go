package shop

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"portico/store/db"
)

// checkRestored counts the rows of the tables that a server caches, in a database that was
// replaced while the server ran. The error says what is still missing, because a restore
// loads table by table. db.Hooks.CheckComplete compares found with that of the call before: if it differs, the restore still
// goes on.
func checkRestored(ctx context.Context, in db.Session) (found string, err error) {
	type counts struct{ catalogs, rules, releases, lists, clients, keys, stock, expectedStock, dangling int64 }
	c, _, err := db.One(ctx, in, func(rows *sql.Rows) (c counts, err error) {
		return c, rows.Scan(&c.catalogs, &c.rules, &c.releases, &c.lists, &c.clients, &c.keys, &c.stock, &c.expectedStock, &c.dangling)
	}, `SELECT (SELECT COUNT(*) FROM catalog), (SELECT COUNT(*) FROM catalog_rule), (SELECT COUNT(*) FROM release),
	    (SELECT COUNT(*) FROM release_list), (SELECT COUNT(*) FROM api_client), (SELECT COUNT(*) FROM signing_key), (SELECT COUNT(*) FROM stock),
	    COALESCE((SELECT value FROM counter WHERE name = 'stock'), -1),
	    (SELECT COUNT(*) FROM catalog WHERE release_id IS NOT NULL AND release_id NOT IN (SELECT id FROM release))`)
	switch {
	case err != nil:
		return "", err
	case c.expectedStock < 0:
		return "", errors.New("the table counter has no row for stock")
	case c.stock == 0 && c.expectedStock > 0:
		return "", fmt.Errorf("the table stock is empty, expected %d records", c.expectedStock)
	case c.dangling > 0:
		return "", fmt.Errorf("the releases of %d catalogs are missing", c.dangling)
	}
	return fmt.Sprint(c), nil
}
