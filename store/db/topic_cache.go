package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"portico/store"
)

// Get returns the current value, or store.ErrReplaced while the database may be a
// different one.
func (w *TopicCache[T]) Get(ctx context.Context, s *DB, name Topic, load func(context.Context) (T, error)) (T, error) {
	version, cycle := s.topics.version(name).Load(), s.topics.reloads.Load() // before loading, so that a later change reloads
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := s.identityGuard.check(); err != nil {
		var none T
		return none, err
	}
	current := w.loaded && w.version == version
	if current && w.reloads == cycle {
		return w.value, nil
	}
	value, err := load(ctx)
	switch {
	case err == nil:
		w.value, w.version, w.loaded = value, version, true
	case !current || errors.Is(err, store.ErrReplaced):
		return value, err
	}
	w.reloads = cycle // a failed periodic reload keeps the old value
	return w.value, nil
}

// Settings returns the shop's settings, cached until they change.
func (s *DB) Settings(ctx context.Context) (*store.Settings, error) {
	return s.settings.Get(ctx, s, TopicSettings, func(ctx context.Context) (*store.Settings, error) {
		return ReadSettings(ctx, s.Reader)
	})
}

// ReadSettings reads the current settings.
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
