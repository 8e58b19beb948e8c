package promotion

import "portico/store/db"

// RedeemService checks, redeems and releases promotion codes, and lists their usages.
type RedeemService struct {
	db      *db.DB
	redeems *redeemQueue
}

// NewRedeemService returns a service on a database.
func NewRedeemService(d *db.DB) *RedeemService {
	return &RedeemService{db: d, redeems: newRedeemQueue()}
}
