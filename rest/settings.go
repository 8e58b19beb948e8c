package rest

import (
	"net/http"
	"strconv"

	"portico/graph/model"
	"portico/store"
	"portico/store/settings"
)

// settings returns the store's settings.
func (a *API) settings(w http.ResponseWriter, r *http.Request) error {
	addGraphQLHint(w, r)
	current, err := a.resolver.Query().Settings(r.Context())
	if err != nil {
		return err
	}
	writeSettings(w, current)
	return nil
}

// settingsMembers are the settings that can be changed.
type settingsMembers struct {
	PageLength      *int    `json:"page_length"`
	Currency        *string `json:"currency"`
	Locale          *string `json:"locale"`
	CodesIgnoreCase *bool   `json:"codes_ignore_case"`
}

// updateSettings changes the members sent. It ignores others, such as the read-only limits.
func (a *API) updateSettings(w http.ResponseWriter, r *http.Request) error {
	var change settingsMembers
	r, err := readUpdate(w, r, &change)
	if err != nil {
		return err
	}
	input := model.SettingsUpdateInput{Change: settings.Change{PageLength: change.PageLength, Currency: change.Currency, Locale: change.Locale, CodesIgnoreCase: change.CodesIgnoreCase}}
	addGraphQLHint(w, r, "input", input)
	payload, err := a.resolver.Mutation().SettingsUpdate(r.Context(), input)
	if err == nil {
		err = userErrorsToError(payload.UserErrors)
	}
	if err != nil {
		return err
	}
	writeSettings(w, payload.Settings)
	return nil
}

// writeSettings writes the settings, including the read-only limits.
func writeSettings(w http.ResponseWriter, s *store.Settings) {
	body := append(make([]byte, 0, 192), `{"data":{"type":"settings","id":"settings","page_length":`...)
	body = strconv.AppendInt(body, int64(s.PageLength), 10)
	body = store.AppendString(append(body, `,"currency":`...), s.Currency)
	body = store.AppendString(append(body, `,"locale":`...), s.Locale)
	body = strconv.AppendBool(append(body, `,"codes_ignore_case":`...), s.CodesIgnoreCase)
	body = strconv.AppendInt(append(body, `,"page_length_max":`...), int64(s.PageLengthMax()), 10)
	body = strconv.AppendInt(append(body, `,"page_offset_limit":`...), int64(s.PageOffsetLimit()), 10)
	writeJSON(w, http.StatusOK, append(body, '}', '}'))
}
