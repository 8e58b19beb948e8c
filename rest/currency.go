package rest

import (
	"net/http"
	"strconv"

	"portico/store"
	"portico/store/release"
)

// currencyBody is a currency. Prices are stored in each currency and not converted, so
// all exchange rates are 1.
type currencyBody struct {
	ID                string `json:"id"`
	Type              string `json:"type"`
	Code              string `json:"code"`
	Default           bool   `json:"default"`
	Enabled           bool   `json:"enabled"`
	DecimalPoint      string `json:"decimal_point"`
	ThousandSeparator string `json:"thousand_separator"`
	DecimalPlaces     int    `json:"decimal_places"`
	Format            string `json:"format"`
	ExchangeRate      int    `json:"exchange_rate"`
}

func newCurrencyBody(c *release.Currency) currencyBody {
	return currencyBody{ID: c.Code, Type: "currency", Code: c.Code, Default: c.Default, Enabled: true, DecimalPoint: c.DecimalPoint,
		ThousandSeparator: c.ThousandSeparator, DecimalPlaces: c.DecimalPlaces, Format: c.Format, ExchangeRate: 1}
}

// currencies lists the shopper's currencies, without pages.
func (a *API) currencies(w http.ResponseWriter, r *http.Request) error {
	addGraphQLHint(w, r)
	currencies, err := a.resolver.Query().Currencies(r.Context())
	if err != nil {
		return err
	}
	list := make([]currencyBody, len(currencies))
	for i, c := range currencies {
		list[i] = newCurrencyBody(c)
	}
	return writeData(w, http.StatusOK, list)
}

// currency returns a currency by its code.
func (a *API) currency(w http.ResponseWriter, r *http.Request) error {
	addGraphQLHint(w, r)
	currencies, err := a.resolver.Query().Currencies(r.Context())
	if err != nil {
		return err
	}
	for _, currency := range currencies {
		if currency.Code == r.PathValue("id") {
			return writeData(w, http.StatusOK, newCurrencyBody(currency))
		}
	}
	return &store.Error{Code: store.NotFound, Detail: "There is no currency " + strconv.Quote(r.PathValue("id")) + " in this shopper's catalog. Use a code, such as USD."}
}
