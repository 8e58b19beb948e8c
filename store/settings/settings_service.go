// Package settings is what holds for the whole shop: the length of a page, the
// currency and the locale. It may import the words of store, authoring and db.
package settings

import "portico/store/db"

// SettingsService keeps what holds for the whole shop.
type SettingsService struct{ db *db.DB }

// NewSettingsService keeps it in a database.
func NewSettingsService(d *db.DB) *SettingsService { return &SettingsService{db: d} }
