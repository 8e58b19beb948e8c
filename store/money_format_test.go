package store_test

import (
	"testing"

	"github.com/bojanz/currency"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/language"
	"pgregory.net/rapid"

	"portico/store"
)

// A MoneyFormat writes what CLDR does, in every currency and locale.
func TestMoneyFormat(t *testing.T) {
	t.Parallel()
	codes := append(currency.GetCurrencyCodes(), "XTS", "ZZZ", "A1B")
	rapid.Check(t, func(t *rapid.T) {
		locale := language.Make(rapid.SampledFrom([]string{"en", "de", "de-CH", "de-AT", "fr", "fr-CH", "es", "pl", "pt-PT", "hi", "bn", "en-IN",
			"ar", "ar-EG", "fa", "ur", "mr", "my", "ne", "he", "ja", "zh-Hant", "th", "sv", "lv", "und", "ar-u-nu-latn"}).Draw(t, "locale"))
		code := rapid.SampledFrom(codes).Draw(t, "currency")
		format := store.NewMoneyFormat(code, locale)
		for range 8 {
			digits := rapid.IntRange(0, 18).Draw(t, "digits")
			most := int64(1)
			for range digits {
				most *= 10
			}
			minor := rapid.Int64Range(-most/100, most).Draw(t, "minor")
			require.Equal(t, store.NewMoney(minor, code, locale), format.Money(minor))
		}
	})
}

func TestMoneyFormatAllocations(t *testing.T) {
	format := store.NewMoneyFormat("EUR", language.German)
	format.Money(129900)
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() { format.Money(654321) }), 3.0)
}
