//go:build !unix

package db

import (
	"context"
	"log/slog"
)

// lockFile does nothing on systems without flock. There, run one process at a time
// during migrations.
func lockFile(context.Context, string, *slog.Logger) (unlock func(), err error) {
	return func() {}, nil
}
