package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"portico/store"
)

// Get returns the current value, or store.ErrReplaced while the database may be a different one. It calls load if the topic
// changed or a reload is due. If that fails and the topic did not change, it returns the last value.
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
	if current && last.reloads == cycle { // another call has loaded it meanwhile
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

// shopSettings are the settings, and the secret of cursors, which is as old as the database.
type shopSettings struct {
	*store.Settings
	secret  string
	cursors *store.CursorKey
}

// CachedSettings returns the shop's settings if they are in memory, so that Settings would not read them.
func (s *DB) CachedSettings() (settings *store.Settings, ok bool) {
	current, ok := s.settings.Cached(s, TopicSettings)
	if !ok {
		return nil, false
	}
	return current.Settings, true
}

// CursorKey returns the key that signs cursors. All servers of the database have it.
func (s *DB) CursorKey(ctx context.Context) (*store.CursorKey, error) {
	current, err := s.shopSettings(ctx)
	if err != nil {
		return nil, err
	}
	return current.cursors, nil
}

// Settings returns the shop's settings, cached until they change. Those that
// were read again and are the same have the same address.
func (s *DB) Settings(ctx context.Context) (*store.Settings, error) {
	current, err := s.shopSettings(ctx)
	if err != nil {
		return nil, err
	}
	return current.Settings, nil
}

func (s *DB) shopSettings(ctx context.Context) (*shopSettings, error) {
	return s.settings.Get(ctx, s, TopicSettings, func(ctx context.Context) (*shopSettings, error) {
		read, err := readShopSettings(ctx, s.Reader)
		if err != nil {
			return nil, err
		}
		if last := s.settings.last.Load(); last != nil && *last.value.Settings == *read.Settings && last.value.secret == read.secret {
			return last.value, nil
		}
		read.cursors = store.NewCursorKey(read.secret)
		return read, nil
	})
}

// ReadSettings reads the current settings.
func ReadSettings(ctx context.Context, in Session) (*store.Settings, error) {
	read, err := readShopSettings(ctx, in)
	if err != nil {
		return nil, err
	}
	return read.Settings, nil
}

func readShopSettings(ctx context.Context, in Session) (*shopSettings, error) {
	read, found, err := One(ctx, in, func(rows *sql.Rows) (*shopSettings, error) {
		s := &shopSettings{Settings: &store.Settings{}}
		return s, rows.Scan(&s.PageLength, &s.Currency, &s.Locale, &s.LowStockThreshold, &s.CodesIgnoreCase, &s.secret)
	}, `SELECT page_length, currency, locale, low_stock_threshold, codes_ignore_case, (SELECT value FROM store_meta WHERE name = 'cursor_key')
		FROM settings WHERE id = 1`)
	if err == nil && !found {
		err = fmt.Errorf("the settings row is missing")
	}
	return read, err
}
