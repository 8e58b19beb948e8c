package filelock

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLockIsHeld(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	require.Empty(t, Holder(path))
	first, err := Try(path)
	require.NoError(t, err)
	_, err = Try(path)
	require.ErrorIs(t, err, ErrHeld)
	require.Equal(t, fmt.Sprintf("process %d", os.Getpid()), Holder(path))

	first.Unlock()
	require.FileExists(t, path)
	second, err := Try(path)
	require.NoError(t, err)
	first.Remove()
	require.FileExists(t, path, "it is the second one's")
	second.Remove()
	second.Remove()
	require.NoFileExists(t, path)

	_, err = Try(filepath.Join(t.TempDir(), "missing", "lock"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

// TestOneHolderAtATime: a file that its holder removes while others open it is never locked twice.
func TestOneHolderAtATime(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	var holders, taken atomic.Int64
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 200 {
				lock, err := Try(path)
				if err != nil {
					continue
				}
				if taken.Add(1); holders.Add(1) != 1 {
					t.Error("two holders")
				}
				holders.Add(-1)
				lock.Remove()
			}
		})
	}
	group.Wait()
	require.Positive(t, taken.Load())
}
