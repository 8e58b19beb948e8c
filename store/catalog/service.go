// Package catalog holds products, files, prices, hierarchies, nodes, catalogs and rules as
// they are authored, and builds the product documents of releases. Its main types are
// Service and the *Source types of import files. It may import store, authoring, db
// and index.
package catalog

import "portico/store/db"

// Service reads and writes catalogs, rules, hierarchies and nodes, and reads what else is authored.
type Service struct {
	db *db.DB

	Pricebooks         AuthoredReader[*Pricebook]
	Prices             AuthoredReader[*AuthoredPrice]
	Modifiers          AuthoredReader[*AuthoredPriceModifier]
	AuthoredFiles      AuthoredReader[*AuthoredFile]
	AuthoredAttributes AuthoredReader[*AuthoredAttribute]
	AuthoredRedirects  AuthoredReader[*AuthoredRedirect]
	Synonyms           AuthoredReader[*Synonym]
}

// NewService returns the service of a database.
func NewService(d *db.DB) *Service {
	return &Service{
		db:                 d,
		Pricebooks:         newAuthoredReader(d, "pricebook", pricebookOf, func(p *Pricebook) string { return p.ID }),
		Prices:             newAuthoredReader(d, "price", authoredPriceOf, func(p *AuthoredPrice) string { return p.ID }),
		Modifiers:          newAuthoredReader(d, "price_modifier", authoredModifierOf, func(m *AuthoredPriceModifier) string { return m.ID }),
		AuthoredFiles:      newAuthoredReader(d, "file", authoredFileOf, func(f *AuthoredFile) string { return f.ID }),
		AuthoredAttributes: newAuthoredReader(d, "attribute", authoredAttributeOf, func(a *AuthoredAttribute) string { return a.Key }),
		AuthoredRedirects:  AuthoredReader[*AuthoredRedirect]{d, RedirectList},
		Synonyms:           newAuthoredReader(d, "synonym", synonymOf, func(s *Synonym) string { return s.ID }),
	}
}
