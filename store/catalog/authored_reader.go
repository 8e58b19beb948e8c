package catalog

import (
	"context"
	"database/sql"
	"slices"

	"portico/store"
	"portico/store/authoring"
	"portico/store/db"
)

// AuthoredReader reads the authored resources of one type, published or not. Each read charges the memory of what it decodes to
// the operation's allowance (store.Charge), by the size of its JSON.
type AuthoredReader[T authored] struct {
	db      *db.DB
	listing db.Listing[T]
}

// newAuthoredReader returns the reader of a table whose rows are sources in JSON. show returns a resource from its source
// and size, and id the resource's own id.
func newAuthoredReader[S any, T authored](d *db.DB, table string, show func(*S, sourceSize) T, id func(T) string) AuthoredReader[T] {
	return AuthoredReader[T]{d, authoredListing(table, show, id)}
}

// authoredListing is the list of newAuthoredReader.
func authoredListing[S any, T authored](table string, show func(*S, sourceSize) T, id func(T) string) db.Listing[T] {
	return db.Listing[T]{
		Name: table, Columns: "body", Table: table, ID: "id",
		Scan: func(rows *sql.Rows) (resource T, err error) {
			var body []byte
			source := new(S)
			if err = rows.Scan(&body); err == nil {
				err = store.Decode(body, source)
			}
			if err != nil {
				return resource, err
			}
			return show(source, sourceSize(len(body))), nil
		},
		Key: func(resource T, _ store.Sort) []any { return []any{id(resource)} },
	}
}

// sourceSize is the bytes of the JSON of a resource.
type sourceSize int

func (s sourceSize) textSize() int { return decodedSize * int(s) }

// ByIDs returns resources by id; unknown ones are missing.
func (r AuthoredReader[T]) ByIDs(ctx context.Context, ids []string) (map[string]T, error) {
	byID, err := authoring.ReadRowsByID(ctx, r.db.Reader, r.listing, ids)
	return chargedByID(ctx, byID, err)
}

// List returns a page of the resources that meet all conditions, by id.
func (r AuthoredReader[T]) List(ctx context.Context, page store.Page, conditions ...db.Condition) (*store.Slice[T], error) {
	l := r.listing
	l.Conditions = conditions
	list, err := db.List(ctx, r.db, l, store.ListQuery{Page: page})
	return chargedList(ctx, list, err)
}

// storable returns the texts that a row may have.
func storable(texts []string) []string {
	return slices.DeleteFunc(slices.Clone(texts), func(text string) bool { return !store.IsStorableText(text) })
}
