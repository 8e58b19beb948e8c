package job

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/db"
	"portico/store/db/drivers"
)

// TestJobIsNotClaimedByAFailedWrite: a job whose claim was not committed is not run.
func TestJobIsNotClaimedByAFailedWrite(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "portico.db")
	url := "file:" + path
	engine, err := drivers.Of(url)
	require.NoError(t, err)
	d, err := db.Open(t.Context(), db.Config{Dialect: engine, URL: url})
	require.NoError(t, err)
	t.Cleanup(func() { d.Close() })
	require.NoError(t, d.Follow(t.Context(), db.Hooks{}))
	s := NewService(d, Quota{}, nil)
	_, err = s.Enqueue(t.Context(), "command:test", JobPublish, "input", 0, func(context.Context, *db.Tx) error { return nil })
	require.NoError(t, err)
	require.NoError(t, os.Rename(path, path+".moved")) // the write that claims the job fails after its commit
	job, err := s.claimJob(t.Context(), "worker")
	require.Error(t, err)
	require.Nil(t, job)
}
