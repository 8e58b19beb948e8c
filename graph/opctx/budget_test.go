package opctx

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/graph/limits"
	"portico/store"
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

// A refusal says what the operation was estimated to cost, also if its fields are charged one by one.
func TestRefusalHasTheEstimate(t *testing.T) {
	t.Parallel()
	for fieldBytes, cost := range map[int]int64{0: 252, 600: 0} {
		b := NewBudget(limits.Allowance{Max: 60_000, Estimated: 252, FieldBytes: fieldBytes})
		require.Equal(t, cost, b.Cost())
		var refused *Refusal
		require.ErrorAs(t, b.Charge(61_000*limits.BytesPerUnit), &refused)
		require.True(t, store.HasCode(refused, store.Unprocessable))
		require.ErrorContains(t, refused, "The operation may cost 60,000, and costs more here. Its fields were estimated to cost 252; the rest is what they read")
	}
}
