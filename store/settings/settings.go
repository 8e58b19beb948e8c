package settings

import (
	"context"

	"github.com/bojanz/currency"

	"portico/store"
	"portico/store/authoring"
	"portico/store/db"
	"portico/store/promotion/code"
)

// Change has the new values; nil keeps a value.
type Change struct {
	PageLength *int    `json:"pageLength,omitempty"`
	Currency   *string `json:"currency,omitempty"`
	Locale     *string `json:"locale,omitempty"`

	LowStockThreshold *int `json:"lowStockThreshold,omitempty"`

	CodesIgnoreCase *bool `json:"codesIgnoreCase,omitempty"`

	Nulls store.Nulls `json:"-"`
}

// Get returns the shop's settings.
func (s *Service) Get(ctx context.Context) (*store.Settings, error) {
	return s.db.Settings(ctx)
}

// Cached returns the settings if Get would not read them from the database.
func (s *Service) Cached() (settings *store.Settings, ok bool) {
	return s.db.CachedSettings()
}

// Update changes settings and returns all of them, or UNPROCESSABLE for each member
// that is out of range, and for CodesIgnoreCase if two codes differ in case alone (code.CheckCase).
func (s *Service) Update(ctx context.Context, actor store.Actor, change Change) (*store.Settings, error) {
	if err := change.Nulls.Apply([]string{"page_length", "currency", "locale", "low_stock_threshold", "codes_ignore_case"}, nil); err != nil {
		return nil, err
	}
	f := &authoring.Validator{}
	if change.check(f); len(f.Errors) > 0 {
		return nil, f.Errors
	}
	return db.UpdateOnce(ctx, s.db, store.IdempotencyKeyOf(ctx), actor, func(ctx context.Context, t *db.Tx) (*store.Settings, error) {
		w := &authoring.Writer{Tx: t, DB: s.db}
		if err := w.Recorded(ctx, Kind, Kind.Name, func() error { return change.write(ctx, t) }); err != nil {
			return nil, err
		}
		settings, err := db.ReadSettings(ctx, t.Session)
		if err != nil {
			return nil, err
		}
		return settings, s.db.BumpTopic(ctx, t, db.TopicSettings)
	})
}

// check adds an error for each member that is out of range.
func (c Change) check(f *authoring.Validator) {
	if c.PageLength != nil {
		f.Between("page_length", *c.PageLength, store.MinPageLength, store.MaxPageLength)
	}
	if c.LowStockThreshold != nil {
		f.Between("low_stock_threshold", *c.LowStockThreshold, 0, store.MaxLowStockThreshold)
	}
	if c.Currency != nil && (*c.Currency == "" || !currency.IsValid(*c.Currency)) {
		f.Rule("currency", "must be an ISO 4217 code such as USD, got %q", store.Abbreviate(*c.Currency))
	}
	if c.Locale != nil && !authoring.IsLocale(*c.Locale) {
		f.Rule("locale", "must be a BCP 47 tag such as en or fr-CA, got %q", store.Abbreviate(*c.Locale))
	}
}

// write changes the row of the settings.
func (c Change) write(ctx context.Context, t *db.Tx) error {
	_, err := t.Exec(ctx, `
		UPDATE settings
		SET page_length = COALESCE(CAST($1 AS BIGINT), page_length),
		    currency = COALESCE(CAST($2 AS TEXT), currency),
		    locale = COALESCE(CAST($3 AS TEXT), locale),
		    low_stock_threshold = COALESCE(CAST($4 AS BIGINT), low_stock_threshold)
		WHERE id = 1`, c.PageLength, c.Currency, c.Locale, c.LowStockThreshold)
	if err == nil && c.CodesIgnoreCase != nil {
		err = code.SetCase(ctx, t, *c.CodesIgnoreCase)
	}
	return err
}

// keeps reports whether the change leaves the settings as they are.
func (c Change) keeps(s *store.Settings) bool {
	return same(c.PageLength, s.PageLength) && same(c.Currency, s.Currency) && same(c.Locale, s.Locale) &&
		same(c.LowStockThreshold, s.LowStockThreshold) && same(c.CodesIgnoreCase, s.CodesIgnoreCase)
}

func same[T comparable](value *T, stored T) bool { return value == nil || *value == stored }
