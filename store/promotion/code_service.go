package promotion

import (
	"portico/store/db"
	"portico/store/job"
)

// CodeService creates, lists, generates and deletes promotion codes.
type CodeService struct {
	db      *db.DB
	jobs    *job.JobService
	creates *createQueue
}

// NewCodeService returns a service on a database. Jobs generate codes.
func NewCodeService(d *db.DB, jobs *job.JobService) *CodeService {
	s := &CodeService{db: d, jobs: jobs}
	s.creates = newCreateQueue(s)
	return s
}
