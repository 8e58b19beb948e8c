package cli

import "portico/store/job"

// Waiting are the flags that say how much may wait to be done.
type Waiting struct {
	JobsClient   int `group:"Bounds" placeholder:"N" default:"100" help:"How many jobs of one client may wait or run; 0 is the default. Default: ${default}."`
	CodesClient  int `group:"Bounds" placeholder:"N" default:"10000000" help:"How many promotion codes one client may have asked for that are not made yet; 0 is the default. Default: ${default}."`
	CodesWaiting int `group:"Bounds" placeholder:"N" default:"50000000" help:"How many promotion codes all clients together may have asked for that are not made yet; 0 is the default. Default: ${default}."`
}

// check tells what no bound can be.
func (w *Waiting) check() error {
	if min(w.JobsClient, w.CodesClient, w.CodesWaiting) < 0 {
		return usage("--jobs-client, --codes-client and --codes-waiting must be 1 or more; 0 is the default")
	}
	return nil
}

// JobRoom is what they say.
func (w *Waiting) JobRoom() job.Room {
	return job.Room{ClientJobs: w.JobsClient, ClientCodes: w.CodesClient, Codes: w.CodesWaiting}
}
