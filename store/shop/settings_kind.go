package shop

import (
	"context"

	"portico/store"
	"portico/store/db"
)

var settingsKind = kind{
	name: "settings", create: func() source { return &settingsSource{} },
	write: (*importWriter).settings, export: (*exporter).settings,
}

// settingsSource is the store's settings.
type settingsSource struct {
	Type       string `json:"type"`
	ID         string `json:"id,omitempty"`
	PageLength int    `json:"page_length"`
	Currency   string `json:"currency"`
	Locale     string `json:"locale"`
}

func (s *settingsSource) key() string { return "settings" }

func (s *settingsSource) check(f *faults) {
	s.ID = ""
	f.between("page_length", s.PageLength, store.MinPageLength, store.MaxPageLength)
	f.currency("currency", s.Currency)
	f.locale("locale", s.Locale)
}

func (w *importWriter) settings(ctx context.Context, sources []source) (int, error) {
	w.topics = append(w.topics, db.TopicSettings)
	last := sources[len(sources)-1].(*settingsSource)
	n, err := w.Exec(ctx, `
		UPDATE settings SET page_length = $1, currency = $2, locale = $3
		WHERE id = 1 AND (page_length <> $1 OR currency <> $2 OR locale <> $3)`,
		last.PageLength, last.Currency, last.Locale)
	return int(n), err
}

func (e *exporter) settings(ctx context.Context) error {
	settings, err := db.ReadSettings(ctx, e.in)
	if err != nil {
		return err
	}
	return e.line(store.Encode(settingsSource{Type: "settings", PageLength: settings.PageLength, Currency: settings.Currency, Locale: settings.Locale}))
}
