package settings

import (
	"context"

	"portico/store"
	"portico/store/authoring"
	"portico/store/db"
	"portico/store/promotion/code"
)

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
	s.ID = ""
	f.Between("page_length", s.PageLength, store.MinPageLength, store.MaxPageLength)
	f.KnownCurrency("currency", s.Currency)
	f.Locale("locale", s.Locale)
	if s.LowStockThreshold != nil {
		f.Between("low_stock_threshold", *s.LowStockThreshold, 0, store.MaxLowStockThreshold)
	}
}

func writeSettings(ctx context.Context, w *authoring.Writer, sources []authoring.Source) (changed []string, err error) {
	w.Topics = append(w.Topics, db.TopicSettings)
	last := sources[len(sources)-1].(*settingsSource)
	n, err := w.Exec(ctx, `
		UPDATE settings SET page_length = $1, currency = $2, locale = $3, low_stock_threshold = COALESCE(CAST($4 AS BIGINT), low_stock_threshold)
		WHERE id = 1 AND (page_length <> $1 OR currency <> $2 OR locale <> $3 OR low_stock_threshold <> COALESCE(CAST($4 AS BIGINT), low_stock_threshold))`,
		last.PageLength, last.Currency, last.Locale, last.LowStockThreshold)
	if err == nil && last.CodesIgnoreCase != nil {
		err = code.SetCase(ctx, w.Tx, *last.CodesIgnoreCase)
	}
	if n > 0 {
		changed = []string{last.Key()}
	}
	return changed, err
}

// CodesIgnoreCase returns what a line says of codes; nil if it says nothing.
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
