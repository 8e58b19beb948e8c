package cli

import "portico/store/job"

// QueueFlags limit the jobs and codes in the queue.
type QueueFlags struct {
	JobsClient   int `group:"client-limits" placeholder:"N" default:"100" help:"Maximum number of queued and running jobs of a client. 0 means the default."`
	CodesClient  int `group:"client-limits" placeholder:"N" default:"10000000" help:"Maximum number of promotion codes that a client has requested and that are not generated yet. 0 means the default."`
	CodesWaiting int `group:"client-limits" placeholder:"N" default:"50000000" help:"Maximum number of promotion codes that all clients have requested and that are not generated yet. 0 means the default."`
}

func (f *QueueFlags) check() error {
	if min(f.JobsClient, f.CodesClient, f.CodesWaiting) < 0 {
		return usagef("--jobs-client, --codes-client and --codes-waiting must be 1 or more, or 0 for the default")
	}
	return nil
}

// JobQuota returns the limits.
func (f *QueueFlags) JobQuota() job.Quota {
	return job.Quota{ClientJobs: f.JobsClient, ClientCodes: f.CodesClient, Codes: f.CodesWaiting}
}
