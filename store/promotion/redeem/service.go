// Package redeem checks and redeems promotion codes, and never more often than a code may be used.
// RedeemService takes a CodeUse and returns a CodeCheck or a CodeUsage. It must not import
// promotion.
package redeem

import (
	"portico/store/db"
)

// RedeemService checks, redeems and releases promotion codes, and lists their usages.
type RedeemService struct {
	db      *db.DB
	redeems *redeemQueue
}

// NewRedeemService returns a service on a database.
func NewRedeemService(d *db.DB) *RedeemService {
	return &RedeemService{db: d, redeems: newRedeemQueue()}
}
