package db

import "context"

// Sequence takes n numbers that grow with every write, the first of which it
// returns: the order in which things came to be, where a clock is too coarse.
func (t *Tx) Sequence(ctx context.Context, n int) (int64, error) {
	last, _, err := One(ctx, t.Session, Scalar[int64],
		`UPDATE counter SET value = value + $1 WHERE name = 'sequence' RETURNING value`, n)
	return last - int64(n) + 1, err
}
