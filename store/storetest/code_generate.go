package storetest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/job"
	"portico/store/promotion/code"
	"portico/store/shop"
)

func GenerateCodes(t *testing.T, s *shop.Store, g code.CodeGeneration) *job.Job {
	t.Helper()
	task, _, err := s.GenerateCodes(t.Context(), Actor, g)
	require.NoError(t, err)
	require.Equal(t, job.JobQueued, task.State)
	return task
}

func WaitForJob(t *testing.T, s *shop.Store, id string) *job.Job {
	t.Helper()
	Eventually(t, true, func() bool {
		job, err := s.Job(t.Context(), id)
		require.NoError(t, err)
		return !job.FinishedAt.IsZero()
	})
	job, err := s.Job(t.Context(), id)
	require.NoError(t, err)
	return job
}

// exportedCodes are a promotion's, and each of them is its own.
func ExportedCodes(t *testing.T, s *shop.Store, id string) (codes []string) {
	t.Helper()
	require.NoError(t, s.EachPromotionCode(t.Context(), id, func(c *code.PromotionCode) error {
		require.True(t, c.Held)
		codes = append(codes, c.Code)
		return nil
	}))
	return codes
}
