package job

import (
	"context"
	"time"

	"portico/store"
	"portico/store/db"
)

// EnqueueUnchecked lets tests have jobs of their own.
func (s *Service) EnqueueUnchecked(ctx context.Context, actor store.Actor, kind JobKind, input any) (*Job, error) {
	return s.Enqueue(ctx, actor, kind, input, 0, func(context.Context, *db.Tx) error { return nil })
}

// SetTurn sets how long a job has its worker while others wait.
func (s *Service) SetTurn(turn time.Duration) { s.maxTurn = turn }
