package authoring

import (
	"database/sql"

	"portico/store"
	"portico/store/db"
)

// PendingChange is a resource that was written after a revision: its table and its id, or the SKU of a price.
type PendingChange struct{ Table, ID string }

// PendingList lists the resources written after a revision that a catalog's next release may show, by table and
// id, each once. It has at most maxTracked rows.
func PendingList(catalogID string, revision int64) db.Listing[*PendingChange] {
	return db.Listing[*PendingChange]{
		Name: "pending_change", Columns: "kind, id", Table: "authored_change", Orders: map[store.SortBy][]string{store.SortName: {"kind"}}, ID: "id",
		Conditions: []db.Condition{
			{Clause: "revision > ?", Values: []any{revision}},
			{Clause: "(kind <> 'catalog' OR id = ?)", Values: []any{catalogID}},
			{Clause: `NOT EXISTS (
				SELECT 1 FROM authored_change AS later
				WHERE later.kind = authored_change.kind AND later.id = authored_change.id AND later.revision > authored_change.revision)`},
		},
		Scan: func(rows *sql.Rows) (*PendingChange, error) {
			c := &PendingChange{}
			return c, rows.Scan(&c.Table, &c.ID)
		},
		Key: func(c *PendingChange, _ store.Sort) []any { return []any{c.Table, c.ID} },
	}
}
