// Package job runs background jobs that survive restarts, each on one server at a time, and
// periodic sweeps. Service queues, runs, watches and cancels jobs; Janitor runs sweeps. It
// knows no particular job. It may import store and store/db.
package job

import (
	"database/sql"
	"encoding/json"
	"time"

	"portico/store"
)

// Kind is what a job does.
type Kind string

// The kinds.
const (
	Publish       Kind = "catalog_publish"          // publishes a catalog
	PublishDryRun Kind = "catalog_publish_dry_run"  // says what a publication of a catalog would change
	GenerateCodes Kind = "promotion_codes_generate" // generates codes of a promotion
)

// Kinds lists every kind.
func Kinds() []Kind { return []Kind{Publish, PublishDryRun, GenerateCodes} }

// State is the progress of a job.
type State string

// The states. A running job whose server ends starts again on another server.
const (
	Scheduled State = "scheduled" // becomes running at RunAt
	Queued    State = "queued"
	Running   State = "running"
	Succeeded State = "succeeded"
	Failed    State = "failed"
	Canceled  State = "canceled"
)

// Job is work that outlasts the request for it.
type Job struct {
	ID          string
	Kind        Kind
	State       State
	Done, Total int    // in units of the job; both 0 until known
	Error       string // why it failed, for clients; empty otherwise
	Actor       store.Actor
	CreatedAt   time.Time
	RunAt       time.Time `json:",omitzero"` // when a scheduled job starts; zero for one that starts at once
	StartedAt   time.Time // zero while queued or scheduled
	FinishedAt  time.Time // zero until finished

	// Input and result of the kind, internal to the store.
	Input, Result json.RawMessage `json:",omitempty"`

	worker string // id of the worker that runs it, if this process does
}

// GlobalID returns the job's global id.
func (j *Job) GlobalID() string { return store.GlobalID(store.TypeJob, j.ID) }

const jobColumns = `id, kind, state, input, result, error, done, total, actor, created_at, run_at, started_at, finished_at`

func scanJob(rows *sql.Rows) (*Job, error) {
	j := &Job{}
	var input, result string
	var created, runAt, started, finished int64
	err := rows.Scan(&j.ID, &j.Kind, &j.State, &input, &result, &j.Error, &j.Done, &j.Total, &j.Actor, &created, &runAt, &started, &finished)
	j.Input, j.Result = json.RawMessage(input), json.RawMessage(result)
	j.CreatedAt, j.RunAt, j.StartedAt, j.FinishedAt = store.FromMicros(created), store.OptionalMicros(runAt), store.OptionalMicros(started), store.OptionalMicros(finished)
	return j, err
}
