package db

import (
	"context"
	"fmt"
	"os"

	"portico/store/db/dialect"
	"portico/store/db/schema"
)

// Backup writes a consistent copy of a database to a new file while servers read and write. The database may have
// an older schema, and is not migrated. Secrets stay sealed. After an error the caller removes
// the file. It returns UNPROCESSABLE on PostgreSQL, which has its own tools.
func Backup(ctx context.Context, engine dialect.Dialect, databaseURL, path string) error {
	config := Config{URL: databaseURL, Schema: schema.MigrateMode}.connection(engine)
	if err := engine.Check(ctx, config); err != nil {
		return newOpenError(engine.Describe(databaseURL), err)
	}
	if err := engine.Backup(ctx, config, path); err != nil {
		return err
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := file.Sync(); err != nil {
		return fmt.Errorf("sync the backup to disk: %w", err)
	}
	return nil
}
