// Package promotion writes and lists promotions.
package promotion

import "portico/store/db"

// PromotionService writes and lists promotions.
type PromotionService struct{ db *db.DB }

// NewPromotionService returns a service on a database.
func NewPromotionService(d *db.DB) *PromotionService { return &PromotionService{db: d} }
