package settings

import (
	"context"

	"github.com/bojanz/currency"
	"golang.org/x/text/language"

	"portico/store"
	"portico/store/authoring"
	"portico/store/db"
	"portico/store/promotion/code"
)

// SettingsChange has the new values; nil keeps a value.
type SettingsChange struct {
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
func (s *Service) Update(ctx context.Context, actor store.Actor, change SettingsChange) (*store.Settings, error) {
	if err := change.Nulls.Apply([]string{"page_length", "currency", "locale", "low_stock_threshold", "codes_ignore_case"}, nil); err != nil {
		return nil, err
	}
	if err := change.check(); err != nil {
		return nil, err
	}
	return db.UpdateOnce(ctx, s.db, store.IdempotencyKeyOf(ctx), actor, func(ctx context.Context, t *db.Tx) (*store.Settings, error) {
		w := &authoring.Writer{Tx: t, DB: s.db}
		if err := w.Recorded(ctx, SettingsKind, SettingsKind.Name, func() error {
			_, err := t.Exec(ctx, `
			UPDATE settings
			SET page_length = COALESCE(CAST($1 AS BIGINT), page_length),
			    currency = COALESCE(CAST($2 AS TEXT), currency),
			    locale = COALESCE(CAST($3 AS TEXT), locale),
			    low_stock_threshold = COALESCE(CAST($4 AS BIGINT), low_stock_threshold)
			WHERE id = 1`, change.PageLength, change.Currency, change.Locale, change.LowStockThreshold)
			if err == nil && change.CodesIgnoreCase != nil {
				err = code.SetCase(ctx, t, *change.CodesIgnoreCase)
			}
			return err
		}); err != nil {
			return nil, err
		}
		settings, err := db.ReadSettings(ctx, t.Session)
		if err != nil {
			return nil, err
		}
		return settings, s.db.BumpTopic(ctx, t, db.TopicSettings)
	})
}

// check returns an error for each member that is out of range.
func (c SettingsChange) check() error {
	var faults store.Errors
	if c.PageLength != nil && (*c.PageLength < store.MinPageLength || *c.PageLength > store.MaxPageLength) {
		faults = append(faults, store.Unprocessablef([]string{"page_length"}, "must be between %d and %d, got %d", store.MinPageLength, store.MaxPageLength, *c.PageLength))
	}
	if n := c.LowStockThreshold; n != nil && (*n < 0 || *n > store.MaxLowStockThreshold) {
		faults = append(faults, store.Unprocessablef([]string{"low_stock_threshold"}, "must be between 0 and %d, got %d", store.MaxLowStockThreshold, *n))
	}
	if c.Currency != nil && (*c.Currency == "" || !currency.IsValid(*c.Currency)) {
		faults = append(faults, store.Unprocessablef([]string{"currency"}, "must be an ISO 4217 code such as USD, got %q", *c.Currency))
	}
	if c.Locale != nil {
		if _, err := language.Parse(*c.Locale); err != nil {
			faults = append(faults, store.Unprocessablef([]string{"locale"}, "must be a BCP 47 tag such as en or fr-CA, got %q", *c.Locale))
		}
	}
	if len(faults) > 0 {
		return faults
	}
	return nil
}
