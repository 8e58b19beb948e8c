package db

import (
	"context"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store/db/dialect"
	"portico/store/db/drivers"
)

// TestBatchSizer: batches converge to the target time, whatever a row costs, and do not
// exceed it much on the way.
func TestBatchSizer(t *testing.T) {
	t.Parallel()
	var all []dialect.BatchBounds
	for _, url := range []string{"file:shop.db", "postgres://localhost/shop"} {
		engine, err := drivers.Of(url)
		require.NoError(t, err)
		all = append(all, engine.Batch())
	}
	bounds := all[0]
	for _, row := range []time.Duration{2 * time.Microsecond, 15 * time.Microsecond, 200 * time.Microsecond} {
		p, total := newBatchSizer(bounds), 0
		for range 10 {
			d := time.Duration(p.rows) * row
			require.LessOrEqual(t, d, max(bounds.Target, firstBatch*row), "of %d rows of %s", p.rows, row)
			total += p.rows
			p.record(p.rows, d)
		}
		require.Equal(t, min(maxBatch, int(bounds.Target/row)), p.rows, "at %s a row", row)
		require.Positive(t, total)
	}
	for _, bounds := range all {
		least := bounds.MinRows
		slow := newBatchSizer(bounds)
		slow.record(firstBatch, time.Minute)
		require.Equal(t, least, slow.rows, "and goes on, however slow it is")
		slow.record(least, time.Microsecond)
		require.Equal(t, 2*least, slow.rows, "and finds its way back")
	}
}

// TestInBatches: a sweep handles and counts each row once, with several short batches in one transaction of SQLite.
func TestInBatches(t *testing.T) {
	t.Parallel()
	d, err := openFile(t, Config{URL: "file:" + filepath.Join(t.TempDir(), "shop.db"), Synchronous: "OFF"})
	require.NoError(t, err)
	require.NoError(t, d.Follow(t.Context(), Hooks{}))
	t.Cleanup(func() { _ = d.Close() })
	const total = 20_000
	left, batches := total, 0
	transactions := map[*Tx]bool{}
	var counted atomic.Int64
	require.NoError(t, d.InBatches(WithSweepCounter(t.Context(), &counted), "", func(ctx context.Context, t *Tx, rows int) (int64, error) {
		n := min(rows, left)
		left -= n
		batches++
		transactions[t] = true
		return int64(n), nil
	}))
	require.Zero(t, left)
	require.EqualValues(t, total, counted.Load())
	require.Less(t, len(transactions), batches)
}
