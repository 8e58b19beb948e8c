// Package settings reads and changes the shop's settings: page length, currency, locale, when stock is low, and
// whether codes have a case.
// Service and Change are its main types. It may import store, authoring, db
// and promotion/code.
package settings

import "portico/store/db"

// Service reads and changes the shop's settings.
type Service struct{ db *db.DB }

// NewService returns the service of a database.
func NewService(d *db.DB) *Service { return &Service{db: d} }
