package release

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"portico/store"
	"portico/store/catalog"
	"portico/store/db"
)

// productRow is all that a release keeps of a product to show it by, but for
// its texts: in one row that is found by its number, because a page of products
// that are not in memory costs what its rows are looked for.
//
// It is kept as lines: the id, the documents, that of the breadcrumbs, and then
// what the product costs in each currency.
type productRow struct {
	id        string
	documents string // what keptTranslations reads
	crumbs    int64
	offers    string // what offerIn reads
}

// RowID is the number of the row of what stands at an ordinal.
func RowID(release int64, ordinal int) int64 { return release<<DocumentBits | int64(ordinal) }

func (r productRow) text() string {
	return r.id + "\n" + r.documents + "\n" + strconv.FormatInt(r.crumbs, 10) + "\n" + r.offers
}

// ProductRowText is the row of a product with those offers by currency.
func ProductRowText(id, documents string, crumbs int64, offers map[string]*catalog.Offer) string {
	return productRow{id, documents, crumbs, offerLines(offers)}.text()
}

func parseProductRow(text string) (r productRow, err error) {
	id, rest, _ := strings.Cut(text, "\n")
	documents, rest, _ := strings.Cut(rest, "\n")
	crumbs, offers, whole := strings.Cut(rest, "\n")
	if !whole {
		return r, fmt.Errorf("the row of the product %s is damaged", id)
	}
	r = productRow{id: strings.Clone(id), documents: documents, offers: offers} // the id is kept for long
	r.crumbs, err = strconv.ParseInt(crumbs, 10, 64)
	return r, err
}

// The lines of a row that tell a base price, and the sales, begin with these.
const (
	priceLine = "=" // =USD retail 1999 0 and the tiers, if any
	salesLine = "%" // %USD retail and the sales
)

// offerLines are offers by currency, as productRow has them.
func offerLines(offers map[string]*catalog.Offer) string {
	var lines []byte
	for _, code := range slices.Sorted(maps.Keys(offers)) {
		o := offers[code]
		if o.Base != nil {
			lines = fmt.Appendf(lines, "%s%s %s %d ", priceLine, code, o.PricebookID, o.Base.Minor)
			if lines = append(lines, "0 "...); o.Base.IncludesTax {
				lines[len(lines)-2] = '1'
			}
			if len(o.Base.Tiers) > 0 {
				lines = append(lines, store.Encode(o.Base.Tiers)...)
			}
			lines = append(lines, '\n')
		}
		if len(o.Sales) > 0 {
			lines = fmt.Appendf(lines, "%s%s %s %s\n", salesLine, code, o.PricebookID, store.Encode(o.Sales))
		}
	}
	return string(lines)
}

// offerIn is what lines ask in a currency; an empty offer, where that is
// nothing.
func offerIn(lines, currency string) (*catalog.Offer, error) {
	o := &catalog.Offer{}
	for line := range strings.SplitSeq(lines, "\n") {
		name, rest, _ := strings.Cut(line, " ")
		if len(name) != 1+len(currency) || name[1:] != currency {
			continue
		}
		var asks string
		o.PricebookID, asks, _ = strings.Cut(rest, " ")
		if name[:1] == salesLine {
			if err := json.Unmarshal([]byte(asks), &o.Sales); err != nil {
				return nil, err
			}
			continue
		}
		amount, asks, _ := strings.Cut(asks, " ")
		tax, tiers, _ := strings.Cut(asks, " ")
		minor, err := strconv.ParseInt(amount, 10, 64)
		if err != nil {
			return nil, err
		}
		o.Base = &catalog.TieredPrice{Minor: minor, IncludesTax: tax == "1"}
		if tiers == "" {
			continue
		}
		if err := json.Unmarshal([]byte(tiers), &o.Base.Tiers); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// rows reads the rows of some places, by ordinal.
func (v *View) rows(ctx context.Context, places []uint32) (map[uint32]productRow, error) {
	ids := make([]int64, len(places))
	for i, place := range places {
		ids[i] = RowID(v.Release.holder(int(place)), int(place))
	}
	found := make(map[uint32]productRow, len(places))
	list, args := db.InList(nil, ids)
	_, err := db.Collect(ctx, v.service.db.Reader, func(rows *sql.Rows) (none struct{}, err error) {
		var id int64
		var text string
		if err := rows.Scan(&id, &text); err != nil {
			return none, err
		}
		found[uint32(id)], err = parseProductRow(text)
		return none, err
	}, `SELECT id, body FROM release_row WHERE id IN (`+list+`)`, args...)
	return found, err
}

// DocumentBits is how many documents a release can add: the rest of a
// document's id is the release that added it.
const DocumentBits = 32
