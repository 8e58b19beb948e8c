package db

import (
	"context"
	"fmt"
	"os"
)

// Backup writes a copy of the whole database to a new file, as it is at one
// moment, while others go on. The secrets in it stay sealed. Nothing is left
// where it fails. UNPROCESSABLE on PostgreSQL, which has its own tools.
func (s *DB) Backup(ctx context.Context, path string) error {
	if err := s.home.check(); err != nil {
		return err
	}
	err := s.dialect.backup(ctx, s.opened, path)
	if err == nil {
		err = s.home.check()
	}
	if err != nil {
		_ = os.Remove(path) // err says more
		return err
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := file.Sync(); err != nil {
		return fmt.Errorf("bring the copy to the disk: %w", err)
	}
	return nil
}
