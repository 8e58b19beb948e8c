package segment

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"

	"portico/store"
	"portico/store/db"
)

// Releases of formats below FormatOfBlocks store each product in a row of release_row, and its texts and
// breadcrumbs in rows of document, which such releases share. Nobody writes them any more: the next
// publication of a catalog writes blocks.

// productRow is a row of release_row. It is stored as lines: the id, the documents, that of the
// breadcrumbs, "@" and the time since which this version is published if it is not the release's, and
// what the product costs.
type productRow struct {
	id          string
	documents   []numberedDocument // the base one first
	crumbs      int64
	publishedAt int64
	offers      string
}

// numberedDocument is a document by its number, in a language, or "" for the base one.
type numberedDocument struct {
	language string
	id       int64
}

// parseProductRow parses a row. Its documents are as "12 fr=13 de=14".
func parseProductRow(text string) (p productRow, err error) {
	id, rest, _ := strings.Cut(text, "\n")
	documents, rest, _ := strings.Cut(rest, "\n")
	crumbs, offers, whole := strings.Cut(rest, "\n")
	if !whole {
		return p, fmt.Errorf("the row of product %s is damaged", id)
	}
	p.id = id
	for _, field := range strings.Fields(documents) {
		var d numberedDocument
		if tag, number, named := strings.Cut(field, "="); named {
			d.language, field = tag, number
		}
		if d.id, err = strconv.ParseInt(field, 10, 64); err != nil {
			return p, err
		}
		p.documents = append(p.documents, d)
	}
	if len(p.documents) == 0 {
		return p, fmt.Errorf("the row of product %s has no documents", id)
	}
	if line, found := strings.CutPrefix(offers, publishedLine); found {
		line, offers, _ = strings.Cut(line, "\n")
		if p.publishedAt, err = strconv.ParseInt(line, 10, 64); err != nil {
			return p, err
		}
	}
	p.offers = offers
	p.crumbs, err = strconv.ParseInt(crumbs, 10, 64)
	return p, err
}

// best returns the document in the first of some languages that the product has, or the base one.
func (p *productRow) best(languages []string) numberedDocument {
	for _, want := range languages {
		for _, d := range p.documents[1:] {
			if d.language == want {
				return d
			}
		}
	}
	return p.documents[0]
}

// readRows is ProductsStored for releases of these formats.
func (r *Reader) readRows(ctx context.Context, places []uint32, products []StoredProduct) error {
	rows, err := r.productRows(ctx, places)
	if err != nil {
		return err
	}
	var ids []int64
	for _, row := range rows {
		ids = append(ids, row.crumbs, row.best(r.languages).id)
	}
	bodies, err := r.documents(ctx, ids)
	if err != nil {
		return err
	}
	for n, place := range places {
		row, exists := rows[place]
		if !exists {
			continue
		}
		best := row.best(r.languages)
		products[n] = StoredProduct{ID: row.id, PublishedAt: row.publishedAt, Offers: row.offers, Crumbs: bodies[row.crumbs], Language: best.language, Document: bodies[best.id]}
		if best.language == "" {
			products[n].Language = r.Release.Locale
		}
	}
	return nil
}

// readRowTranslations is Translations for releases of these formats.
func (r *Reader) readRowTranslations(ctx context.Context, places []uint32, found [][]Translation) error {
	rows, err := r.productRows(ctx, places)
	if err != nil {
		return err
	}
	var ids []int64
	for _, row := range rows {
		for _, d := range row.documents {
			ids = append(ids, d.id)
		}
	}
	bodies, err := r.documents(ctx, ids)
	for n, place := range places {
		for _, d := range rows[place].documents {
			if d.language == "" {
				d.language = r.Release.Locale
			}
			found[n] = append(found[n], Translation{d.language, bodies[d.id]})
		}
	}
	return err
}

// productRows reads the rows at some ordinals.
func (r *Reader) productRows(ctx context.Context, places []uint32) (map[uint32]productRow, error) {
	ids := make([]int64, len(places))
	for i, place := range places {
		ids[i] = RowID(r.Release.holder(int(place)), int(place))
	}
	found := make(map[uint32]productRow, len(places))
	_, err := db.CollectIn(ctx, r.session(), func(rows *sql.Rows) (none struct{}, err error) {
		var id int64
		var text string
		if err := rows.Scan(&id, &text); err != nil {
			return none, err
		}
		row, err := parseProductRow(text)
		if row.publishedAt == 0 {
			row.publishedAt = r.Release.identityOf(id >> BlockIDBits).Published
		}
		found[uint32(id)] = row
		return none, err
	}, ids, `SELECT id, body FROM release_row WHERE id IN ($in)`)
	return found, err
}

// documents reads documents by their numbers, and charges the context's Allowance for them. ErrGone if
// one is missing.
func (r *Reader) documents(ctx context.Context, ids []int64) (map[int64]string, error) {
	ids = store.Unique(ids)
	bodies := make(map[int64]string, len(ids))
	_, err := db.CollectIn(ctx, r.session(), func(rows *sql.Rows) (none struct{}, err error) {
		var id int64
		var body string
		if err := rows.Scan(&id, &body); err != nil {
			return none, err
		}
		bodies[id] = body
		return none, store.Charge(ctx, documentWork(body))
	}, ids, `SELECT id, body FROM document WHERE id IN ($in)`)
	if err == nil && len(bodies) < len(ids) {
		err = ErrGone
	}
	return bodies, err
}
