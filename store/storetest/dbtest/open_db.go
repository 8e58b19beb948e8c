package dbtest

import (
	"context"

	"portico/store/db"
	"portico/store/db/drivers"
)

// OpenDB opens the database of Config.URL, whose dialect it sets.
func OpenDB(ctx context.Context, config db.Config) (_ *db.DB, err error) {
	if config.Dialect, err = drivers.Of(config.URL); err != nil {
		return nil, err
	}
	return db.Open(ctx, config)
}
