package db

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Whatever a row costs, a batch comes to take as long as it is to, and never
// much longer on the way there.
func TestBatchesComeToTakeAsLongAsTheyAreTo(t *testing.T) {
	t.Parallel()
	for _, row := range []time.Duration{2 * time.Microsecond, 15 * time.Microsecond, 200 * time.Microsecond} {
		p, total := NewPace(), 0
		for range 10 {
			d := time.Duration(p.rows) * row
			require.LessOrEqual(t, d, max(batchTime, firstBatch*row), "of %d rows of %s", p.rows, row)
			total += p.rows
			p.took(p.rows, d)
		}
		require.Equal(t, min(mostBatch, int(batchTime/row)), p.rows, "at %s a row", row)
		require.Positive(t, total)
	}
	slow := NewPace()
	slow.took(firstBatch, time.Second)
	require.Equal(t, leastBatch, slow.rows, "and goes on, however slow it is")
	slow.took(leastBatch, time.Microsecond)
	require.Equal(t, 2*leastBatch, slow.rows, "and finds its way back")
}
