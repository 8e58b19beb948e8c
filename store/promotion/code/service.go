// Package code creates, generates, lists and deletes promotion codes, keeps each code with one
// promotion at a time, and archives deleted promotions: PromotionCode is a code, Service works on them, claims decide who holds
// which. It must not import promotion or promotion/redeem.
package code

import (
	"portico/store/db"
	"portico/store/job"
)

// Service creates, lists, generates and deletes promotion codes.
type Service struct {
	db      *db.DB
	jobs    *job.Service
	creates *createQueue
}

// NewService returns a service on a database. Jobs generate codes.
func NewService(d *db.DB, jobs *job.Service) *Service {
	s := &Service{db: d, jobs: jobs}
	s.creates = newCreateQueue(s)
	return s
}
