package rest

import (
	"net/http"

	"portico/graph/generated"
	"portico/graph/model"
	"portico/store"
)

// settingsBody is the settings resource. The limits can be read only.
type settingsBody struct {
	Type            string `json:"type"`
	ID              string `json:"id"`
	PageLength      int    `json:"page_length"`
	Currency        string `json:"currency"`
	Locale          string `json:"locale"`
	PageLengthMax   int    `json:"page_length_max"`
	PageOffsetLimit int    `json:"page_offset_limit"`
}

// settings returns the store's settings.
func (a *API) settings(w http.ResponseWriter, r *http.Request) error {
	tell(w, r)
	settings, err := a.resolver.Query().Settings(r.Context())
	if err != nil {
		return err
	}
	return writeSettings(w, settings)
}

// updateSettings changes page_length, currency or locale; members that can
// only be read, and unknown ones, are passed over.
func (a *API) updateSettings(w http.ResponseWriter, r *http.Request) error {
	var change struct {
		PageLength *int    `json:"page_length"`
		Currency   *string `json:"currency"`
		Locale     *string `json:"locale"`
	}
	if err := readData(w, r, &change); err != nil {
		return err
	}
	input := generated.SettingsUpdateInput{PageLength: change.PageLength, Currency: change.Currency, Locale: change.Locale}
	tell(w, r, "input", input)
	payload, err := a.resolver.Mutation().SettingsUpdate(r.Context(), input)
	if err == nil {
		err = asError(payload.UserErrors)
	}
	if err != nil {
		return err
	}
	return writeSettings(w, payload.Settings)
}

func writeSettings(w http.ResponseWriter, s *store.Settings) error {
	return writeData(w, http.StatusOK, settingsBody{"settings", "settings", s.PageLength, s.Currency, s.Locale, s.PageLengthMax(), s.PageOffsetLimit()})
}

// asError turns a payload's errors back into one; nil when there are none.
func asError(list []*model.UserError) error {
	if len(list) == 0 {
		return nil
	}
	errs := make(store.Errors, len(list))
	for i, e := range list {
		errs[i] = e.Error
	}
	return errs
}
