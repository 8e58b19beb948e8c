package settings

import (
	"context"

	"portico/store"
	"portico/store/authoring"
	"portico/store/db"
	"portico/store/promotion/code"
)

// SettingsKind is the kind of the settings. A shop has one row of them, whose id is 1 in the table and "settings" outside.
var SettingsKind = authoring.Kind{
	Name: "settings", Create: func() authoring.Source { return &settingsSource{} },
	Write: writeSettings, Export: exportSettings,
	Column: `CASE WHEN id = 1 THEN 'settings' END`,
}

// settingsSource is the settings in an import file.
type settingsSource struct {
	Type       string `json:"type"`
	ID         string `json:"id,omitempty"`
	PageLength int    `json:"page_length"`
	Currency   string `json:"currency"`
	Locale     string `json:"locale"`

	LowStockThreshold *int  `json:"low_stock_threshold,omitempty"` // nil keeps it
	CodesIgnoreCase   *bool `json:"codes_ignore_case,omitempty"`   // nil keeps it
}

func (s *settingsSource) Key() string { return "settings" }

func (s *settingsSource) Check(f *authoring.Validator) {
	s.ID = "" // means nothing: there is one row
	f.Between("page_length", s.PageLength, store.MinPageLength, store.MaxPageLength)
	f.KnownCurrency("currency", s.Currency)
	f.Locale("locale", s.Locale)
	if s.LowStockThreshold != nil {
		f.Between("low_stock_threshold", *s.LowStockThreshold, 0, store.MaxLowStockThreshold)
	}
}

// writeSettings writes the last of the sources, unless it equals the stored settings.
func writeSettings(ctx context.Context, w *authoring.Writer, sources []authoring.Source) (changed []string, err error) {
	w.Topics = append(w.Topics, db.TopicSettings)
	if same, err := SameAsStored(ctx, w, sources); err != nil || same {
		return nil, err
	}
	last := sources[len(sources)-1].(*settingsSource)
	_, err = w.Exec(ctx, `
		UPDATE settings SET page_length = $1, currency = $2, locale = $3, low_stock_threshold = COALESCE(CAST($4 AS BIGINT), low_stock_threshold)
		WHERE id = 1`, last.PageLength, last.Currency, last.Locale, last.LowStockThreshold)
	if err == nil && last.CodesIgnoreCase != nil {
		err = code.SetCase(ctx, w.Tx, *last.CodesIgnoreCase)
	}
	return []string{last.Key()}, err
}

// CodesIgnoreCase returns the member codes_ignore_case of a settings line; nil if it is absent, or for another line.
func CodesIgnoreCase(source authoring.Source) *bool {
	if s, is := source.(*settingsSource); is {
		return s.CodesIgnoreCase
	}
	return nil
}

// SameAsStored reports whether the last of the sources equals the stored settings.
func SameAsStored(ctx context.Context, w *authoring.Writer, sources []authoring.Source) (bool, error) {
	stored, err := db.ReadSettings(ctx, w.Session)
	if err != nil {
		return false, err
	}
	last := sources[len(sources)-1].(*settingsSource)
	return last.PageLength == stored.PageLength && last.Currency == stored.Currency && last.Locale == stored.Locale &&
		(last.LowStockThreshold == nil || *last.LowStockThreshold == stored.LowStockThreshold) &&
		(last.CodesIgnoreCase == nil || *last.CodesIgnoreCase == stored.CodesIgnoreCase), nil
}

func exportSettings(ctx context.Context, e *authoring.Exporter) error {
	settings, err := db.ReadSettings(ctx, e.In)
	if err != nil {
		return err
	}
	return e.Line(store.Encode(settingsSource{Type: "settings", PageLength: settings.PageLength, Currency: settings.Currency, Locale: settings.Locale,
		LowStockThreshold: &settings.LowStockThreshold, CodesIgnoreCase: &settings.CodesIgnoreCase}))
}
