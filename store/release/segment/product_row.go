package segment

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"

	"portico/store/catalog"
	"portico/store/db"
	"portico/store/release/price"
)

// ProductRow is all that a release stores of a product, but for its texts. It is
// one row that is found by its number, because finding rows is most of the cost
// of a page whose products are not in memory.
//
// It is stored as lines: the id, the documents, that of the breadcrumbs, "@" and
// PublishedAt if it is not the release's, and then what the product costs in
// each currency.
type ProductRow struct {
	ID          string
	documents   string // for parseTranslations
	Crumbs      int64
	PublishedAt int64  // of this version of the product, in microseconds
	Offers      string // for OfferIn
}

// publishedLine begins the line of PublishedAt. Offers of older versions have
// no such line, and their readers pass over it.
const publishedLine = "@"

// DocumentBits is the number of bits that number the documents of one release;
// the other bits of a document's id are the release that added it.
const DocumentBits = 32

// RowID returns the number of the row at an ordinal.
func RowID(release int64, ordinal int) int64 { return release<<DocumentBits | int64(ordinal) }

func (p ProductRow) text() string {
	published := ""
	if p.PublishedAt != 0 {
		published = publishedLine + strconv.FormatInt(p.PublishedAt, 10) + "\n"
	}
	return p.ID + "\n" + p.documents + "\n" + strconv.FormatInt(p.Crumbs, 10) + "\n" + published + p.Offers
}

// ProductRowText returns the stored form of the row of a product with offers by
// currency. publishedAt is 0 for a version that is published with the release.
func ProductRowText(id, documents string, crumbs, publishedAt int64, offers map[string]*catalog.Offer) string {
	return ProductRow{id, documents, crumbs, publishedAt, price.OfferLines(offers)}.text()
}

func parseProductRow(text string) (p ProductRow, err error) {
	id, rest, _ := strings.Cut(text, "\n")
	documents, rest, _ := strings.Cut(rest, "\n")
	crumbs, offers, whole := strings.Cut(rest, "\n")
	if !whole {
		return p, fmt.Errorf("the row of product %s is damaged", id)
	}
	p = ProductRow{ID: strings.Clone(id), documents: documents, Offers: offers} // the id outlives the row
	if p.Crumbs, err = strconv.ParseInt(crumbs, 10, 64); err != nil {
		return p, err
	}
	if line, found := strings.CutPrefix(offers, publishedLine); found {
		published, offers, _ := strings.Cut(line, "\n")
		p.Offers = offers
		p.PublishedAt, err = strconv.ParseInt(published, 10, 64)
	}
	return p, err
}

// ProductRows reads the rows at some ordinals.
func (r *Reader) ProductRows(ctx context.Context, places []uint32) (map[uint32]ProductRow, error) {
	ids := make([]int64, len(places))
	for i, place := range places {
		ids[i] = RowID(r.Release.holder(int(place)), int(place))
	}
	found := make(map[uint32]ProductRow, len(places))
	list, args := db.InList(nil, ids)
	_, err := db.Collect(ctx, r.session(), func(rows *sql.Rows) (none struct{}, err error) {
		var id int64
		var text string
		if err := rows.Scan(&id, &text); err != nil {
			return none, err
		}
		row, err := parseProductRow(text)
		if row.PublishedAt == 0 {
			row.PublishedAt = r.Release.identityOf(id >> DocumentBits).Published
		}
		found[uint32(id)] = row
		return none, err
	}, `SELECT id, body FROM release_row WHERE id IN (`+list+`)`, args...)
	return found, err
}
