package shop

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/bojanz/currency"
	"golang.org/x/text/language"

	"portico/store"
)

// Settings are the store's own (spec: Limits; DESIGN 4, Pages).
type Settings struct {
	PageLength int    // rows of a page when the request does not say, 1 to 100
	Currency   string // ISO 4217; prices are shown in it unless the shopper asks otherwise
	Locale     string // BCP 47; the language of texts that name none
}

// PageLengthMax is how many rows a page can ask for.
func (Settings) PageLengthMax() int { return store.MaxPageLength }

// PageOffsetLimit is how many rows a page can pass over.
func (Settings) PageOffsetLimit() int { return store.MaxOffset }

// SettingsChange names what to change; nil leaves a member as it is.
type SettingsChange struct {
	PageLength *int
	Currency   *string
	Locale     *string
}

// Settings returns the store's settings.
func (s *Store) Settings(ctx context.Context) (*Settings, error) {
	return s.settings.get(ctx, s, topicSettings, func(ctx context.Context) (*Settings, error) {
		return readSettings(ctx, s.reader)
	})
}

func readSettings(ctx context.Context, in session) (*Settings, error) {
	settings, found, err := one(ctx, in, func(rows *sql.Rows) (*Settings, error) {
		settings := &Settings{}
		return settings, rows.Scan(&settings.PageLength, &settings.Currency, &settings.Locale)
	}, `SELECT page_length, currency, locale FROM settings WHERE id = 1`)
	if err == nil && !found {
		err = fmt.Errorf("the settings row is missing")
	}
	return settings, err
}

// UpdateSettings changes the members given and returns all of them.
// UNPROCESSABLE names each member out of its bounds; nothing is written then.
func (s *Store) UpdateSettings(ctx context.Context, actor store.Actor, change SettingsChange) (*Settings, error) {
	if err := change.check(); err != nil {
		return nil, err
	}
	return updateOnce(ctx, s, keyGiven(ctx), actor, func(ctx context.Context, t *tx) (*Settings, error) {
		if _, err := t.exec(ctx, `
			UPDATE settings
			SET page_length = COALESCE(CAST($1 AS BIGINT), page_length),
			    currency = COALESCE(CAST($2 AS TEXT), currency),
			    locale = COALESCE(CAST($3 AS TEXT), locale)
			WHERE id = 1`, change.PageLength, change.Currency, change.Locale); err != nil {
			return nil, err
		}
		settings, err := readSettings(ctx, t.session)
		if err != nil {
			return nil, err
		}
		return settings, s.changed(ctx, t, topicSettings)
	})
}

func (c SettingsChange) check() error {
	var faults store.Errors
	if c.PageLength != nil && (*c.PageLength < store.MinPageLength || *c.PageLength > store.MaxPageLength) {
		faults = append(faults, store.Unprocessablef([]string{"pageLength"}, "must be between %d and %d, not %d", store.MinPageLength, store.MaxPageLength, *c.PageLength))
	}
	if c.Currency != nil && (*c.Currency == "" || !currency.IsValid(*c.Currency)) {
		faults = append(faults, store.Unprocessablef([]string{"currency"}, "must be an ISO 4217 code such as USD, not %q", *c.Currency))
	}
	if c.Locale != nil {
		if _, err := language.Parse(*c.Locale); err != nil {
			faults = append(faults, store.Unprocessablef([]string{"locale"}, "must be a BCP 47 tag such as en or fr-CA, not %q", *c.Locale))
		}
	}
	if len(faults) > 0 {
		return faults
	}
	return nil
}
