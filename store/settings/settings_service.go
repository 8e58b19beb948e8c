// Package settings reads and changes the shop's settings: page length, currency, locale, when stock is low, and
// whether codes have a case.
// SettingsService and SettingsChange are its main types. It may import store, authoring, db
// and promotion/code.
package settings

import "portico/store/db"

// SettingsService reads and changes the shop's settings.
type SettingsService struct{ db *db.DB }

// NewSettingsService returns the service of a database.
func NewSettingsService(d *db.DB) *SettingsService { return &SettingsService{db: d} }
