package db

import (
	"context"
	"fmt"
	"os"
)

// Backup writes a consistent copy of the database to a new file while reads and
// writes continue. Secrets stay sealed. It removes the file on failure, and
// returns UNPROCESSABLE on PostgreSQL, which has its own tools.
func (s *DB) Backup(ctx context.Context, path string) error {
	if err := s.fileGuard.check(); err != nil {
		return err
	}
	err := s.dialect.backup(ctx, s.config, path)
	if err == nil {
		err = s.fileGuard.check()
	}
	if err != nil {
		_ = os.Remove(path)
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
