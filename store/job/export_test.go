package job

import (
	"context"
	"time"

	"portico/store"
	"portico/store/db"
)

// Enqueue and SetWork let tests have jobs of their own.
func (s *Service) Enqueue(ctx context.Context, actor store.Actor, kind JobKind, input any) (*Job, error) {
	return Enqueue(ctx, s, actor, kind, input, 0, func(context.Context, *db.Tx) error { return nil })
}

func (s *Service) SetWork(kind JobKind, work func(ctx context.Context, job *Job, progress func(done, total int)) (any, error)) {
	s.works[kind] = work
}

// SetTurn sets how long a job has its worker while others wait.
func (s *Service) SetTurn(turn time.Duration) { s.maxTurn = turn }

// TurnOver calls CheckTurn.
func (s *Service) TurnOver(ctx context.Context, since time.Time) error {
	return CheckTurn(ctx, s, since)
}
