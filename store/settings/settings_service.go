// Package settings reads and changes the shop's settings: page length, currency, locale and when stock is low.
// SettingsService and SettingsChange are its main types. It may import store, authoring and
// db.
package settings

import "portico/store/db"

// SettingsService reads and changes the shop's settings.
type SettingsService struct{ db *db.DB }

// NewSettingsService returns the service of a database.
func NewSettingsService(d *db.DB) *SettingsService { return &SettingsService{db: d} }
