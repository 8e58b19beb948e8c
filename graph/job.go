package graph

import (
	"context"

	"portico/graph/generated"
	"portico/graph/model"
	"portico/internal/auth"
	"portico/store"
)

func (r queryResolver) Job(ctx context.Context, id string) (*model.Job, error) {
	if err := auth.Require(ctx, "Query.job"); err != nil {
		return nil, err
	}
	job, err := r.store.Job(ctx, store.LocalID(id))
	return orNull(jobOf(job), err)
}

func (r queryResolver) Jobs(ctx context.Context, first int) ([]*model.Job, error) {
	if err := auth.Require(ctx, "Query.jobs"); err != nil {
		return nil, err
	}
	jobs, err := r.store.Jobs(ctx, first)
	list := make([]*model.Job, len(jobs))
	for i, job := range jobs {
		list[i] = jobOf(job)
	}
	return list, err
}

func (r jobResolver) Release(ctx context.Context, obj *model.Job) (*store.Release, error) {
	return orNull(r.store.ReleaseOfJob(ctx, obj.Job))
}

func (r mutationResolver) JobCancel(ctx context.Context, input generated.JobCancelInput) (*generated.JobCancelPayload, error) {
	ctx, err := begin(ctx, "Mutation.jobCancel", input.IdempotencyKey, input)
	if err != nil {
		return nil, err
	}
	job, err := r.store.CancelJob(ctx, auth.From(ctx).Actor(), store.LocalID(input.ID))
	faults, err := userErrors(err)
	return &generated.JobCancelPayload{Job: jobOf(job), UserErrors: faults}, err
}

func jobOf(job *store.Job) *model.Job {
	if job == nil {
		return nil
	}
	return &model.Job{Job: job}
}
