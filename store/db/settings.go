package db

import (
	"context"
	"database/sql"
	"fmt"

	"portico/store"
)

// Settings returns the settings, which are read again when they change.
func (s *DB) Settings(ctx context.Context) (*store.Settings, error) {
	return s.settings.Get(ctx, s, TopicSettings, func(ctx context.Context) (*store.Settings, error) {
		return ReadSettings(ctx, s.Reader)
	})
}

// ReadSettings reads the settings as they are now.
func ReadSettings(ctx context.Context, in Session) (*store.Settings, error) {
	settings, found, err := One(ctx, in, func(rows *sql.Rows) (*store.Settings, error) {
		settings := &store.Settings{}
		return settings, rows.Scan(&settings.PageLength, &settings.Currency, &settings.Locale)
	}, `SELECT page_length, currency, locale FROM settings WHERE id = 1`)
	if err == nil && !found {
		err = fmt.Errorf("the settings row is missing")
	}
	return settings, err
}
