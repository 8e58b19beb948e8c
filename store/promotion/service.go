// Package promotion creates, updates, deletes, lists and imports promotions through its
// Service. Package rule defines promotions, code has their codes and redeem their use.
// It must not import catalogs or releases.
package promotion

import (
	"portico/store/db"
)

// Service writes and lists promotions.
type Service struct{ db *db.DB }

// NewService returns a service on a database.
func NewService(d *db.DB) *Service { return &Service{db: d} }
