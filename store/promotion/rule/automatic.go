package rule

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"portico/store"
	"portico/store/db"
)

// MaxAutomatic limits the automatic promotions that take part in a cart.
const MaxAutomatic = 100

// FindAutomatic returns the automatic promotions that are active at a time and apply to a catalog, those
// that end first and at most MaxAutomatic, with their Terms decoded. It charges each that it reads, with its parts, to the
// allowance of the context, and ends when that is spent.
func FindAutomatic(ctx context.Context, in db.Session, at time.Time, catalogID string) ([]*Promotion, error) {
	read := ScanPromotion(at)
	active, err := db.Collect(ctx, in, func(rows *sql.Rows) (*Promotion, error) {
		p, err := read(rows)
		if err != nil {
			return nil, err
		}
		work := bytesOfPromotion + decodedFactor*len(p.Body)
		if !p.InCatalog(catalogID) {
			return nil, store.Charge(ctx, work)
		}
		p.terms = new(p.Terms())
		return p, store.Charge(ctx, work+bytesOfPart*(len(p.terms.Requirements)+len(p.terms.Gifts)))
	}, `
		SELECT `+PromotionColumns+` FROM promotion
		WHERE automatic AND enabled AND end_at > $1 AND start_at <= $1
		ORDER BY end_at, id LIMIT $2`, store.Micros(at), MaxAutomatic)
	return slices.DeleteFunc(active, func(p *Promotion) bool { return p == nil }), err
}

// IgnoredAutomaticSQL selects the ids of the automatic promotions that take part in no cart at a time, because MaxAutomatic others
// that have not ended either end before them.
func IgnoredAutomaticSQL(at time.Time) string {
	return fmt.Sprintf(`SELECT id FROM promotion WHERE automatic AND enabled AND end_at > %d ORDER BY end_at, id LIMIT 1000000 OFFSET %d`, store.Micros(at), MaxAutomatic)
}

// What a promotion takes in memory while it is read.
const (
	bytesOfPromotion = 2048
	decodedFactor    = 4 // times its body
	bytesOfPart      = 128
)
