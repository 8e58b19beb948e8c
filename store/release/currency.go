package release

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"github.com/bojanz/currency"

	"portico/store"
	"portico/store/db"
)

// Currency is what a shop can show its prices in, with how the shopper's
// language writes its amounts.
type Currency struct {
	Code              string // ISO 4217
	Default           bool   // what this shopper sees unless they ask for another
	DecimalPoint      string
	ThousandSeparator string
	DecimalPlaces     int    // of its minor unit: 2 for USD, 0 for JPY
	Format            string // {price} stands for the amount: ${price}
}

// listCurrencies names what is kept of a release's currencies.
const listCurrencies = "currencies"

// Currencies are those that the release has prices in, and the default, by
// code.
func (v *View) Currencies(ctx context.Context) ([]*Currency, error) {
	codes, err := v.pricedIn(ctx)
	if err != nil {
		return nil, err
	}
	settings, err := v.service.db.Settings(ctx)
	if err != nil {
		return nil, err
	}
	standard := v.routing.currency(v.Release.CatalogID, settings)
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

// CurrencyOf is one of Currencies; NOT_FOUND for another code.
func (v *View) CurrencyOf(ctx context.Context, code string) (*Currency, error) {
	list, err := v.Currencies(ctx)
	if err != nil {
		return nil, err
	}
	for _, c := range list {
		if c.Code == code {
			return c, nil
		}
	}
	return nil, store.NotFoundf(nil, "There is no currency %q here; this catalog has prices in %s.", store.Abbreviate(code), joinCodes(list))
}

func joinCodes(list []*Currency) string {
	codes := make([]string, len(list))
	for i, c := range list {
		codes[i] = c.Code
	}
	return strings.Join(codes, ", ")
}

// pricedIn are the currencies that products have a price or a sale in.
func (v *View) pricedIn(ctx context.Context) (storedTexts, error) {
	key := db.CacheKey{Release: v.Release.identity(), Kind: cachedTexts, Name: listCurrencies}
	if kept, ok := db.Cached[storedTexts](v.Cache, key); ok {
		return kept, nil
	}
	sorts, err := db.Collect(ctx, v.service.db.Reader, db.Scalar[string], `
		SELECT DISTINCT sort FROM release_chunk WHERE release_id IN ($1, $2) AND list = $3 AND sort > $4 AND sort < $5`,
		append(v.Layers(), ListKeys, string(SortOfPrices("")), string(SortOfPrices("~")))...)
	if err != nil {
		return nil, err
	}
	codes, err := db.Collect(ctx, v.service.db.Reader, db.Scalar[string], `SELECT DISTINCT currency FROM release_sale WHERE release_id IN ($1, $2)`, v.Layers()...)
	if err != nil {
		return nil, err
	}
	for _, sort := range sorts {
		codes = append(codes, strings.TrimPrefix(sort, string(SortOfPrices(""))))
	}
	codes = store.Unique(codes)
	slices.Sort(codes)
	v.Cache.Set(key, storedTexts(codes))
	return codes, nil
}

// newCurrency reads how an amount is written off an amount that is.
func (v *View) newCurrency(code string) *Currency {
	c := &Currency{Code: code, DecimalPoint: ".", ThousandSeparator: ",", DecimalPlaces: 2, Format: "{price} " + code}
	digits, known := currency.GetDigits(code)
	amount, err := currency.NewAmount("1234567.89", code)
	if !known || err != nil {
		return c // a code that CLDR does not know is written plainly
	}
	formatter := currency.NewFormatter(currency.NewLocale(v.Locale.String()))
	formatter.MinDigits, formatter.MaxDigits = 2, 2
	written := formatter.Format(amount)
	begin := strings.IndexFunc(written, unicode.IsDigit)
	end := strings.LastIndexFunc(written, unicode.IsDigit)
	if begin < 0 {
		return c
	}
	end += len(string([]rune(written[end:])[0]))
	between := strings.FieldsFunc(written[begin:end], unicode.IsDigit)
	if len(between) < 2 { // the language does not group
		between = []string{"", between[0]}
	}
	c.ThousandSeparator, c.DecimalPoint = between[0], between[len(between)-1]
	c.DecimalPlaces, c.Format = int(digits), written[:begin]+"{price}"+written[end:]
	return c
}
