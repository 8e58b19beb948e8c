package catalog

import (
	"context"

	"portico/store"
	"portico/store/db"
	"portico/store/index"
)

// search is a search of a list for words in the folded text of a column. Each word must be in it, in whole or in part.
type search struct{ column, text string }

// searchedWork is what a row that is compared costs (store.Charge): an operation may compare three million.
const searchedWork = 5

// searchedList is db.List with a search, which reads each row of the table. It charges the rows before it reads the page, and
// again before it counts the total. The error is INVALID for a text that is too long.
func searchedList[T authored](ctx context.Context, d *db.DB, of db.Listing[T], s search, query store.ListQuery) (*store.Slice[T], error) {
	words, err := index.SearchWords(s.text)
	if err != nil {
		return nil, err
	}
	if len(words) == 0 {
		list, err := db.List(ctx, d, of, query)
		return chargedList(ctx, list, err)
	}
	rows, _, err := db.One(ctx, d.Reader, db.Scalar[int], `SELECT COUNT(*) FROM `+of.Table)
	if err == nil {
		err = store.Charge(ctx, rows*searchedWork)
	}
	if err != nil {
		return nil, err
	}
	of.Conditions = append(of.Conditions, db.Containing(s.column, words)...)
	list, err := db.List(ctx, d, of, query)
	if err == nil {
		total := list.Total
		list.Total = func(ctx context.Context) (int, error) {
			if err := store.Charge(ctx, rows*searchedWork); err != nil {
				return 0, err
			}
			return total(ctx)
		}
	}
	return chargedList(ctx, list, err)
}
