package settings

import (
	"context"

	"portico/store"
	"portico/store/authoring"
	"portico/store/db"
)

// Kind is the kind of the settings. A shop has one row of them, whose id is 1 in the table and "settings" outside.
var Kind = authoring.Kind{
	Name: "settings", Create: func() authoring.Source { return &settingsSource{} },
	Write: writeSettings, Export: exportSettings,
	Column: `CASE WHEN id = 1 THEN 'settings' END`,
}

// settingsSource is the settings in an import file. Members that are absent keep what the store has.
type settingsSource struct {
	Type       string  `json:"type"`
	ID         string  `json:"id,omitempty"`
	PageLength *int    `json:"page_length,omitempty"`
	Currency   *string `json:"currency,omitempty"`
	Locale     *string `json:"locale,omitempty"`

	LowStockThreshold *int  `json:"low_stock_threshold,omitempty"`
	CodesIgnoreCase   *bool `json:"codes_ignore_case,omitempty"`
}

func (s *settingsSource) Key() string { return "settings" }

func (s *settingsSource) Check(f *authoring.Validator) {
	s.ID = "" // means nothing: there is one row
	ChangeOf(s).check(f)
}

// ChangeOf returns what a settings line changes; nothing for another line.
func ChangeOf(source authoring.Source) Change {
	s, is := source.(*settingsSource)
	if !is {
		return Change{}
	}
	return Change{PageLength: s.PageLength, Currency: s.Currency, Locale: s.Locale, LowStockThreshold: s.LowStockThreshold, CodesIgnoreCase: s.CodesIgnoreCase}
}

// writeSettings writes the last of the sources, unless it equals the stored settings.
func writeSettings(ctx context.Context, w *authoring.Writer, sources []authoring.Source) (changed []string, err error) {
	w.Topics = append(w.Topics, db.TopicSettings)
	if keeps, err := SameAsStored(ctx, w, sources); err != nil || keeps {
		return nil, err
	}
	last := sources[len(sources)-1]
	return []string{last.Key()}, ChangeOf(last).write(ctx, w.Tx)
}

// SameAsStored reports whether the last of the sources keeps the stored settings.
func SameAsStored(ctx context.Context, w *authoring.Writer, sources []authoring.Source) (bool, error) {
	stored, err := db.ReadSettings(ctx, w.Session)
	return err == nil && ChangeOf(sources[len(sources)-1]).keeps(stored), err
}

func exportSettings(ctx context.Context, e *authoring.Exporter) error {
	settings, err := db.ReadSettings(ctx, e.In)
	if err != nil {
		return err
	}
	return e.Line(store.Encode(settingsSource{Type: "settings", PageLength: &settings.PageLength, Currency: &settings.Currency, Locale: &settings.Locale,
		LowStockThreshold: &settings.LowStockThreshold, CodesIgnoreCase: &settings.CodesIgnoreCase}))
}
