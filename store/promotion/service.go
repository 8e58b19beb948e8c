// Package promotion creates, updates, deletes, lists and imports promotions through its
// PromotionService. Package rule defines promotions, code has their codes and redeem their use.
// It must not import catalogs or releases.
package promotion

import (
	"portico/store/db"
)

// PromotionService writes and lists promotions.
type PromotionService struct{ db *db.DB }

// NewPromotionService returns a service on a database.
func NewPromotionService(d *db.DB) *PromotionService { return &PromotionService{db: d} }
