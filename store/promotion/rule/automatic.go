package rule

import (
	"context"
	"time"

	"portico/store"
	"portico/store/db"
)

// MaxAutomatic limits the automatic promotions that take part in a cart.
const MaxAutomatic = 100

// FindAutomatic returns the automatic promotions that are active at a time and apply to a catalog, those
// that end first and at most MaxAutomatic. It charges what it reads to the allowance of the context.
func FindAutomatic(ctx context.Context, in db.Session, at time.Time, catalogID string) ([]*Promotion, error) {
	active, err := db.Collect(ctx, in, ScanPromotion(at), `
		SELECT `+PromotionColumns+` FROM promotion
		WHERE automatic AND enabled AND end_at > $1 AND start_at <= $1
		ORDER BY end_at, id LIMIT $2`, store.Micros(at), MaxAutomatic)
	if err != nil {
		return nil, err
	}
	size, list := 0, active[:0]
	for _, p := range active {
		size += bytesOfPromotion + decodedFactor*len(p.Body)
		if p.InCatalog(catalogID) {
			list = append(list, p)
		}
	}
	return list, store.Charge(ctx, size)
}

// What a promotion takes in memory while it is read.
const (
	bytesOfPromotion = 2048
	decodedFactor    = 4 // times its body
)
