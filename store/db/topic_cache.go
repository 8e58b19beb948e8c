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
	if value, ok := w.Cached(s, name); ok {
		return value, nil
	}
	version, cycle := s.topics.version(name).Load(), s.topics.reloads.Load() // before loading, so that a later change reloads
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := s.identityGuard.check(); err != nil {
		var none T
		return none, err
	}
	last := w.last.Load()
	current := last != nil && last.version == version
	if current && last.reloads == cycle { // meanwhile
		return last.value, nil
	}
	value, err := load(ctx)
	switch {
	case err == nil:
	case !current || errors.Is(err, store.ErrReplaced):
		return value, err
	default:
		value = last.value // a failed periodic reload keeps the old value
	}
	w.last.Store(&topicValue[T]{value, version, cycle})
	return value, nil
}

// Cached returns the current value if it is in memory and need not be read again.
func (w *TopicCache[T]) Cached(s *DB, name Topic) (value T, ok bool) {
	version, cycle := s.topics.version(name).Load(), s.topics.reloads.Load()
	last := w.last.Load()
	if last == nil || last.version != version || last.reloads != cycle || s.identityGuard.check() != nil {
		return value, false
	}
	return last.value, true
}

// CachedSettings returns the shop's settings if Settings would not read them.
func (s *DB) CachedSettings() (settings *store.Settings, ok bool) {
	return s.settings.Cached(s, TopicSettings)
}

// Settings returns the shop's settings, cached until they change. Those that
// were read again and are the same have the same address.
func (s *DB) Settings(ctx context.Context) (*store.Settings, error) {
	return s.settings.Get(ctx, s, TopicSettings, func(ctx context.Context) (*store.Settings, error) {
		read, err := ReadSettings(ctx, s.Reader)
		if last := s.settings.last.Load(); err == nil && last != nil && *last.value == *read {
			return last.value, nil
		}
		return read, err
	})
}

// ReadSettings reads the current settings.
func ReadSettings(ctx context.Context, in Session) (*store.Settings, error) {
	settings, found, err := One(ctx, in, func(rows *sql.Rows) (*store.Settings, error) {
		settings := &store.Settings{}
		return settings, rows.Scan(&settings.PageLength, &settings.Currency, &settings.Locale, &settings.LowStockThreshold, &settings.CodesIgnoreCase)
	}, `SELECT page_length, currency, locale, low_stock_threshold, code_case = 2 FROM settings WHERE id = 1`)
	if err == nil && !found {
		err = fmt.Errorf("the settings row is missing")
	}
	return settings, err
}
