// Package code creates, generates, lists and deletes promotion codes, keeps each code with one
// promotion at a time, and archives deleted promotions: PromotionCode is a code, CodeService works on them, claims decide who holds
// which. It must not import promotion or promotion/redeem.
package code

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
