package release

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"github.com/bojanz/currency"

	"portico/store/release/segment"
)

// Currency is a currency of a catalog, with the format of its amounts in the
// shopper's language.
type Currency struct {
	Code              string // ISO 4217
	Default           bool   // the one that the shopper sees unless they request another
	DecimalPoint      string
	ThousandSeparator string
	DecimalPlaces     int    // of its minor unit: 2 for USD, 0 for JPY
	Format            string // {price} stands for the amount: ${price}
}

// Currencies returns the currencies in which the release has prices, and the
// default, by code.
func (v *View) Currencies(ctx context.Context) ([]*Currency, error) {
	codes, err := v.PriceCurrencies(ctx)
	if err != nil {
		return nil, err
	}
	standard := v.routing.Currency(v.Release.CatalogID, v.settings)
	if !slices.Contains(codes, standard) {
		codes = append(slices.Clone(codes), standard)
		slices.Sort(codes)
	}
	list := make([]*Currency, len(codes))
	for i, code := range codes {
		list[i] = v.newCurrency(code)
		list[i].Default = code == standard
	}
	return list, nil
}

// newCurrency derives the format of a currency from an example amount in the view's locale. A currency that CLDR does not know
// has the default format, {price} and the code.
func (v *View) newCurrency(code string) *Currency {
	c := &Currency{Code: code, DecimalPoint: ".", ThousandSeparator: ",", DecimalPlaces: 2, Format: "{price} " + code}
	digits, known := currency.GetDigits(code)
	amount, err := currency.NewAmount("1234567.89", code)
	if !known || err != nil {
		return c // CLDR does not know the code
	}
	formatter := currency.NewFormatter(currency.NewLocale(v.Locale.String()))
	formatter.MinDigits, formatter.MaxDigits = 2, 2
	written := formatter.Format(amount)
	begin := strings.IndexFunc(written, unicode.IsDigit)
	end := strings.LastIndexFunc(written, unicode.IsDigit)
	if begin < 0 {
		return c
	}
	end += len(string([]rune(written[end:])[0])) // behind the last digit, which may have several bytes
	between := strings.FieldsFunc(written[begin:end], unicode.IsDigit)
	if len(between) < 2 { // the language does not group digits
		between = []string{"", between[0]}
	}
	c.ThousandSeparator, c.DecimalPoint = between[0], between[len(between)-1]
	c.DecimalPlaces, c.Format = int(digits), written[:begin]+"{price}"+written[end:]
	return c
}

// CurrenciesOf returns the currencies in which the products of releases have a price or a sale, by code, in the order of
// the releases.
func (s *Service) CurrenciesOf(ctx context.Context, releases []*segment.Release) ([][]string, error) {
	return segment.CurrenciesOf(ctx, s.db.Reader, releases)
}
