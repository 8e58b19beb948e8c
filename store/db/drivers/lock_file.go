package drivers

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"portico/internal/filelock"
)

// lockFile waits for an exclusive lock of a file, which ends with the process at the latest.
func lockFile(ctx context.Context, path string, log *slog.Logger) (unlock func(), err error) {
	stop := logWait(log, func(context.Context) string { return filelock.Holder(path) })
	defer stop()
	for {
		lock, err := filelock.Try(path)
		if err == nil {
			return lock.Unlock, nil
		}
		if !errors.Is(err, filelock.ErrHeld) {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}
