package graph

import (
	"context"
	"slices"

	"portico/graph/generated"
	"portico/graph/model"
	"portico/graph/opctx"
	"portico/internal/auth"
	"portico/store"
	"portico/store/job"
)

func (r queryResolver) Job(ctx context.Context, id string) (*model.Job, error) {
	j, err := r.jobFor(ctx, "Query.job", id)
	return orNull(jobOf(j), err)
}

func (r queryResolver) Jobs(ctx context.Context, first int) ([]*model.Job, error) {
	if err := auth.Require(ctx, "Query.jobs"); err != nil {
		return nil, err
	}
	jobs, err := r.store.Jobs.List(ctx, first, slices.DeleteFunc(job.Kinds(), func(kind job.Kind) bool {
		return auth.Require(ctx, coordinateOf(kind)) != nil
	})...)
	return jobsOf(jobs), err
}

// jobsOf returns jobs for the schema.
func jobsOf(jobs []*job.Job) []*model.Job {
	list := make([]*model.Job, len(jobs))
	for i, j := range jobs {
		list[i] = jobOf(j)
	}
	return list
}

func (r queryResolver) ScheduledPublications(ctx context.Context) ([]*model.Job, error) {
	if err := auth.Require(ctx, "Query.scheduledPublications"); err != nil {
		return nil, err
	}
	jobs, err := r.store.Jobs.Scheduled(ctx, job.Publish)
	return jobsOf(jobs), err
}

func (r jobResolver) Release(ctx context.Context, obj *model.Job) (*model.CatalogRelease, error) {
	return orNull(singleRow[model.CatalogRelease](r.store.Publisher.ReleaseOfJob(ctx, obj.Job)))
}

func (r mutationResolver) JobCancel(ctx context.Context, input generated.JobCancelInput) (*generated.JobPayload, error) {
	const coordinate = "Mutation.jobCancel"
	if _, err := r.jobFor(ctx, coordinate, input.ID); err != nil && !store.HasCode(err, store.NotFound) {
		return nil, err
	}
	ctx = opctx.WithKey(ctx, coordinate, input.IdempotencyKey, input)
	j, err := r.store.Jobs.Cancel(ctx, auth.PrincipalFrom(ctx).Actor(), store.LocalID(input.ID))
	userErrs, err := userErrors(err)
	return &generated.JobPayload{Job: jobOf(j), UserErrors: userErrs}, err
}

// coordinateOf returns the coordinate whose scope allows to see and cancel jobs of a kind.
func coordinateOf(kind job.Kind) string { return "job " + string(kind) }

// jobFor returns a job if the client may see its kind. To a client without the scope of the coordinate, an unknown job is FORBIDDEN
// rather than NOT_FOUND. So is every job to a client that may see no kind.
func (r *Resolver) jobFor(ctx context.Context, coordinate, id string) (*job.Job, error) {
	required := auth.Require(ctx, coordinate)
	if required != nil && !slices.ContainsFunc(job.Kinds(), func(kind job.Kind) bool { return auth.Require(ctx, coordinateOf(kind)) == nil }) {
		return nil, required
	}
	j, err := r.store.Jobs.Get(ctx, store.LocalID(id))
	switch {
	case store.HasCode(err, store.NotFound) && required != nil:
		return nil, required
	case err != nil:
		return nil, err
	}
	if err := auth.Require(ctx, coordinateOf(j.Kind)); err != nil {
		return nil, err
	}
	return j, nil
}

// jobOf returns a job for the schema. nil stays nil.
func jobOf(j *job.Job) *model.Job {
	if j == nil {
		return nil
	}
	return &model.Job{Job: j}
}
