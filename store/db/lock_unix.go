//go:build unix

package db

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// lockPollEvery is how often a lock of another process is tried.
const lockPollEvery = 50 * time.Millisecond

// lockFile takes an exclusive lock, which ends with the process at the latest. The
// file holds the id of the process.
func lockFile(ctx context.Context, path string, log *slog.Logger) (unlock func(), err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := waitForLock(ctx, file, log); err != nil {
		file.Close()
		return nil, err
	}
	if err := file.Truncate(0); err == nil { // the lock holds even if the id cannot be written
		_, _ = file.WriteAt([]byte("process "+strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	return func() { file.Close() }, nil
}

func waitForLock(ctx context.Context, file *os.File, log *slog.Logger) error {
	stop := logWait(log, func(context.Context) string {
		name, _ := io.ReadAll(io.NewSectionReader(file, 0, 64))
		return strings.TrimSpace(string(name))
	})
	defer stop()
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(lockPollEvery):
		}
	}
}
