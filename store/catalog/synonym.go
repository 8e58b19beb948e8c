package catalog

import (
	"context"
	"database/sql"

	"portico/store"
	"portico/store/authoring"
	"portico/store/db"
)

// Synonym is a synonym of searches as authored. Shoppers' searches use it once it is published.
type Synonym struct {
	ID           string
	Kind         SynonymKind
	Locale, Term *string // nil for none
	Terms        []string
}

// GlobalID returns the synonym's global id.
func (s *Synonym) GlobalID() string { return store.GlobalID(store.TypeSynonym, s.ID) }

func scanSynonym(rows *sql.Rows) (*Synonym, error) {
	source := &SynonymSource{}
	if err := rows.Scan(db.JSON{Into: source}); err != nil {
		return nil, err
	}
	own := &source.Attributes
	s := &Synonym{ID: source.ID, Kind: own.Kind, Terms: own.Terms}
	if own.Locale != "" {
		s.Locale = &own.Locale
	}
	if own.Term != "" {
		s.Term = &own.Term
	}
	return s, nil
}

// SynonymList lists synonyms.
var SynonymList = db.Listing[*Synonym]{
	Name: "synonym", Columns: `body`, Table: "synonym", ID: "id", Scan: scanSynonym,
	Key: func(s *Synonym, _ store.Sort) []any { return []any{s.ID} },
}

// Synonym returns a synonym as authored, or NOT_FOUND.
func (s *CatalogService) Synonym(ctx context.Context, id string) (*Synonym, error) {
	return authoring.ReadRow(ctx, s.db.Reader, SynonymList, "synonym", id)
}

// SynonymsByID returns synonyms by id; unknown ones are missing.
func (s *CatalogService) SynonymsByID(ctx context.Context, ids []string) (map[string]*Synonym, error) {
	return authoring.ReadRowsByID(ctx, s.db.Reader, SynonymList, ids)
}

// Synonyms lists all synonyms by id.
func (s *CatalogService) Synonyms(ctx context.Context, page store.Page) (*store.Slice[*Synonym], error) {
	return db.List(ctx, s.db, SynonymList, store.ListQuery{Page: page})
}
