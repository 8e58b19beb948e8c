package opctx

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/graph/limits"
)

// A trial may cost an eighth, and leaves no trace when it was refused or is not kept.
func TestTrial(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		charged  int // units
		keep     bool
		refused  bool
		left     int64 // cost after the trial
		errorsIn int
	}{
		{50, true, false, 60, 0},
		{50, false, false, 10, 0},
		{95, true, true, 10, 1},
	} {
		op := &Operation{Budget: NewBudget(limits.Allowance{Max: 800, Estimated: 10})}
		ctx := With(context.Background(), op)
		end, small := BeginTrial(ctx)
		require.True(t, small)
		failed := 0
		if op.Charge(c.charged*limits.BytesPerUnit) != nil {
			failed++
		}
		require.Equal(t, c.errorsIn, failed)
		require.Equal(t, c.refused, end(c.keep))
		require.Equal(t, c.left, op.Budget.Cost())
		require.NoError(t, op.Charge(700*limits.BytesPerUnit), "the whole budget is back")
		require.Error(t, op.Charge(100*limits.BytesPerUnit))
	}
	_, small := BeginTrial(With(context.Background(), &Operation{Budget: NewBudget(limits.Allowance{Max: 800, Estimated: 101})}))
	require.False(t, small)
	end, small := BeginTrial(context.Background())
	require.True(t, small)
	require.False(t, end(false))
}
